// Copies and downloads: the list of entities as CSV, and files with all mentions from the server.

import { byId, element } from "./elements.js";
import { post } from "./requests.js";

const MESSAGE = 2000; // milliseconds that "Copied" is shown

/** Connect the buttons. entities: returns the list, request: what to send, onProblem: for errors */
export function connectExports({ entities, request, onProblem }) {
  byId("csv").addEventListener("click", () => {
    saveFile(new Blob([toCsv(entities())], { type: "text/csv" }), "entities.csv");
  });
  byId("copy").addEventListener("click", async () => {
    await copyText(toCsv(entities()));
    byId("copied").textContent = "Copied";
    setTimeout(() => { byId("copied").textContent = ""; }, MESSAGE);
  });
  byId("formats").addEventListener("click", async ({ target: { dataset: { format } } }) => {
    if (!format) return;
    try {
      const response = await post("download", { ...request(), format });
      const name = /filename="(.+)"/.exec(response.headers.get("Content-Disposition"))[1];
      saveFile(await response.blob(), name);
    } catch (error) {
      onProblem(`The download failed: ${error.message}`);
    }
  });
}

/** Return the entities as CSV with a heading. */
export function toCsv(entities) {
  const rows = entities.map(({ name, kind, mentions, score }) => [
    escapedFormula(name), escapedFormula(kind ?? ""), mentions.length, score.toFixed(6),
  ]);
  const lines = [["entity", "kind", "mentions", "score"], ...rows];
  return lines.map((row) => `${row.map(quoted).join(",")}\r\n`).join("");
}

/** Put an apostrophe in front of a cell that a spreadsheet would run as a formula. */
const escapedFormula = (text) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);

const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** Let the browser save a file. */
function saveFile(blob, name) {
  const url = URL.createObjectURL(blob);
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Copy a text; also on pages that browsers do not allow to use the clipboard directly. */
async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = element("textarea", { readonly: "" });
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  return field.remove();
}
