// A form that was sent when its session had ended did nothing: what was typed comes back into it after the login.
// Kept in this tab, from one page to the next; the login page says whether the form was refused for that.

import { fill, read } from "./fields.js";

const KEY = "iris-unsent";
const NOTHING_DONE = "Your session had ended when this was sent: nothing was done.";
const person = document.querySelector("meta[name=iris-person]")?.content;
const isLogin = !person;
const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null");

const actionOf = (form) => form.getAttribute("action") ?? "";
const formsWith = (action) => [...document.querySelectorAll("main form")].filter((one) => actionOf(one) === action);

function placeOf(form) {
  const action = actionOf(form);
  return { path: location.pathname, action, number: formsWith(action).indexOf(form) };
}

function formAt({ path, action, number }) {
  return path === location.pathname ? formsWith(action)[number] : undefined;
}

function keep({ target: form }) {
  if (form.method !== "post" || !form.closest("main")) return;
  const changes = read(form);
  if (changes.length) sessionStorage.setItem(KEY, JSON.stringify({ person, place: placeOf(form), changes }));
}

function giveBack({ place, changes }) {
  const form = formAt(place);
  if (!form) return;
  const whole = fill(form, changes);
  const said = document.createElement("p");
  said.className = "notice";
  said.setAttribute("role", "status");
  said.textContent = whole
    ? `${NOTHING_DONE} What you typed is here again.`
    : `${NOTHING_DONE} What you typed is here again, but where somebody changed it meanwhile: that is shown as it is now.`;
  form.prepend(said);
}

if (!isLogin) {
  sessionStorage.removeItem(KEY);
  if (kept?.refused && kept.person === person) giveBack(kept);
  document.addEventListener("submit", keep);
} else if (kept && document.querySelector("[data-unsent]")) {
  sessionStorage.setItem(KEY, JSON.stringify({ ...kept, refused: true }));
}
