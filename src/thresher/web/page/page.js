// The page: requests all candidates of the text once, and applies threshold and kinds locally.

import { readState, writeState } from "./address.js";
import { editedPart, movedSpans, replaceText } from "./edits.js";
import { byId } from "./elements.js";
import { EntityList, drawDetails, groupMentions } from "./entity_list.js";
import { connectExports } from "./exports.js";
import { connectFiles } from "./files.js";
import { Finding } from "./finding.js";
import { Highlights } from "./highlights.js";
import { coloursOf, drawKinds, parseKinds } from "./kinds.js";
import { ModelMenus } from "./model_menus.js";
import { hasToken, send, setToken } from "./requests.js";
import { drawThreshold } from "./threshold.js";

const TYPING_PAUSE = 300; // milliseconds without input before a request is sent
const ADDRESS_PAUSE = 300; // browsers limit how often the address may change
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/; // scripts such as Arabic

const [text, status, names, allWords] = ["text", "status", "example-names", "all-words"].map(byId);

// spans, words: of the latest answer, moved along with edits
// isCurrent: whether they are those of the text and the settings as they are now
// note: why the model cannot read the text; empty if it can
// kinds: of the latest answer; hidden: kinds that are not shown, null for entities without one
const state = {
  text: "", spans: [], words: [], note: "", kinds: [], isCurrent: false, selected: null,
  maxBytes: Infinity, threshold: 0.5, hidden: new Set(),
};
const highlights = new Highlights(byId("highlights"), byId("pane"));
const list = new EntityList((span) => select(span, { scroll: true }));
const finding = new Finding({ onFound: show, onProblem, onCancelled });
const menus = new ModelMenus(() => { state.threshold = menus.threshold; findAgain(); });

// ---- requests ----

/** Return the example names as a part of a request; nothing if there are none. */
function requestedKinds() {
  const { kinds, problem } = parseKinds(names.value);
  byId("example-problem").textContent = problem;
  return kinds && { kinds };
}

const request = () => ({ text: text.value, ...menus.chosen, ...requestedKinds() });

/** Return a request for what is shown: with the threshold and the kinds. */
function requestForShown() {
  const only = [...state.kinds, null].filter((kind) => !state.hidden.has(kind));
  return { ...request(), ...(state.hidden.size && { only }), threshold: state.threshold };
}

/** Mark the shown result as outdated and request a new one after a pause in milliseconds. */
function findAgain(pause = 0) {
  invalidate();
  draw();
  saveState();
  if (!menus.models.length) return; // `start` calls this again when the models are known
  if (text.value.trim()) {
    const options = { threshold: 0, words: true, offsets: "utf-16" };
    finding.start(() => ({ ...request(), ...options }), pause);
  } else {
    show({ results: [{ spans: [], sentences: [] }] });
  }
}

/** Cancel the request and hide everything that was counted in an earlier text. */
function invalidate() {
  finding.stop();
  state.isCurrent = false;
  status.textContent = "";
  byId("entities-panel").setAttribute("aria-busy", "true");
  byId("find").hidden = true;
}

function show({ results: [{ spans, sentences, note = "" }], kinds = [] }) {
  showProblem("");
  const colours = coloursOf(kinds);
  for (const span of spans) span.colour = colours.get(span.kind);
  const words = sentences.flatMap((sentence) => sentence.words);
  for (const word of words) word.isWord = true;
  Object.assign(state, { spans, words, note, kinds, isCurrent: true, selected: null });
  list.reset();
  draw();
}

function onProblem(message) {
  showProblem(`The request failed: ${message}`);
  byId("find").hidden = false;
}

function onCancelled() {
  status.textContent = "Cancelled";
  byId("find").hidden = false;
  byId("find").focus();
}

/** Show an error message; an empty one hides it. */
function showProblem(message) {
  byId("problem").textContent = message;
  byId("problem").hidden = !message;
}

// ---- display ----

const isAboveThreshold = (span) => span.score >= state.threshold;
const isShown = (span) => isAboveThreshold(span) && !state.hidden.has(span.kind ?? null);
const shownEntities = () => groupMentions(state.spans.filter(isShown));

/** Show the state. The counts of an outdated result are hidden by `aria-busy`. */
function draw() {
  const { spans, threshold, kinds, hidden, isCurrent } = state;
  const shown = spans.filter(isShown);
  const entities = groupMentions(shown);
  if (!isCurrent || !shown.includes(state.selected)) state.selected = null;
  const { selected } = state;
  byId("entities-panel").setAttribute("aria-busy", !isCurrent);
  byId("empty").hidden = Boolean(text.value);
  highlights.setMarks({ entities: shown, words: allWords.checked ? state.words : [], selected });
  const count = isCurrent ? shown.length : null;
  drawThreshold({ spans, value: threshold, usual: menus.threshold, count });
  const above = spans.filter(isAboveThreshold);
  drawKinds(byId("kinds"), { kinds, spans: above, hidden, onToggle: toggleKind });
  list.draw(entities, { colours: coloursOf(kinds), selected });
  drawDetails({
    span: selected,
    entity: entities.find(({ mentions }) => mentions.includes(selected)),
    onSelect: (span) => select(span, { scroll: true }),
    onClose: () => { select(null); text.focus({ preventScroll: true }); },
  });
  for (const node of byId("exports").querySelectorAll("button")) {
    node.disabled = !isCurrent || !entities.length;
  }
  drawStatus(entities.length, shown.length);
}

/** Show the numbers of entities and mentions, why there are none, and a note on the text. */
function drawStatus(entities, mentions) {
  const hasText = Boolean(text.value.trim());
  const reason = hasText ? "No entity has a score above the threshold." : "Entities appear here.";
  const isOutdated = hasText && !state.isCurrent;
  const note = state.note && `${state.note[0].toUpperCase()}${state.note.slice(1)}.`;
  byId("no-entities").textContent = isOutdated ? "" : note || (entities ? "" : reason);
  if (!state.isCurrent) return;
  const number = (count, one, many) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
  const counts = [number(entities, "entity", "entities"), number(mentions, "mention", "mentions")];
  status.textContent = hasText ? counts.join(", ") : "";
}

function drawText() {
  byId("layers").classList.toggle("right-to-left", RIGHT_TO_LEFT.test(text.value));
  highlights.setText(text.value);
}

/** Show the details of a mention; null hides them. */
function select(span, { scroll = false } = {}) {
  if (span === state.selected) return;
  state.selected = span;
  draw();
  if (span && scroll) highlights.showSelected();
}

// ---- input ----

let saving = null;
/** Write the state into the address soon; what is the default is left out. */
function saveState() {
  clearTimeout(saving);
  saving = setTimeout(() => menus.models.length && writeState({
    text: text.value, allWords: allWords.checked, names: names.value, hidden: state.hidden,
    ...menus.unusual, threshold: state.threshold === menus.threshold ? null : state.threshold,
  }), ADDRESS_PAUSE);
}

function toggleKind(kind) {
  if (!state.hidden.delete(kind)) state.hidden.add(kind);
  draw();
  saveState();
}

/** Set the threshold; the slider rounds it to two digits, the state does not. */
function setThreshold(value) {
  state.threshold = value;
  draw();
  saveState();
}

function textChanged() {
  const edit = editedPart(state.text, text.value);
  const isNew = !state.text;
  state.text = text.value;
  state.spans = movedSpans(state.spans, edit);
  state.words = movedSpans(state.words, edit);
  drawText();
  findAgain(isNew ? 0 : TYPING_PAUSE);
}

/** Select the entity at the cursor of the text field. */
function selectAtCursor() {
  if (document.activeElement !== text || !state.isCurrent) return;
  const { selectionStart: start, selectionEnd: end } = text;
  const isInside = (span) => span.start <= start && end <= span.end && isShown(span);
  select(start === end ? state.spans.find(isInside) ?? null : state.selected);
}

let nextFrame = null;
text.addEventListener("input", () => {
  if (nextFrame !== null) return; // some programs insert a long text line by line
  invalidate();
  nextFrame = requestAnimationFrame(() => { nextFrame = null; textChanged(); });
});
document.addEventListener("selectionchange", selectAtCursor);
text.addEventListener("selectionchange", selectAtCursor); // some browsers send it only here
names.addEventListener("input", () => { state.hidden.clear(); findAgain(TYPING_PAUSE); });
byId("threshold").addEventListener("input", ({ target }) => setThreshold(target.valueAsNumber));
byId("default-threshold").addEventListener("click", () => setThreshold(menus.threshold));
allWords.addEventListener("change", () => { draw(); saveState(); });
byId("find").addEventListener("click", () => findAgain());
byId("clear").addEventListener("click", () => { replaceText(text, ""); text.focus(); });
byId("example").addEventListener("click", () => {
  replaceText(text, byId("example-text").content.textContent);
});
byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  setToken(byId("token").value.trim());
  byId("token").value = "";
  start(readState());
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && state.selected) select(null);
});
connectFiles({
  onText: (content) => replaceText(text, content), onProblem: showProblem,
  maxBytes: () => state.maxBytes,
});
connectExports({ entities: shownEntities, request: requestForShown, onProblem: showProblem });

// ---- start ----

/** Set the controls to a saved state, all but the model. */
function restore(saved) {
  text.value = state.text = saved.text;
  drawText();
  allWords.checked = saved.allWords;
  names.value = saved.names;
  byId("examples").open ||= Boolean(saved.names);
  Object.assign(state, { spans: [], words: [], hidden: new Set(saved.hidden) });
}

function restoreModel(saved, models = menus.models) {
  menus.fill(models, saved);
  state.threshold = saved.threshold ?? menus.threshold;
  findAgain();
}

/** Request the models of the server; until they are known, the text can be edited already. */
async function start(saved) {
  try {
    const response = await send("models");
    if (response.status === 401) {
      return showProblem(hasToken() ? "This access token is wrong." : "");
    }
    const { models, most_bytes: maxBytes } = await response.json();
    state.maxBytes = maxBytes;
    showProblem("");
    return restoreModel(saved, models);
  } catch {
    return showProblem("The server does not respond.");
  }
}

window.addEventListener("hashchange", () => {
  restore(readState());
  if (menus.models.length) restoreModel(readState());
});
const saved = readState();
restore(saved);
draw();
start(saved);
