// The list of entities as a CSV table, to download or to copy.

import { element } from "./elements.js";

/** Return the entities as CSV with a heading. */
export function toCsv(entities) {
  const rows = entities.map(({ name, kind, mentions, score }) => [
    name, kind ?? "", mentions.length, score.toFixed(6),
  ]);
  const lines = [["entity", "kind", "mentions", "score"], ...rows];
  return lines.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** Quote a cell; one that a spreadsheet would run as a formula gets an apostrophe in front. */
function cell(value) {
  const text = /^[=+\-@\t\r]/.test(value) && typeof value === "string" ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Let the browser save a file. */
export function saveFile(blob, name) {
  const url = URL.createObjectURL(blob);
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Copy a text; also on pages that browsers do not allow to use the clipboard directly. */
export async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = element("textarea", { readonly: "" });
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  return field.remove();
}
