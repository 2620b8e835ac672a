// A form that was sent when its session had ended did nothing: what was typed comes back into it after the login.
// Kept in this tab, from one page to the next; the login page says whether the form was refused for that.

import { fill, read } from "./fields.js";

const KEY = "iris-unsent";
const refused = document.querySelector("[data-unsent]");
const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null");

function keep({ target: form }) {
  if (form.method !== "post" || !form.closest("main") || !read(form).length) return;
  const place = [...document.forms].indexOf(form);
  sessionStorage.setItem(KEY, JSON.stringify({ path: location.pathname, place, typed: read(form) }));
}

function giveBack({ path, place, typed }) {
  const form = document.forms[place];
  if (path !== location.pathname || !form) return;
  fill(form, typed);
  const said = document.createElement("p");
  said.className = "notice";
  said.setAttribute("role", "status");
  said.textContent = "Your session had ended when this was sent: nothing was done. What you typed is here again.";
  form.prepend(said);
}

if (refused) {
  if (kept) sessionStorage.setItem(KEY, JSON.stringify({ ...kept, refused: true }));
} else {
  sessionStorage.removeItem(KEY);
  if (kept?.refused) giveBack(kept);
  document.addEventListener("submit", keep);
}
