// Adds the search over everything as a dialog: Ctrl+K or the button opens it, results come while one types.

const WAIT_MS = 120;
const FAILED = "The search did not answer. Enter opens it as a page.";
const dialog = document.getElementById("find");
const input = dialog?.querySelector("input");
const results = dialog?.querySelector("[data-find-results]");
let due = 0;
let asking = null;
let shown = null;

function open() {
  if (document.querySelector("dialog[open]")) return;
  dialog.showModal();
  input.select();
  search();
}

// Only the answer to what stands in the field now is shown.
async function search() {
  const text = input.value.trim();
  if (text === shown) return;
  asking?.abort();
  asking = new AbortController();
  try {
    const answer = await fetch(`/search/?${new URLSearchParams({ q: text, part: "1" })}`, { signal: asking.signal });
    if (!answer.ok || answer.redirected) throw new Error(answer.status);
    results.innerHTML = await answer.text();
    shown = text;
    results.scrollTop = 0;
    document.dispatchEvent(new CustomEvent("live:changed", { detail: { root: results } }));
  } catch (error) {
    if (error.name === "AbortError") return;
    results.textContent = FAILED;
    shown = null;
  }
}

function hits() {
  return [...results.querySelectorAll("[data-hit]")];
}

// The arrows lead from the field through the hits and back.
function move(step) {
  const places = [input, ...hits()];
  const here = Math.max(0, places.indexOf(document.activeElement));
  places[(here + step + places.length) % places.length].focus();
}

// Enter opens the first hit once the results are those of the text; before, the page of the search.
function entered(event) {
  const first = hits()[0];
  if (!first || shown !== input.value.trim()) return;
  event.preventDefault();
  first.click();
}

// Escape closes at once: by itself it would only empty the field.
const KEYS = { ArrowDown: () => move(1), ArrowUp: () => move(-1), Escape: () => dialog.close() };

function pressed(event) {
  if (!(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
}

if (dialog) {
  for (const opener of document.querySelectorAll("[data-find-open]")) {
    opener.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      open();
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
  input.addEventListener("input", () => {
    clearTimeout(due);
    due = setTimeout(search, WAIT_MS);
  });
  input.form.addEventListener("submit", entered);
  dialog.addEventListener("keydown", pressed);
  dialog.querySelector("[data-find-close]").addEventListener("click", () => dialog.close());
}
