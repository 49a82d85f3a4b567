// Kinds of entities: their colours, the buttons that show or hide them, and example names.

import { button } from "./elements.js";

// In the order of `thresher.text.kind_colours`, but strong: the page shades them by score.
const COLOURS = [
  "47 128 237", "46 160 67", "163 73 214", "232 90 60", "0 160 165", "226 62 138", "140 140 20",
  "96 92 220", "160 105 50", "120 126 140",
];
const COMMON_KINDS = ["person", "place", "organisation", "group", "product", "work", "event"];
const MAX_KINDS = 30;
const MAX_NAME = 100; // characters
const MAX_EXAMPLES = 100; // names of a kind
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const RESERVED = /^(?:[nN][oO][nN][eE]|ENT)$/; // which mean without a kind

/** Return the colour of each kind; common kinds always have the same one. */
export function coloursOf(kinds) {
  const common = kinds.filter((kind) => COMMON_KINDS.includes(kind));
  const taken = common.map((kind) => COMMON_KINDS.indexOf(kind));
  const order = [7, 8, 0, 1, 2, 3, 4, 5, 6, 9].filter((number) => !taken.includes(number));
  let next = 0;
  return new Map(kinds.map((kind) => {
    const isCommon = common.includes(kind);
    return [kind, COLOURS[isCommon ? COMMON_KINDS.indexOf(kind) : order[next++ % order.length]]];
  }));
}

/** Show a button for each kind that occurs, with its number of mentions; pressed if it is shown. */
export function drawKinds(container, { kinds, spans, hidden, onToggle }) {
  const colours = coloursOf(kinds);
  const focused = document.activeElement?.dataset?.kind; // the buttons are replaced
  const buttons = [...kinds, null].flatMap((kind) => {
    const count = spans.filter((span) => (span.kind ?? null) === kind).length;
    if (!count) return [];
    const attributes = { "aria-pressed": !hidden.has(kind), "data-kind": kind ?? "" };
    const node = button(`${kind ?? "other"} ${count}`, attributes, () => onToggle(kind));
    if (kind) node.style.setProperty("--highlight", colours.get(kind));
    return [node];
  });
  container.replaceChildren(...buttons);
  container.hidden = !kinds.length || !buttons.length;
  if (focused !== undefined) buttons.find((node) => node.dataset.kind === focused)?.focus();
}

/**
 * Parse lines such as "person: Marie Curie, Obama".
 * Return the kinds (null if there are none) and what is wrong with the lines that were left out.
 */
export function parseKinds(lines) {
  const kinds = new Map();
  let problem = "";
  lines.split("\n").forEach((line, number) => {
    if (!line.trim()) return;
    const [kind, names] = splitLine(line);
    const wrong = problemOfLine(kind, names, kinds, number + 1);
    problem ||= wrong;
    if (!wrong) kinds.set(kind, names);
  });
  if (kinds.size > MAX_KINDS) {
    return { kinds: null, problem: `At most ${MAX_KINDS} kinds are possible.` };
  }
  return { kinds: kinds.size ? Object.fromEntries(kinds) : null, problem };
}

/** Return what is wrong with a line, or "": what the server would refuse. */
function problemOfLine(kind, names, kinds, number) {
  if (!kind || !names.length || names.some((name) => !LETTER_OR_DIGIT.test(name))) {
    return `Line ${number} is not of the form “person: Marie Curie, Obama”.`;
  }
  if (/\s/.test(kind)) {
    return `The kind “${kind}” must be one word, such as ${kind.replace(/\s+/g, "-")}.`;
  }
  if (kind.includes(",")) return `The kind “${kind}” must have no comma.`;
  if (RESERVED.test(kind)) return `A kind cannot have the name ${kind}.`;
  if (kinds.has(kind)) return `The kind “${kind}” is on two lines.`;
  if ([kind, ...names].some((name) => name.length > MAX_NAME)) {
    return `Line ${number} has a name of more than ${MAX_NAME} characters.`;
  }
  if (names.length > MAX_EXAMPLES) return `Line ${number} has more than ${MAX_EXAMPLES} names.`;
  for (const [other, taken] of kinds) {
    const folded = new Set(taken.map(fold));
    const twice = names.find((name) => folded.has(fold(name)));
    if (twice) return `“${twice}” is listed under two kinds, ${other} and ${kind}.`;
  }
  return "";
}

const fold = (name) => name.toLowerCase().replace(/\s+/g, " ");

function splitLine(line) {
  const colon = line.indexOf(":");
  const names = line.slice(colon + 1).split(",").map((name) => name.trim()).filter(Boolean);
  return colon < 0 ? ["", []] : [line.slice(0, colon).trim(), [...new Set(names)]];
}
