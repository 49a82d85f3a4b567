// The state of the page in its address, so that a link or a reload shows the same. It is in the
// fragment, which browsers do not send to servers. A long text is only kept in this tab.

const MAX_TEXT = 1000; // characters in an address
const SESSION = "thresher"; // the key in the session storage, which ends with the tab

/** Return the state of the address, and the text of this tab if the address has none. */
export function readState() {
  const values = new URLSearchParams(location.hash.slice(1));
  const number = (name) => (values.has(name) ? Number(values.get(name)) : null);
  const threshold = number("threshold");
  return {
    text: values.get("text") ?? sessionStorage.getItem(SESSION) ?? "",
    model: values.get("model"),
    selector: number("selector"),
    threshold: threshold >= 0 && threshold <= 1 ? threshold : null,
    allWords: values.has("words"),
    names: values.get("names") ?? "",
    hidden: values.getAll("hide").map((kind) => kind || null),
  };
}

/** Write the state into the address; values that are null or empty are left out. */
export function writeState({ text, allWords, hidden, ...others }) {
  const values = new URLSearchParams();
  for (const [name, value] of Object.entries(others)) {
    if (value !== null && value !== "") values.set(name, value);
  }
  if (allWords) values.set("words", "all");
  for (const kind of hidden) values.append("hide", kind ?? "");
  if (text && text.length <= MAX_TEXT) values.set("text", text);
  try {
    sessionStorage.setItem(SESSION, text);
  } catch { /* too long for this browser: a reload shows an empty page */ }
  history.replaceState(null, "", values.size ? `#${values}` : location.pathname + location.search);
}
