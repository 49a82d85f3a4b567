// Kinds of entities: their colours, the legend, and the field for example names.

import { element } from "./view.js";

// In the order of `thresher.text.kind_colours`, but strong: the page shades them by score.
const COLOURS = [
  "47 128 237", "46 160 67", "163 73 214", "232 90 60", "0 160 165", "226 62 138", "140 140 20",
  "96 92 220", "160 105 50", "120 126 140",
];
const COMMON_KINDS = ["person", "place", "organisation", "group", "product", "work", "event"];
const MAX_KINDS = 30;
const MAX_NAME = 100; // characters

/** Return the colour of each kind; common kinds always have the same one. */
export function coloursOf(kinds) {
  const common = kinds.filter((kind) => COMMON_KINDS.includes(kind));
  const taken = common.map((kind) => COMMON_KINDS.indexOf(kind));
  const order = [7, 8, 0, 1, 2, 3, 4, 5, 6, 9].filter((number) => !taken.includes(number));
  let next = 0;
  return new Map(kinds.map((kind) => {
    const number = common.includes(kind) ? COMMON_KINDS.indexOf(kind) : order[next++ % order.length];
    return [kind, COLOURS[number]];
  }));
}

/** Return a button for each kind that occurs, with a number; pressed if the kind is shown. */
export function kindButtons(kinds, spans, hidden, onToggle) {
  const colours = coloursOf(kinds);
  const rows = [...kinds, null].map((kind) => ({
    kind, count: spans.filter((span) => (span.kind ?? null) === kind).length,
  }));
  return rows.filter(({ count }) => count).map(({ kind, count }, number) => {
    const attributes = { type: "button", "aria-pressed": !hidden.has(kind), "data-number": number };
    const button = element("button", attributes, `${kind ?? "other"} ${count}`);
    if (kind) button.style.setProperty("--highlight", colours.get(kind));
    button.addEventListener("click", () => onToggle(kind));
    return button;
  });
}

/**
 * Parse lines such as "person: Marie Curie, Obama".
 * Return the kinds (null if there are none) and what is wrong with the lines that were left out.
 */
export function parseKinds(lines) {
  const kinds = {};
  let problem = "";
  lines.split("\n").forEach((line, number) => {
    const [kind, names] = splitLine(line);
    if (!line.trim()) return;
    if (!kind || !names.length) {
      problem ||= `Line ${number + 1} is not of the form “person: Marie Curie, Obama”.`;
    } else if (kind in kinds) {
      problem ||= `The kind “${kind}” is on two lines.`;
    } else if ([kind, ...names].some((name) => name.length > MAX_NAME)) {
      problem ||= `Line ${number + 1} has a name of more than ${MAX_NAME} characters.`;
    } else {
      kinds[kind] = names;
    }
  });
  const count = Object.keys(kinds).length;
  if (count > MAX_KINDS) return { kinds: null, problem: `At most ${MAX_KINDS} kinds are possible.` };
  return { kinds: count ? kinds : null, problem };
}

function splitLine(line) {
  const colon = line.indexOf(":");
  const names = line.slice(colon + 1).split(",").map((name) => name.trim()).filter(Boolean);
  return colon < 0 ? ["", []] : [line.slice(0, colon).trim(), [...new Set(names)]];
}
