// Adds the keyboard: ? for the sheet, / for search, g and a letter for pages, j and k for rows, Enter to open one.

const SEQUENCE_MS = 1500;
const OFF = "iris-keys-off";
const sheet = document.getElementById("keys");
const choices = [...document.querySelectorAll("[data-keys-enabled]")];
let goingUntil = 0;

function isTyping(element) {
  return element instanceof Element && element.closest("input, textarea, select, [contenteditable], dialog[open]") !== null;
}

function openSheet() {
  if (sheet && !sheet.open) sheet.showModal();
}

function goTo(letter) {
  const link = document.querySelector(`a[data-key="${CSS.escape(letter)}"]`);
  link?.click();
  return Boolean(link);
}

function focusSearch() {
  const field = [...document.querySelectorAll("[data-search]")].find((one) => one.checkVisibility());
  field?.focus();
  field?.select?.();
  return Boolean(field);
}

// Move the focus to the next (1) or previous (-1) row.
function moveRow(step) {
  const rows = [...document.querySelectorAll("[data-row]")].filter((row) => row.checkVisibility());
  const here = rows.indexOf(document.activeElement?.closest("[data-row]"));
  const row = rows[here < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, here + step))];
  if (!row) return false;
  if (!row.hasAttribute("tabindex")) row.tabIndex = -1;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
  return true;
}

function openRow() {
  const row = document.activeElement;
  const link = row?.matches("[data-row]") ? row.querySelector("a[href]") : null;
  link?.click();
  return Boolean(link);
}

const KEYS = {
  "?": () => { openSheet(); return true; },
  "/": focusSearch,
  j: () => moveRow(1),
  k: () => moveRow(-1),
  g: () => { goingUntil = Date.now() + SEQUENCE_MS; return true; },
  Enter: openRow,
};

function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && isTyping(event.target) && !event.target.closest("dialog")) return event.target.blur();
  if (isTyping(event.target) || localStorage.getItem(OFF)) return;
  const going = Date.now() < goingUntil;
  goingUntil = 0;
  const done = going ? goTo(event.key) : KEYS[event.key]?.();
  if (done) event.preventDefault();
}

// A switch in one place turns those in all others, and in other tabs.
function showChoice() {
  for (const choice of choices) choice.checked = !localStorage.getItem(OFF);
}

function choose(event) {
  if (event.target.checked) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, "1");
  showChoice();
}

document.addEventListener("keydown", pressed);
for (const part of document.querySelectorAll("[data-keys-part], [data-keys-open]")) part.hidden = false;
for (const opener of document.querySelectorAll("[data-keys-open]")) opener.addEventListener("click", openSheet);
for (const choice of choices) choice.addEventListener("change", choose);
window.addEventListener("storage", showChoice);
showChoice();
