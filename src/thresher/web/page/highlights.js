// The layer behind the text field that shades its entities. It contains the same text, in the same
// font and width, in blocks of about a thousand characters. Only blocks on the screen are shaded.

import { element } from "./elements.js";

const BLOCK = 1000; // characters; a block ends with a line
const MAX_PIECE = 4000; // characters of a longer line that are shaded at a time
const AT_ONCE = 3; // new blocks that are shaded without waiting
const MARGIN = "600px"; // shaded before it is scrolled to

/** The layer: a text, and the marks that shade it. */
export class Highlights {
  #container;
  #blocks = []; // { text, node, pieces }
  #visible = new Set(); // pieces
  #pieces = new WeakMap(); // by node
  #observer;
  #marks = { entities: [], words: [], selected: null };
  #version = 0; // of the marks

  constructor(container, scroller) {
    this.#container = container;
    this.#observer = new IntersectionObserver(
      (entries) => entries.forEach((entry) => this.#showOrHide(entry)),
      { root: scroller, rootMargin: MARGIN },
    );
    this.setText("");
  }

  /** Replace the text; blocks that did not change are kept. */
  setText(text) {
    const [before, after] = unchangedBlocks(this.#blocks, text);
    const start = lengthOf(this.#blocks.slice(0, before));
    const end = text.length - lengthOf(this.#blocks.slice(this.#blocks.length - after));
    const blocks = splitIntoBlocks(text.slice(start, end), after === 0).map(makeBlock);
    const removed = this.#blocks.splice(before, this.#blocks.length - before - after, ...blocks);
    // Shaded by `setMarks` at once and not when the observer sees them, which would flicker.
    if (removed.some(({ pieces }) => pieces.some((piece) => this.#visible.has(piece)))) {
      for (const { pieces } of blocks.slice(0, AT_ONCE)) this.#visible.add(pieces[0]);
    }
    const next = removed[0]?.node ?? this.#blocks[before + blocks.length]?.node ?? null;
    for (const { node } of blocks) this.#container.insertBefore(node, next);
    for (const block of removed) this.#remove(block);
    for (const { pieces } of blocks) for (const piece of pieces) this.#observe(piece);
    let offset = 0;
    for (const { pieces } of this.#blocks) {
      for (const piece of pieces) {
        piece.start = offset;
        offset += piece.text.length;
      }
    }
  }

  /**
   * Shade the text.
   * entities: { start, end, score, colour } in order   words: the same, shaded where no entity is
   */
  setMarks({ entities, words = [], selected = null }) {
    this.#marks = { entities, words, selected };
    this.#version += 1;
    for (const piece of this.#visible) this.#shade(piece);
  }

  /** Scroll to the selected entity. */
  showSelected() {
    const { selected } = this.#marks;
    const pieces = this.#blocks.flatMap((block) => block.pieces);
    const piece = pieces.find((each) => each.start + each.text.length > selected.start);
    this.#shade(piece);
    piece.node.querySelector(".selected")?.scrollIntoView({ block: "nearest" });
  }

  #observe(piece) {
    this.#pieces.set(piece.node, piece);
    this.#observer.observe(piece.node);
  }

  #remove({ node, pieces }) {
    for (const piece of pieces) {
      this.#observer.unobserve(piece.node);
      this.#visible.delete(piece);
    }
    node.remove();
  }

  #showOrHide({ target, isIntersecting }) {
    const piece = this.#pieces.get(target);
    if (!isIntersecting) return this.#visible.delete(piece);
    this.#visible.add(piece);
    return this.#shade(piece);
  }

  /** Draw the marks of a piece, unless it has the newest ones. */
  #shade(piece) {
    if (piece.version === this.#version) return;
    piece.version = this.#version;
    const { start, text } = piece;
    const { entities, words, selected } = this.#marks;
    const marks = within(entities, start, start + text.length);
    const rest = within(words, start, start + text.length).filter((word) => !overlaps(marks, word));
    const nodes = [];
    let done = 0;
    for (const mark of [...marks, ...rest].sort((one, other) => one.start - other.start)) {
      const from = Math.max(mark.start - start, 0);
      const to = Math.min(mark.end - start, text.length);
      const node = markElement(mark, text.slice(from, to));
      node.classList.toggle("selected", mark === selected);
      nodes.push(text.slice(done, from), node);
      done = to;
    }
    piece.node.replaceChildren(...nodes, text.slice(done) || (nodes.length ? "" : "\u200b"));
  }
}

const lengthOf = (blocks) => blocks.reduce((sum, { text }) => sum + text.length, 0);

/** Return how many blocks at the beginning and at the end are the same in another text. */
function unchangedBlocks(blocks, text) {
  let before = 0;
  let start = 0;
  // The last block has no line end, so it may go on.
  while (before < blocks.length - 1 && text.startsWith(blocks[before].text, start)) {
    start += blocks[before].text.length;
    before += 1;
  }
  let after = 0;
  let end = text.length;
  while (after < blocks.length - before) {
    const { text: last } = blocks[blocks.length - 1 - after];
    const from = end - last.length;
    const beginsLine = from === start || text[from - 1] === "\n";
    if (from < start || !beginsLine || !text.startsWith(last, from)) break;
    end = from;
    after += 1;
  }
  return [before, after];
}

/** Split a text after line ends. The last block of the whole text has none; it may be empty. */
function splitIntoBlocks(text, isEnd) {
  const blocks = [];
  let start = 0;
  while (start < text.length) {
    const lineEnd = text.indexOf("\n", start + BLOCK);
    const end = lineEnd < 0 ? text.length : lineEnd + 1;
    blocks.push(text.slice(start, end));
    start = end;
  }
  const isOpen = blocks.length > 0 && !blocks.at(-1).endsWith("\n");
  return isEnd && !isOpen ? [...blocks, ""] : blocks;
}

function makeBlock(text) {
  const node = element("div");
  if (text.length <= BLOCK + MAX_PIECE) {
    node.append(text || "\u200b"); // an empty line has a height
    return { text, node, pieces: [{ text, node, start: 0 }] };
  }
  const pieces = [];
  for (let start = 0; start < text.length;) {
    const space = text.indexOf(" ", start + MAX_PIECE);
    const end = space < 0 || space > start + 2 * MAX_PIECE ? start + MAX_PIECE : space;
    const piece = text.slice(start, end);
    pieces.push({ text: piece, node: element("span", {}, piece), start: 0 });
    start = end;
  }
  node.append(...pieces.map((piece) => piece.node));
  return { text, node, pieces };
}

function markElement({ score, colour, isWord }, text) {
  const node = element("mark", { class: isWord ? "word" : "entity" }, text);
  node.style.setProperty("--score", score);
  if (colour) node.style.setProperty("--highlight", colour);
  return node;
}

/** Return the marks, which are in order, that overlap start to end. */
function within(marks, start, end) {
  let low = 0;
  for (let high = marks.length; low < high;) {
    const middle = (low + high) >> 1;
    if (marks[middle].end <= start) low = middle + 1;
    else high = middle;
  }
  let stop = low;
  while (stop < marks.length && marks[stop].start < end) stop += 1;
  return marks.slice(low, stop);
}

const overlaps = (marks, word) => within(marks, word.start, word.end).length > 0;
