// From what the server found to what is seen: functions of data, with no state of their own.
// Text only ever becomes text nodes, so nothing in it can act as HTML.

/** An element with attributes and content. */
export function element(name, attributes = {}, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

/** text[start:end] with its words shaded by their scores; `words` are those that lie within. */
function shaded(text, words, start, end) {
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

/** All of the text. Each candidate is an element; words elsewhere are shaded on request. */
export function shownText(text, found, everyWord) {
  const nodes = new DocumentFragment();
  const words = found.sentences.flatMap((sentence) => sentence.words);
  const before = (place) => {
    const from = next;
    while (next < words.length && words[next].start < place) next += 1;
    return words.slice(from, next);
  };
  let next = 0;
  let done = 0;
  found.spans.forEach((span, number) => {
    const outside = before(span.start);
    nodes.append(shaded(text, everyWord ? outside : [], done, span.start));
    const inside = shaded(text, before(span.end), span.start, span.end);
    nodes.append(element("span", { class: "candidate", "data-number": number }, inside));
    done = span.end;
  });
  nodes.append(shaded(text, everyWord ? before(text.length) : [], done, text.length));
  return nodes;
}

/** Make a candidate an entity, or plain text again. */
export function setEntity(node, span, isEntity) {
  node.classList.toggle("on", isEntity);
  if (isEntity) {
    node.setAttribute("role", "button");
    node.setAttribute("aria-label", `${span.text}, score ${span.score.toFixed(2)}`);
  } else {
    for (const name of ["role", "aria-label", "tabindex"]) node.removeAttribute(name);
    node.classList.remove("chosen");
  }
}

const BARS = 25;
const MENTIONS = 20; // that can be jumped to

/** How many candidates have which score; bars from the threshold on stand out. */
export function drawHistogram(place, spans, threshold) {
  const counts = new Array(BARS).fill(0);
  for (const span of spans) counts[Math.min(BARS - 1, Math.floor(span.score * BARS))] += 1;
  const most = Math.max(1, ...counts);
  place.replaceChildren(...counts.map((count, bar) => {
    const node = element("i", { class: (bar + 0.5) / BARS >= threshold ? "above" : "" });
    node.style.setProperty("--h", Math.sqrt(count / most));
    return node;
  }));
}

/** What is known of one entity: its score, its sentence, and where else it stands. */
export function details(text, found, span, entities, onJump, onClose) {
  const sentence = found.sentences.find((each) => span.start >= each.start && span.start < each.end);
  const words = (start, end) => sentence.words.filter((w) => w.start >= start && w.end <= end);
  const part = (start, end) => shaded(text, words(start, end), start, end);
  const close = element("button", { type: "button", class: "close", "aria-label": "Close" }, "✕");
  close.addEventListener("click", onClose);
  const same = entities.filter((each) => each.text === span.text);
  const facts = element("p", { class: "facts" },
    `score ${span.score.toFixed(3)} · characters ${span.start} to ${span.end}`);
  if (same.length > 1) {
    facts.append(` · found ${same.length} times: `);
    same.slice(0, MENTIONS).forEach((each, number) => {
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
