// Functions that build the elements of the page from data; they have no state.
// Text is only inserted as text nodes, so HTML in it has no effect.

/** Return a new element with attributes and content. */
export function element(name, attributes = {}, ...content) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...content);
  return node;
}

/** Return text[start:end] with the given words, all within it, shaded by their scores. */
function shadedText(text, words, start, end) {
  const nodes = new DocumentFragment();
  let done = start;
  for (const word of words) {
    const node = element("span", { class: "word" }, text.slice(word.start, word.end));
    node.style.setProperty("--p", word.score);
    nodes.append(text.slice(done, word.start), node);
    done = word.end;
  }
  nodes.append(text.slice(done, end));
  return nodes;
}

/** Return the whole text with an element per candidate; with allWords, all words are shaded. */
export function highlightedText(text, found, allWords) {
  const nodes = new DocumentFragment();
  const words = found.sentences.flatMap((sentence) => sentence.words);
  const takeWordsBefore = (offset) => {
    const from = next;
    while (next < words.length && words[next].start < offset) next += 1;
    return words.slice(from, next);
  };
  let next = 0;
  let done = 0;
  found.spans.forEach((span, number) => {
    const outside = takeWordsBefore(span.start);
    nodes.append(shadedText(text, allWords ? outside : [], done, span.start));
    const inside = shadedText(text, takeWordsBefore(span.end), span.start, span.end);
    nodes.append(element("span", { class: "candidate", "data-number": number }, inside));
    done = span.end;
  });
  const rest = allWords ? takeWordsBefore(text.length) : [];
  nodes.append(shadedText(text, rest, done, text.length));
  return nodes;
}

/** Mark the element of a candidate as an entity or as plain text. */
export function setEntity(node, span, isEntity) {
  node.classList.toggle("entity", isEntity);
  if (isEntity) {
    const kind = span.kind ? `${span.kind}, ` : "";
    node.setAttribute("role", "button");
    node.setAttribute("aria-label", `${span.text}, ${kind}score ${span.score.toFixed(2)}`);
    if (span.kind) node.dataset.kind = span.kind;
  } else {
    for (const name of ["role", "aria-label", "tabindex", "data-kind"]) node.removeAttribute(name);
    node.classList.remove("selected");
  }
}

const BARS = 25;
const MAX_MENTIONS = 20; // with a button each

/** Draw a histogram of the scores; bars above the threshold are highlighted. */
export function drawHistogram(container, spans, threshold) {
  const counts = new Array(BARS).fill(0);
  for (const span of spans) counts[Math.min(BARS - 1, Math.floor(span.score * BARS))] += 1;
  const highest = Math.max(1, ...counts);
  container.replaceChildren(...counts.map((count, bar) => {
    const node = element("i", { class: (bar + 0.5) / BARS >= threshold ? "above" : "" });
    node.style.setProperty("--h", Math.sqrt(count / highest));
    return node;
  }));
}

/** Return the details of an entity: score, sentence, and buttons for its other mentions. */
export function details(text, found, span, entities, onJump, onClose) {
  const sentence = found.sentences.find((each) => span.start >= each.start && span.start < each.end);
  const words = (start, end) => sentence.words.filter((w) => w.start >= start && w.end <= end);
  const part = (start, end) => shadedText(text, words(start, end), start, end);
  const close = element("button", { type: "button", class: "close", "aria-label": "Close" }, "✕");
  close.addEventListener("click", onClose);
  const mentions = entities.filter((each) => each.text === span.text);
  const kind = span.kind ? `${span.kind} ${span.kind_score?.toFixed(2) ?? ""} · ` : "";
  const facts = element("p", { class: "facts" },
    `${kind}score ${span.score.toFixed(3)} · characters ${span.start} to ${span.end}`);
  if (mentions.length > 1) {
    facts.append(` · found ${mentions.length} times: `);
    mentions.slice(0, MAX_MENTIONS).forEach((each, number) => {
      const jump = element("button", { type: "button" }, String(number + 1));
      if (each === span) jump.disabled = true;
      jump.addEventListener("click", () => onJump(each));
      facts.append(jump, " ");
    });
  }
  return [
    close,
    element("h3", { dir: "auto" }, span.text),
    element("p", { class: "context", dir: "auto" },
      part(sentence.start, span.start),
      element("b", {}, part(span.start, span.end)),
      part(span.end, sentence.end)),
    facts,
  ];
}
