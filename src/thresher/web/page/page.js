// The page: asks the server for every candidate once, then only filters them.

import { details, drawHistogram, element, setEntity, shownText } from "./view.js";

const by = (id) => document.getElementById(id);
const [text, model, selector, shown, status, problem, aside, threshold, everyWord] = [
  "text", "model", "selector", "shown", "status", "problem", "details", "threshold", "every-word",
].map(by);

const PAUSE = 350; // milliseconds without a key before the server is asked
const state = { found: null, read: "", nodes: [], models: [], chosen: null, threshold: 0.5 };
let waiting = null; // the timer of the next request
let asked = null; // the request under way

// ---- asking ----

async function post(path, body, signal) {
  const response = await fetch(path, {
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
  if (!state.models.length) return; // once they are known, `start` asks for what is there by then
  asked?.abort();
  asked = new AbortController();
  const { signal } = asked;
  const read = text.value;
  if (!read.trim()) return settle("", null);
  shown.setAttribute("aria-busy", "true");
  const body = { text: read, ...chosenModel(), threshold: 0, words: true, offsets: "utf-16" };
  try {
    const { results } = await (await post("find", body, signal)).json();
    settle(read, results[0]);
  } catch (error) {
    if (signal.aborted) return; // by a later request, which will settle
    tell(`Nothing could be found: ${error.message}`);
    shown.setAttribute("aria-busy", "false");
  }
}

/** Show an answer that no later one is expected to replace. */
function settle(read, found) {
  tell("");
  show(read, found);
  shown.setAttribute("aria-busy", "false");
}

const chosenModel = () => ({ model: model.value, selector: Number(selector.value) });

async function download(format) {
  const body = { text: state.read, ...chosenModel(), threshold: state.threshold, format };
  try {
    const response = await post("download", body);
    const name = /filename="(.+)"/.exec(response.headers.get("Content-Disposition"))[1];
    const url = URL.createObjectURL(await response.blob());
    element("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    filter();
  } catch (error) {
    tell(`The download failed: ${error.message}`);
  }
}

function tell(message) {
  problem.textContent = message;
  problem.hidden = !message;
}

// ---- showing ----

function show(read, found) {
  Object.assign(state, { read, found });
  choose(null);
  shown.replaceChildren(found ? shownText(read, found, everyWord.checked) : "");
  shown.classList.toggle("every", everyWord.checked);
  state.nodes = [...shown.querySelectorAll(".candidate")];
  for (const button of document.querySelectorAll("#downloads button")) button.disabled = !found;
  filter();
}

const isEntity = (span) => span.score >= state.threshold;
const entities = () => (state.found?.spans ?? []).filter(isEntity);

/** Let the threshold decide which candidates are entities. The server is not asked. */
function filter() {
  const spans = state.found?.spans ?? [];
  spans.forEach((span, number) => setEntity(state.nodes[number], span, isEntity(span)));
  drawHistogram(by("histogram"), spans, state.threshold);
  const count = entities().length;
  by("threshold-value").value = state.threshold.toFixed(2);
  threshold.setAttribute("aria-valuetext", `${state.threshold.toFixed(2)}, ${count} entities`);
  status.textContent = state.found ? `${count} of ${spans.length} candidates` : "";
  by("own-threshold").disabled = state.threshold === ownThreshold();
  if (state.chosen && !isEntity(state.chosen)) choose(null);
  if (!shown.querySelector("[tabindex]")) shown.querySelector(".on")?.setAttribute("tabindex", 0);
}

/** Show the context of an entity, or of none. */
function choose(span) {
  state.chosen = span;
  shown.querySelector(".chosen")?.classList.remove("chosen");
  aside.hidden = !span;
  if (!span) return;
  const node = state.nodes[state.found.spans.indexOf(span)];
  node.classList.add("chosen");
  focusOn(node);
  const close = () => { choose(null); node.focus(); };
  aside.replaceChildren(...details(state.read, state.found, span, entities(), choose, close));
  node.scrollIntoView({ block: "nearest" }); // the aside has taken room
}

function focusOn(node) {
  shown.querySelector("[tabindex]")?.removeAttribute("tabindex");
  node.setAttribute("tabindex", 0);
  node.focus();
}

// ---- listening ----

function later() {
  clearTimeout(waiting);
  waiting = setTimeout(find, PAUSE);
  remember();
}

function setText(value) {
  text.value = value;
  clearTimeout(waiting);
  remember();
  return find();
}

function remember() {
  const own = state.threshold === ownThreshold();
  const kept = { text: text.value, ...chosenModel(), every: everyWord.checked,
                 threshold: own ? null : state.threshold };
  try { sessionStorage.setItem("thresher", JSON.stringify(kept)); } catch { /* too long to keep */ }
}

const about = () => state.models.find(({ name }) => name === model.value);
const ownThreshold = () => about()?.thresholds[selector.value - 1] ?? 0.5;

/** Fill a menu; with one choice there is nothing to see. */
function offer(menu, choices, chosen) {
  menu.replaceChildren(...choices.map((each) => element("option", { value: each }, String(each))));
  menu.value = choices.includes(chosen) ? chosen : choices[0];
  menu.parentElement.hidden = choices.length < 2;
}

function offerSelectors(chosen) {
  offer(selector, about().thresholds.map((_, number) => number + 1), chosen ?? about().selector);
}

/** The slider shows two digits; the model's own threshold is kept whole. */
function setThreshold(value) {
  state.threshold = value;
  threshold.value = value;
  filter();
  remember();
}

/** A file is looked at before it is shown: a browser stands still over a line of megabytes. */
async function openFile(file) {
  if (file.size > state.mostBytes) {
    const most = state.mostBytes.toLocaleString("en");
    return tell(`${file.name} is larger than ${most} bytes, which is all this server takes.`);
  }
  const content = await file.text();
  return content.includes("\0") ? tell(`${file.name} is not text in UTF-8.`) : setText(content);
}

const spanAt = (node) => state.found.spans[node.dataset.number];

text.addEventListener("input", later);
threshold.addEventListener("input", () => setThreshold(threshold.valueAsNumber));
by("own-threshold").addEventListener("click", () => setThreshold(ownThreshold()));
everyWord.addEventListener("change", () => { show(state.read, state.found); remember(); });
model.addEventListener("change", () => { offerSelectors(); setThreshold(ownThreshold()); find(); });
selector.addEventListener("change", () => { setThreshold(ownThreshold()); find(); });
by("clear").addEventListener("click", () => { setText(""); text.focus(); });
by("example").addEventListener("click", () => setText(by("example-text").content.textContent));
by("open").addEventListener("click", () => by("file").click());
by("file").addEventListener("change", async ({ target }) => {
  if (target.files[0]) await openFile(target.files[0]);
  target.value = "";
});
by("downloads").addEventListener("click", ({ target }) => {
  if (target.dataset.format) download(target.dataset.format);
});

shown.addEventListener("click", ({ target }) => {
  const node = target.closest(".on");
  if (node) choose(spanAt(node));
});
shown.addEventListener("keydown", (event) => {
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const node = event.target.closest(".on");
  if (!node) return;
  if (event.key in steps) {
    const all = [...shown.querySelectorAll(".on")];
    focusOn(all.at((all.indexOf(node) + steps[event.key]) % all.length));
  } else if (event.key === "Enter" || event.key === " ") {
    choose(spanAt(node));
  } else {
    return;
  }
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && state.chosen) choose(null);
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

// ---- starting ----

async function start() {
  show("", null);
  const kept = JSON.parse(sessionStorage.getItem("thresher") ?? "{}");
  text.value = kept.text ?? text.value;
  everyWord.checked = kept.every ?? false;
  try {
    const { models, most_bytes: mostBytes } = await (await fetch("models")).json();
    Object.assign(state, { models, mostBytes });
  } catch {
    return tell("The server does not answer.");
  }
  offer(model, state.models.map(({ name }) => name), kept.model);
  offerSelectors(kept.selector);
  setThreshold(kept.threshold ?? ownThreshold());
  return find();
}

start();
