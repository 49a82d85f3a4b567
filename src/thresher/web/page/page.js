// The page: requests all candidates from the server once and applies the threshold locally.

import { coloursOf, kindButtons, parseKinds } from "./kinds.js";
import { details, drawHistogram, element, highlightedText, setEntity } from "./view.js";

const byId = (id) => document.getElementById(id);
const [text, model, selector, result, status, problem, detailsPanel, threshold, allWords] = [
  "text", "model", "selector", "result", "status", "problem", "details", "threshold", "all-words",
].map(byId);
const exampleNames = byId("example-names");

const TYPING_PAUSE = 350; // milliseconds without input before a request is sent
// text, found: the text of the shown result and the server's response for it
// nodes: the element of each candidate; selected: the span whose details are shown
// kinds: those of the shown result; hidden: the kinds that are not shown, null for "other"
const state = {
  text: "", found: null, nodes: [], models: [], selected: null, threshold: 0.5,
  kinds: [], hidden: new Set(),
};
let timer = null; // of the next request
let pendingRequest = null; // an AbortController

// ---- requests ----

const TOKEN = "thresher-token"; // its key in the session storage, which ends with the tab

/** Send a request with the access token; ask for the token if it is missing or wrong. */
async function send(path, options = {}) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = { ...options.headers, ...(token && { Authorization: `Bearer ${token}` }) };
  const response = await fetch(path, { ...options, headers });
  byId("token-form").hidden = response.status !== 401;
  byId("api").hidden = Boolean(token); // a link cannot send it
  if (response.status === 401) byId("token").focus();
  return response;
}

async function post(path, body, signal) {
  const response = await send(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  if (response.ok) return response;
  if (response.status === 503) {
    status.textContent = "The server is busy; trying again…";
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return post(path, body, signal);
  }
  const { detail } = await response.json().catch(() => ({ detail: response.statusText }));
  throw new Error(detail);
}

async function find() {
  if (!state.models.length) return; // `start` calls this again when the models are known
  pendingRequest?.abort();
  pendingRequest = new AbortController();
  const { signal } = pendingRequest;
  const value = text.value;
  if (!value.trim()) return finish("", null);
  result.setAttribute("aria-busy", "true");
  const body = { text: value, ...selectedModel(), ...requestedKinds(), threshold: 0, words: true,
                 offsets: "utf-16" };
  try {
    const { results, kinds } = await (await post("find", body, signal)).json();
    finish(value, results[0], kinds);
  } catch (error) {
    if (signal.aborted) return; // a later request has replaced this one
    showProblem(`The request failed: ${error.message}`);
    result.setAttribute("aria-busy", "false");
  }
}

/** Show the result of the last request. */
function finish(value, found, kinds = []) {
  showProblem("");
  state.kinds = kinds;
  show(value, found);
  result.setAttribute("aria-busy", "false");
}

const selectedModel = () => ({ model: model.value, selector: Number(selector.value) });

/** Return the example names as a part of a request; nothing if there are none. */
function requestedKinds() {
  const { kinds, problem: message } = parseKinds(exampleNames.value);
  byId("example-problem").textContent = message;
  return kinds && { kinds };
}

/** Return the kinds that are shown as a part of a request; nothing if all are. */
function shownKinds() {
  if (!state.hidden.size) return {};
  return { only: [...state.kinds, null].filter((kind) => !state.hidden.has(kind)) };
}

async function download(format) {
  const body = { text: state.text, ...selectedModel(), ...requestedKinds(), ...shownKinds(),
                 threshold: state.threshold, format };
  try {
    const response = await post("download", body);
    const name = /filename="(.+)"/.exec(response.headers.get("Content-Disposition"))[1];
    const url = URL.createObjectURL(await response.blob());
    element("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    applyThreshold();
  } catch (error) {
    showProblem(`The download failed: ${error.message}`);
  }
}

/** Show an error message; an empty one hides it. */
function showProblem(message) {
  problem.textContent = message;
  problem.hidden = !message;
}

// ---- display ----

function show(value, found) {
  Object.assign(state, { text: value, found });
  select(null);
  result.replaceChildren(found ? highlightedText(value, found, allWords.checked) : "");
  result.classList.toggle("all-words", allWords.checked);
  state.nodes = [...result.querySelectorAll(".candidate")];
  const colours = coloursOf(state.kinds);
  (found?.spans ?? []).forEach((span, number) => {
    if (span.kind) state.nodes[number].style.setProperty("--highlight", colours.get(span.kind));
  });
  for (const button of document.querySelectorAll("#downloads button")) button.disabled = !found;
  applyThreshold();
}

const isAboveThreshold = (span) => span.score >= state.threshold;
const isEntity = (span) => isAboveThreshold(span) && !state.hidden.has(span.kind ?? null);
const entities = () => (state.found?.spans ?? []).filter(isEntity);

/** Mark the candidates that reach the threshold as entities, without a request. */
function applyThreshold() {
  const spans = state.found?.spans ?? [];
  spans.forEach((span, number) => setEntity(state.nodes[number], span, isEntity(span)));
  drawHistogram(byId("histogram"), spans, state.threshold);
  drawKinds(spans.filter(isAboveThreshold));
  const count = entities().length;
  byId("threshold-value").value = state.threshold.toFixed(2);
  threshold.setAttribute("aria-valuetext", `${state.threshold.toFixed(2)}, ${count} entities`);
  status.textContent = state.found ? `${count} of ${spans.length} candidates` : "";
  byId("default-threshold").disabled = state.threshold === defaultThreshold();
  if (state.selected && !isEntity(state.selected)) select(null);
  if (!result.querySelector("[tabindex]")) {
    result.querySelector(".entity")?.setAttribute("tabindex", 0);
  }
}

/** Show a button for each kind with the number of its entities; it hides or shows them. */
function drawKinds(spans) {
  const container = byId("kinds");
  container.hidden = !state.kinds.length || !spans.length;
  const focused = document.activeElement?.dataset?.number; // the buttons are replaced
  container.replaceChildren(...kindButtons(state.kinds, spans, state.hidden, (kind) => {
    if (!state.hidden.delete(kind)) state.hidden.add(kind);
    applyThreshold();
  }));
  if (focused) container.querySelector(`[data-number="${focused}"]`)?.focus();
}

/** Show the details of an entity; null hides them. */
function select(span) {
  state.selected = span;
  result.querySelector(".selected")?.classList.remove("selected");
  detailsPanel.hidden = !span;
  if (!span) return;
  const node = state.nodes[state.found.spans.indexOf(span)];
  node.classList.add("selected");
  focusOn(node);
  const close = () => { select(null); node.focus(); };
  detailsPanel.replaceChildren(
    ...details(state.text, state.found, span, entities(), select, close));
  node.scrollIntoView({ block: "nearest" }); // the details panel may cover it
}

/** Focus an entity and make it the only one that Tab reaches. */
function focusOn(node) {
  result.querySelector("[tabindex]")?.removeAttribute("tabindex");
  node.setAttribute("tabindex", 0);
  node.focus();
}

// ---- input ----

function findAfterPause() {
  clearTimeout(timer);
  timer = setTimeout(find, TYPING_PAUSE);
  saveSession();
}

function setText(value) {
  text.value = value;
  clearTimeout(timer);
  saveSession();
  return find();
}

/** Save the inputs, so that they survive a reload. A threshold of null is the model's default. */
function saveSession() {
  const isDefault = state.threshold === defaultThreshold();
  const saved = { text: text.value, ...selectedModel(), allWords: allWords.checked,
                  examples: exampleNames.value,
                  threshold: isDefault ? null : state.threshold };
  try { sessionStorage.setItem("thresher", JSON.stringify(saved)); } catch { /* too long */ }
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
  threshold.value = value;
  applyThreshold();
  saveSession();
}

/** Check a file before it is shown: browsers freeze when they display a very long line. */
async function openFile(file) {
  if (file.size > state.maxBytes) {
    const limit = state.maxBytes.toLocaleString("en");
    return showProblem(`${file.name} is larger than ${limit} bytes, this server's limit.`);
  }
  const content = await file.text();
  if (content.includes("\0")) return showProblem(`${file.name} is not a text file in UTF-8.`);
  return setText(content);
}

const spanOf = (node) => state.found.spans[node.dataset.number];

byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(TOKEN, byId("token").value.trim());
  byId("token").value = "";
  start();
});
text.addEventListener("input", findAfterPause);
exampleNames.addEventListener("input", () => { state.hidden.clear(); findAfterPause(); });
threshold.addEventListener("input", () => setThreshold(threshold.valueAsNumber));
byId("default-threshold").addEventListener("click", () => setThreshold(defaultThreshold()));
allWords.addEventListener("change", () => { show(state.text, state.found); saveSession(); });
model.addEventListener("change", () => {
  fillSelectorMenu();
  setThreshold(defaultThreshold());
  find();
});
selector.addEventListener("change", () => { setThreshold(defaultThreshold()); find(); });
byId("clear").addEventListener("click", () => { setText(""); text.focus(); });
byId("example").addEventListener("click", () => setText(byId("example-text").content.textContent));
byId("open").addEventListener("click", () => byId("file").click());
byId("file").addEventListener("change", async ({ target }) => {
  if (target.files[0]) await openFile(target.files[0]);
  target.value = "";
});
byId("downloads").addEventListener("click", ({ target }) => {
  if (target.dataset.format) download(target.dataset.format);
});

result.addEventListener("click", ({ target }) => {
  const node = target.closest(".entity");
  if (node) select(spanOf(node));
});
result.addEventListener("keydown", (event) => {
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const node = event.target.closest(".entity");
  if (!node) return;
  if (event.key in steps) {
    const all = [...result.querySelectorAll(".entity")];
    focusOn(all.at((all.indexOf(node) + steps[event.key]) % all.length));
  } else if (event.key === "Enter" || event.key === " ") {
    select(spanOf(node));
  } else {
    return;
  }
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && state.selected) select(null);
});

for (const name of ["dragover", "drop", "dragleave"]) {
  document.addEventListener(name, (event) => {
    event.preventDefault();
    document.body.classList.toggle("dropping", name === "dragover");
  });
}
document.addEventListener("drop", async ({ dataTransfer }) => {
  const [file] = dataTransfer.files;
  await (file ? openFile(file) : setText(dataTransfer.getData("text")));
});

// ---- start ----

async function start() {
  show("", null);
  const saved = JSON.parse(sessionStorage.getItem("thresher") ?? "{}");
  text.value = saved.text ?? text.value;
  allWords.checked = saved.allWords ?? false;
  exampleNames.value = saved.examples ?? "";
  byId("examples").open = Boolean(exampleNames.value);
  try {
    const response = await send("models");
    if (response.status === 401) {
      return showProblem(sessionStorage.getItem(TOKEN) ? "This access token is wrong." : "");
    }
    const { models, most_bytes: maxBytes } = await response.json();
    Object.assign(state, { models, maxBytes });
  } catch {
    return showProblem("The server does not respond.");
  }
  showProblem("");
  fillMenu(model, state.models.map(({ name }) => name), saved.model);
  fillSelectorMenu(saved.selector);
  setThreshold(saved.threshold ?? defaultThreshold());
  return find();
}

start();
