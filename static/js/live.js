// Adds live updates to a page that is whole without them: parts, lists, counters and times change in place.

import { startConnection } from "./connection.js";
import { addRows, startLists } from "./lists.js";
import { bringHeld, startSwaps } from "./swaps.js";
import { keepTicking, tick } from "./times.js";

const MESSAGES = {
  rows: (message, target) => target && addRows(target, message.rows),
  failed: (_message, target) => mark(target, "failed"),
  gone: (_message, target) => mark(target, "gone"),
};

function mark(target, state) {
  if (target) target.dataset.liveState = state;
}

keepTicking();
document.addEventListener("live:changed", (event) => tick(event.detail.root));
if (window.htmx && document.getElementById("live")) {
  startSwaps();
  startLists(bringHeld);
  startConnection(MESSAGES);
}
