// Adds the line that says when a page is no longer live, since when, and what can be done.

import { clockText } from "./times.js";

// Always there and empty while all is well, so that a screen reader says what comes into it.
const bar = document.getElementById("live-bar");

// `state` is lost, stale or ended; `link` is an optional [text, address].
export function showBar(state, text, link) {
  if (!bar) return;
  bar.dataset.state = state;
  const words = link ? `${text} ` : text;
  if (bar.firstChild?.nodeValue !== words) {
    bar.replaceChildren(words);
    if (link) {
      const anchor = document.createElement("a");
      [anchor.textContent, anchor.href] = link;
      bar.append(anchor);
    }
  }
}

export function hideBar() {
  if (!bar?.firstChild) return;
  bar.replaceChildren();
  delete bar.dataset.state;
}

export function asOf(date) {
  return `showing the state of ${clockText(date)}`;
}
