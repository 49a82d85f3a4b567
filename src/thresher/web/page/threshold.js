// The threshold: a slider below a histogram of the scores.

import { byId, element } from "./elements.js";

const BARS = 40;

/** Show the threshold, and the scores of all candidates; bars above it are highlighted. */
export function drawThreshold({ spans, value, usual, count }) {
  byId("threshold").value = value; // rounded to two digits
  byId("threshold-value").value = value.toFixed(2);
  const mentions = count === null ? "" : `, ${count} mentions`;
  byId("threshold").setAttribute("aria-valuetext", value.toFixed(2) + mentions);
  byId("default-threshold").disabled = value === usual;
  const counts = new Array(BARS).fill(0);
  for (const span of spans) counts[Math.min(BARS - 1, Math.floor(span.score * BARS))] += 1;
  const highest = Math.max(1, ...counts);
  byId("histogram").replaceChildren(...counts.map((number, bar) => {
    const node = element("i", { class: (bar + 0.5) / BARS >= value ? "above" : "" });
    node.style.setProperty("--height", Math.sqrt(number / highest));
    return node;
  }));
}
