// Adds memory to a form that is reviewed: who goes back to it by the browser's own button finds what was typed.
// Kept in this tab, for the version that the form was shown with; a form that has moved on since is shown as it is now.

const reason = document.querySelector('form input[name="reason"]:not([type="hidden"])');
const form = reason?.form;
const version = form?.querySelector('input[name="version"], input[name="seen_version"]');
const KEY = `iris-typed ${location.pathname}`;

const fields = () => [...form.elements].filter((one) => one.name && one.matches("input, select, textarea") && !one.matches("[type=hidden], [type=password]"));

function keep() {
  const typed = fields().map((one) => [one.name, one.value]);
  sessionStorage.setItem(KEY, JSON.stringify({ version: version.value, typed }));
}

function giveBack() {
  const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
  if (kept.version !== version.value) return;
  const typed = new Map(kept.typed);
  for (const one of fields()) if (typed.has(one.name)) one.value = typed.get(one.name);
}

if (version && form.elements.namedItem("base")) {
  form.addEventListener("submit", keep);
  if (performance.getEntriesByType("navigation")[0]?.type === "back_forward") giveBack();
}
