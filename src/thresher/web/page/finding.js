// The request for the current text. Every change cancels it, so no outdated answer is shown.

import { byId } from "./elements.js";
import { findEntities } from "./requests.js";

const SLOW = 500; // milliseconds after which a request gets a progress bar and a button to cancel

/** Requests the entities of a text; the newest request replaces the others. */
export class Finding {
  #controller = null; // of the request that is waiting or being answered
  #handlers;

  /** handlers: onFound(answer), onProblem(message), onCancelled() */
  constructor(handlers) {
    this.#handlers = handlers;
    byId("cancel").addEventListener("click", () => {
      this.stop();
      handlers.onCancelled();
    });
  }

  /** Cancel the request, if there is one. */
  stop() {
    this.#controller?.abort();
    this.#controller = null;
    byId("working").hidden = true;
  }

  /** Request the entities after a pause in milliseconds; makeBody returns the request. */
  async start(makeBody, pause) {
    this.stop();
    this.#controller = new AbortController();
    const { signal } = this.#controller;
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (signal.aborted) return;
    const slow = setTimeout(() => byId("working").hidden && showProgress(signal, null), SLOW);
    try {
      const answer = await findEntities(makeBody(), {
        signal,
        onProgress: (done) => showProgress(signal, done),
        onBusy: () => showProgress(signal, null, "The server is busy; trying again…"),
      });
      if (!signal.aborted) this.#finish(() => this.#handlers.onFound(answer));
    } catch (error) {
      if (!signal.aborted) this.#finish(() => this.#handlers.onProblem(error.message));
    } finally {
      clearTimeout(slow);
    }
  }

  #finish(report) {
    this.#controller = null;
    byId("working").hidden = true;
    report();
  }
}

/** Show how much is done, null if it is not known; a cancelled request shows nothing. */
function showProgress(signal, done, message = "Finding entities…") {
  if (signal.aborted) return;
  const bar = byId("progress");
  byId("working").hidden = false;
  if (done === null) bar.removeAttribute("value");
  else bar.value = done;
  byId("status").textContent = done ? `Finding entities… ${Math.round(100 * done)} %` : message;
}
