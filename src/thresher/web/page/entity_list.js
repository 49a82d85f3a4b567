// The list of entities: mentions grouped by name, and the details of the selected mention.

import { button, byId, element } from "./elements.js";

const FIRST_ROWS = 100; // further ones are shown on request
const ARTICLES = /^(the|an?)\s+/;

/** Return the entities of these mentions, the most frequent one first. */
export function groupMentions(spans) {
  const groups = new Map();
  for (const span of spans) {
    const name = nameOf(span.text);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(span);
  }
  return [...groups.values()]
    .map((mentions) => ({
      name: mostFrequent(mentions.map(({ text }) => text.replace(/\s+/g, " "))),
      kind: mostFrequent(mentions.map(({ kind }) => kind ?? null)),
      score: mentions.reduce((sum, { score }) => sum + score, 0) / mentions.length,
      mentions,
    }))
    .sort((one, other) => other.mentions.length - one.mentions.length);
}

/** Return what spellings of a name have in common: no case, accents, article and possessive. */
function nameOf(text) {
  const plain = text.normalize("NFKD").replace(/\p{Diacritic}/gu, "").toLowerCase();
  return plain.replace(/\s+/g, " ").replace(ARTICLES, "").replace(/['’]s$/, "");
}

function mostFrequent(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].reduce((best, each) => (each[1] > best[1] ? each : best))[0];
}

/** The list: Enter on an entity selects its next mention, the arrow keys move between entities. */
export class EntityList {
  #container = byId("entities");
  #entities = [];
  #rows = 0; // that may be shown
  #onSelect;

  constructor(onSelect) {
    this.#onSelect = onSelect;
    this.#container.addEventListener("keydown", (event) => this.#move(event));
    byId("more-entities").addEventListener("click", () => {
      const first = this.#rows;
      this.#rows = Infinity;
      this.draw(this.#entities, {});
      this.#container.children[first]?.firstChild.focus();
    });
  }

  /** Forget that all rows were requested. */
  reset() {
    this.#rows = FIRST_ROWS;
  }

  /** Show entities; colours: of each kind, selected: a mention */
  draw(entities, { colours = this.colours, selected = this.selected }) {
    Object.assign(this, { colours, selected });
    const focused = document.activeElement?.closest("#entities button")?.dataset.name;
    this.#entities = entities;
    const rows = entities.slice(0, this.#rows).map((entity) => this.#row(entity));
    this.#container.replaceChildren(...rows);
    const hidden = entities.length - rows.length;
    byId("more-entities").hidden = hidden === 0;
    byId("more-entities").textContent = `Show ${hidden.toLocaleString("en")} more`;
    const buttons = [...this.#container.querySelectorAll("button")];
    const current = buttons.find((node) => node.dataset.name === focused);
    (current ?? buttons[0])?.setAttribute("tabindex", 0);
    current?.focus({ preventScroll: true });
  }

  #row(entity) {
    const { name, kind, mentions } = entity;
    const row = button("", { tabindex: -1, "data-name": name }, () => {
      const number = mentions.indexOf(this.selected);
      this.#onSelect(mentions[(number + 1) % mentions.length]);
    });
    row.append(
      element("span", { class: "name", dir: "auto" }, name),
      element("span", { class: "kind" }, kind ?? ""),
      element("span", { class: "count" }, String(mentions.length)),
      element("span", { class: "unseen" }, mentions.length === 1 ? " mention" : " mentions"),
    );
    if (mentions.includes(this.selected)) row.setAttribute("aria-current", "true");
    if (kind) row.style.setProperty("--highlight", this.colours.get(kind));
    return element("li", {}, row);
  }

  #move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = event.target.closest("li");
    if (!step || !row) return;
    event.preventDefault();
    const next = step > 0 ? row.nextElementSibling : row.previousElementSibling;
    if (!next) return;
    row.firstChild.setAttribute("tabindex", -1);
    next.firstChild.setAttribute("tabindex", 0);
    next.firstChild.focus();
  }
}

/** Show the details of a mention of an entity; without one, hide them. */
export function drawDetails({ entity, span, onSelect, onClose }) {
  const panel = byId("details");
  panel.hidden = !span;
  if (!span) return;
  const { mentions } = entity;
  const number = mentions.indexOf(span);
  const kind = span.kind ? [`${span.kind} ${span.kind_score?.toFixed(2) ?? ""}`] : [];
  const score = `score ${span.score.toFixed(2)}`;
  const facts = [...kind, score, `characters ${span.start}–${span.end}`].join(" · ");
  const go = (step) => () => onSelect(mentions.at((number + step) % mentions.length));
  panel.style.setProperty("--highlight", span.colour ?? "");
  panel.replaceChildren(
    element("h3", { dir: "auto" }, span.text),
    button("✕", { class: "close", "aria-label": "Close" }, onClose),
    element("p", {}, facts),
  );
  if (mentions.length > 1) {
    panel.append(element("div", { class: "mentions" },
      button("‹", { "aria-label": "Previous mention" }, go(-1)),
      element("span", {}, `mention ${number + 1} of ${mentions.length}`),
      button("›", { "aria-label": "Next mention" }, go(1))));
  }
}
