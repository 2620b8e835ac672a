// Makes a rendering that is the same for everybody this reader's own: the page's token, times as they are here.

import { tick } from "./times.js";

const live = document.getElementById("live");
// What scripts put on elements; the server knows nothing of it, so it makes no difference.
const OURS = ["data-live-held", "data-live-fresh", "tabindex", "style"];

export function adapt(fragment) {
  for (const input of fragment.querySelectorAll("input[name=csrfmiddlewaretoken]")) {
    input.setAttribute("value", live.dataset.liveCsrf);
  }
  tick(fragment);
}

// The elements that `html` describes.
export function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  adapt(template.content);
  return [...template.content.children];
}

// Whether an element of the page shows what the fresh one would.
export function isSame(present, fresh) {
  const copy = present.cloneNode(true);
  for (const name of OURS) {
    if (!fresh.hasAttribute(name)) copy.removeAttribute(name);
  }
  copy.classList.remove("htmx-added");
  if (!copy.classList.length && !fresh.hasAttribute("class")) copy.removeAttribute("class");
  tick(copy);
  return copy.isEqualNode(fresh);
}
