// Text files that are opened with the button or dropped onto the page.

import { byId } from "./elements.js";

/** Connect the button and the page. maxBytes: returns the limit of the server */
export function connectFiles({ onText, onProblem, maxBytes }) {
  /** Check a file before it is shown: browsers freeze when they display a very long line. */
  async function open(file) {
    if (file.size > maxBytes()) {
      const limit = maxBytes().toLocaleString("en");
      return onProblem(`${file.name} is larger than ${limit} bytes, this server's limit.`);
    }
    const content = await file.text();
    if (content.includes("\0")) return onProblem(`${file.name} is not a text file in UTF-8.`);
    return onText(content.replace(/\r\n?/g, "\n"));
  }

  byId("open").addEventListener("click", () => byId("file").click());
  byId("file").addEventListener("change", async ({ target }) => {
    if (target.files[0]) await open(target.files[0]);
    target.value = "";
  });
  for (const name of ["dragover", "drop", "dragleave"]) {
    document.addEventListener(name, (event) => {
      const isFile = event.dataTransfer.types.includes("Files");
      if (isFile) event.preventDefault(); // text is dropped into the field by the browser
      document.body.classList.toggle("dropping", isFile && name === "dragover");
    });
  }
  document.addEventListener("drop", ({ dataTransfer: { files: [file] } }) => file && open(file));
}
