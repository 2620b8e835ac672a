// Adds waiting to the form of an act: it is not sent before the planner has answered, who can be asked again when that fails.

const asked = document.querySelector("[data-preview]");
const form = asked?.closest("form");
const said = document.getElementById("preview-said");
// What stops something waits for no answer.
const waiters = form ? [...form.querySelectorAll("[data-after-preview]")] : [];

const WORDS = {
  waiting: "It can be sent once the planner has answered.",
  answered: "The planner has answered.",
  failed: "It can be sent: the planner is asked again then. Without its answer, only what stops or takes away is done.",
};

function show(state) {
  asked.dataset.preview = state;
  asked.setAttribute("aria-busy", String(state === "waiting"));
  for (const part of asked.querySelectorAll("[data-when]")) part.hidden = part.dataset.when !== state;
  for (const button of waiters) rest(button, state === "waiting");
  said.textContent = waiters.length ? WORDS[state] : "";
  said.classList.toggle("sr", state === "answered");
}

function rest(button, waits) {
  if (waits) {
    button.setAttribute("aria-disabled", "true");
    button.setAttribute("aria-describedby", said.id);
  } else {
    button.removeAttribute("aria-disabled");
    button.removeAttribute("aria-describedby");
  }
}

// A sign-in page, or any other page, is no answer.
function beforeSwap(event) {
  if (event.detail.ctx?.text?.includes("data-planned")) return;
  event.preventDefault();
  show("failed");
}

function ask() {
  asked.dispatchEvent(new Event("ask"));
}

// Asked from here, with everything that hears the answer in place: however late this script comes, none is missed.
function start() {
  show(window.htmx ? "waiting" : "failed");
  asked.addEventListener("htmx:before:swap", beforeSwap);
  asked.addEventListener("htmx:after:swap", () => asked.querySelector("[data-planned]") && show("answered"));
  for (const wrong of ["htmx:response:error", "htmx:error"]) asked.addEventListener(wrong, () => show("failed"));
  asked.addEventListener("click", (event) => {
    if (!event.target.closest("[data-preview-again]")) return;
    show("waiting");
    ask();
  });
  form.addEventListener("submit", (event) => {
    if (event.submitter?.getAttribute("aria-disabled") === "true") event.preventDefault();
  });
  // This script may come before or after htmx has gone through the page; for an element it knows this does nothing.
  window.htmx?.process(asked);
  ask();
}

if (form) start();
