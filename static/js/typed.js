// Adds memory to a form that is reviewed: who goes back to it by the browser's own button finds what was typed.
// Kept in this tab, for the version that the form was shown with; a form that has moved on since is shown as it is now.

import { fill, read } from "./fields.js";

const reason = document.querySelector('form input[name="reason"]:not([type="hidden"])');
const form = reason?.form;
const version = form?.querySelector('input[name="version"], input[name="seen_version"]');
const KEY = `iris-typed ${location.pathname}`;

function keep() {
  sessionStorage.setItem(KEY, JSON.stringify({ version: version.value, typed: read(form) }));
}

function giveBack() {
  const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
  if (kept.version === version.value) fill(form, kept.typed);
}

if (version && form.elements.namedItem("base")) {
  form.addEventListener("submit", keep);
  if (performance.getEntriesByType("navigation")[0]?.type === "back_forward") giveBack();
}
