// The page: requests all candidates of the text once, and applies threshold and kinds locally.

import { readState, writeState } from "./address.js";
import { editedPart, movedSpans, replaceText } from "./edits.js";
import { byId, element } from "./elements.js";
import { EntityList, drawDetails, groupMentions } from "./entity_list.js";
import { Finding } from "./finding.js";
import { Highlights } from "./highlights.js";
import { coloursOf, drawKinds, parseKinds } from "./kinds.js";
import { hasToken, post, send, setToken } from "./requests.js";
import { copyText, saveFile, toCsv } from "./tables.js";
import { drawThreshold } from "./threshold.js";

const TYPING_PAUSE = 300; // milliseconds without input before a request is sent
const ADDRESS_PAUSE = 300; // browsers limit how often the address may change
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/; // scripts such as Arabic

const [text, model, selector, status, names, allWords] = [
  "text", "model", "selector", "status", "example-names", "all-words",
].map(byId);

// spans, words: of the latest answer, moved along with edits
// isCurrent: whether they are those of the text and the settings as they are now
// kinds: of the latest answer; hidden: kinds that are not shown, null for entities without one
const state = {
  text: "", spans: [], words: [], kinds: [], isCurrent: false, selected: null,
  models: [], maxBytes: Infinity, threshold: 0.5, hidden: new Set(),
};
const highlights = new Highlights(byId("highlights"), byId("pane"));
const list = new EntityList((span) => select(span, { scroll: true }));
const finding = new Finding({ onFound: show, onProblem, onCancelled });

// ---- requests ----

const selectedModel = () => ({ model: model.value, selector: Number(selector.value) });

/** Return the example names as a part of a request; nothing if there are none. */
function requestedKinds() {
  const { kinds, problem } = parseKinds(names.value);
  byId("example-problem").textContent = problem;
  return kinds && { kinds };
}

/** Mark the shown result as outdated and request a new one after a pause in milliseconds. */
function findAgain(pause = 0) {
  invalidate();
  draw();
  saveState();
  if (!state.models.length) return; // `start` calls this again when the models are known
  if (!text.value.trim()) {
    show({ results: [{ spans: [], sentences: [] }] });
    return;
  }
  finding.start(() => ({
    text: text.value, ...selectedModel(), ...requestedKinds(), threshold: 0, words: true,
    offsets: "utf-16",
  }), pause);
}

/** Cancel the request and hide everything that was counted in an earlier text. */
function invalidate() {
  finding.stop();
  state.isCurrent = false;
  status.textContent = "";
  byId("entities-panel").setAttribute("aria-busy", "true");
  byId("find").hidden = true;
}

function show({ results: [{ spans, sentences }], kinds = [] }) {
  showProblem("");
  const colours = coloursOf(kinds);
  for (const span of spans) span.colour = colours.get(span.kind);
  const words = sentences.flatMap((sentence) => sentence.words);
  for (const word of words) word.isWord = true;
  Object.assign(state, { spans, words, kinds, isCurrent: true, selected: null });
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

async function download(format) {
  const only = [...state.kinds, null].filter((kind) => !state.hidden.has(kind));
  const body = { text: text.value, ...selectedModel(), ...requestedKinds(),
                 ...(state.hidden.size && { only }), threshold: state.threshold, format };
  try {
    const response = await post("download", body);
    const name = /filename="(.+)"/.exec(response.headers.get("Content-Disposition"))[1];
    saveFile(await response.blob(), name);
  } catch (error) {
    showProblem(`The download failed: ${error.message}`);
  }
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
  byId("entities-panel").setAttribute("aria-busy", !isCurrent);
  byId("empty").hidden = Boolean(text.value);
  highlights.setMarks({
    entities: shown, words: allWords.checked ? state.words : [], selected: state.selected,
  });
  drawThreshold({ spans, value: threshold, usual: defaultThreshold(), count: isCurrent ? shown.length : null });
  drawKinds(byId("kinds"), { kinds, spans: spans.filter(isAboveThreshold), hidden, onToggle: toggleKind });
  list.draw(entities, { colours: coloursOf(kinds), selected: state.selected });
  drawDetails({
    span: state.selected, colour: state.selected?.colour, onSelect: (span) => select(span, { scroll: true }),
    entity: entities.find(({ mentions }) => mentions.includes(state.selected)),
    onClose: () => { select(null); text.focus({ preventScroll: true }); },
  });
  const canExport = isCurrent && entities.length > 0;
  for (const node of byId("exports").querySelectorAll("button")) node.disabled = !canExport;
  const hasText = Boolean(text.value.trim());
  byId("no-entities").textContent = entities.length || (hasText && !isCurrent) ? ""
    : hasText ? "No entity has a score above the threshold." : "Entities appear here.";
  if (isCurrent) status.textContent = hasText ? summary(entities.length, shown.length) : "";
}

function drawText() {
  byId("layers").classList.toggle("right-to-left", RIGHT_TO_LEFT.test(text.value));
  highlights.setText(text.value);
}

function summary(entities, mentions) {
  const number = (count, name) => `${count.toLocaleString("en")} ${name}`;
  return entities === 1
    ? `1 entity, ${number(mentions, mentions === 1 ? "mention" : "mentions")}`
    : `${number(entities, "entities")}, ${number(mentions, "mentions")}`;
}

function toggleKind(kind) {
  if (!state.hidden.delete(kind)) state.hidden.add(kind);
  draw();
  saveState();
}

/** Show the details of a mention; null hides them. */
function select(span, { scroll = false } = {}) {
  if (span === state.selected) return;
  state.selected = span;
  draw();
  if (span && scroll) highlights.showSelected();
}

// ---- input ----

/** Return the state for the address. Choices that are the default ones are left out. */
function savedState() {
  const usual = state.threshold === defaultThreshold();
  return {
    text: text.value, allWords: allWords.checked, names: names.value, hidden: state.hidden,
    model: model.value === state.models[0]?.name ? null : model.value,
    selector: Number(selector.value) === modelInfo()?.selector ? null : selector.value,
    threshold: usual ? null : state.threshold,
  };
}

let saving = null;
function saveState() {
  clearTimeout(saving);
  saving = setTimeout(() => state.models.length && writeState(savedState()), ADDRESS_PAUSE);
}

const modelInfo = () => state.models.find(({ name }) => name === model.value);
const defaultThreshold = () => modelInfo()?.thresholds[selector.value - 1] ?? 0.5;

/** Fill a menu; a menu with a single choice is hidden. */
function fillMenu(menu, choices, chosen) {
  menu.replaceChildren(...choices.map((each) => element("option", { value: each }, String(each))));
  menu.value = choices.includes(chosen) ? chosen : choices[0];
  menu.parentElement.hidden = choices.length < 2;
}

function fillSelectorMenu(chosen) {
  const numbers = modelInfo().thresholds.map((_, number) => number + 1);
  fillMenu(selector, numbers, chosen ?? modelInfo().selector);
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

/** Check a file before it is shown: browsers freeze when they display a very long line. */
async function openFile(file) {
  if (file.size > state.maxBytes) {
    const limit = state.maxBytes.toLocaleString("en");
    return showProblem(`${file.name} is larger than ${limit} bytes, this server's limit.`);
  }
  const content = await file.text();
  if (content.includes("\0")) return showProblem(`${file.name} is not a text file in UTF-8.`);
  return replaceText(text, content.replace(/\r\n?/g, "\n"));
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
  invalidate();
  // Once per frame: some programs insert a long text line by line.
  nextFrame ??= requestAnimationFrame(() => { nextFrame = null; textChanged(); });
});
document.addEventListener("selectionchange", selectAtCursor);
text.addEventListener("selectionchange", selectAtCursor);
names.addEventListener("input", () => { state.hidden.clear(); findAgain(TYPING_PAUSE); });
byId("threshold").addEventListener("input", ({ target }) => setThreshold(target.valueAsNumber));
byId("default-threshold").addEventListener("click", () => setThreshold(defaultThreshold()));
allWords.addEventListener("change", () => { draw(); saveState(); });
model.addEventListener("change", () => {
  fillSelectorMenu();
  setThreshold(defaultThreshold());
  findAgain();
});
selector.addEventListener("change", () => { setThreshold(defaultThreshold()); findAgain(); });
byId("find").addEventListener("click", () => findAgain());
byId("clear").addEventListener("click", () => { replaceText(text, ""); text.focus(); });
byId("example").addEventListener("click", () => {
  replaceText(text, byId("example-text").content.textContent);
});
byId("open").addEventListener("click", () => byId("file").click());
byId("file").addEventListener("change", async ({ target }) => {
  if (target.files[0]) await openFile(target.files[0]);
  target.value = "";
});
byId("formats").addEventListener("click", ({ target }) => {
  if (target.dataset.format) download(target.dataset.format);
});
byId("csv").addEventListener("click", () => {
  saveFile(new Blob([toCsv(shownEntities())], { type: "text/csv" }), "entities.csv");
});
byId("copy").addEventListener("click", async () => {
  await copyText(toCsv(shownEntities()));
  byId("copied").textContent = "Copied";
  setTimeout(() => { byId("copied").textContent = ""; }, 2000);
});
byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  setToken(byId("token").value.trim());
  byId("token").value = "";
  start(readState());
});
window.addEventListener("hashchange", () => {
  restore(readState());
  if (state.models.length) restoreModel(readState());
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && state.selected) select(null);
});

for (const name of ["dragover", "drop", "dragleave"]) {
  document.addEventListener(name, (event) => {
    const isFile = event.dataTransfer.types.includes("Files");
    if (isFile) event.preventDefault(); // text is dropped into the field by the browser
    document.body.classList.toggle("dropping", isFile && name === "dragover");
  });
}
document.addEventListener("drop", ({ dataTransfer: { files: [file] } }) => file && openFile(file));

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

function restoreModel(saved) {
  fillMenu(model, state.models.map(({ name }) => name), saved.model);
  fillSelectorMenu(saved.selector);
  state.threshold = saved.threshold ?? defaultThreshold();
  findAgain();
}

/** Request the models of the server; until they are known, the text can be edited already. */
async function start(saved) {
  try {
    const response = await send("models");
    if (response.status === 401) return showProblem(hasToken() ? "This access token is wrong." : "");
    const { models, most_bytes: maxBytes } = await response.json();
    Object.assign(state, { models, maxBytes });
  } catch {
    return showProblem("The server does not respond.");
  }
  showProblem("");
  return restoreModel(saved);
}

const saved = readState();
restore(saved);
draw();
start(saved);
