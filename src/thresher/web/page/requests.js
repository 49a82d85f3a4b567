// Requests to the server: with the access token, repeated while the server is busy.

import { byId } from "./elements.js";

const TOKEN = "thresher-token"; // its key in the session storage, which ends with the tab
const BUSY_PAUSE = 1000; // milliseconds

export const hasToken = () => Boolean(sessionStorage.getItem(TOKEN));
export const setToken = (token) => sessionStorage.setItem(TOKEN, token);

/** Send a request with the access token; ask for the token if it is missing or wrong. */
export async function send(path, options = {}) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = { ...options.headers, ...(token && { Authorization: `Bearer ${token}` }) };
  const response = await fetch(path, { ...options, headers });
  byId("token-form").hidden = response.status !== 401;
  byId("api").hidden = Boolean(token); // a link cannot send it
  if (response.status === 401) byId("token").focus();
  return response;
}

/** Send a JSON object; while the server is busy, call onBusy and try again. */
export async function post(path, body, { signal, onBusy } = {}) {
  const response = await send(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  if (response.ok) return response;
  if (response.status === 503) {
    onBusy?.();
    await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE));
    return post(path, body, { signal, onBusy });
  }
  const { detail } = await response.json().catch(() => ({ detail: response.statusText }));
  throw new Error(detail);
}

/** Return the entities of a text; call onProgress with the fraction that is done. */
export async function findEntities(body, { signal, onProgress, onBusy }) {
  const response = await post("find/stream", body, { signal, onBusy });
  for await (const line of lines(response.body)) {
    const message = JSON.parse(line);
    if (message.detail) throw new Error(message.detail);
    if (message.results) return message;
    onProgress(message.progress);
  }
  throw new Error("the answer of the server has no end");
}

async function* lines(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let parts = [];
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    const [first, ...others] = value.split("\n");
    parts.push(first);
    for (const next of others) {
      yield parts.join("");
      parts = [next];
    }
  }
}
