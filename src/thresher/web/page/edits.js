// Edits of the text: which part has changed, and where the spans outside it are afterwards.

/** Return the offsets of the part of a text that an edit replaced, and the change of length. */
export function editedPart(before, after) {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let same = 0; // at the end
  while (same < shorter - start && before.at(-1 - same) === after.at(-1 - same)) same += 1;
  return { start, end: before.length - same, shift: after.length - before.length };
}

/** Move the spans behind an edit, in place; return the spans that it did not touch. */
export function movedSpans(spans, { start, end, shift }) {
  return spans.filter((span) => {
    if (span.start >= end) {
      span.start += shift;
      span.end += shift;
      return true;
    }
    return span.end <= start;
  });
}

/** Replace the text of a field as if it were typed, so that the user can undo it. */
export function replaceText(field, text) {
  if (field.value) {
    field.focus();
    field.select();
    // The only way that browsers record for undo; slow for long texts.
    const isShort = text.length < 20_000;
    if (isShort && document.execCommand(text ? "insertText" : "delete", false, text)) return;
  }
  field.value = text;
  field.dispatchEvent(new Event("input"));
}
