// Adds what silence means: an element with data-show-at appears when that moment passes and nothing newer came.

const EVERY_MS = 2000;

function showOverdue() {
  for (const element of document.querySelectorAll("[data-show-at]")) {
    element.hidden = Date.now() < Date.parse(element.dataset.showAt);
  }
}

setInterval(showOverdue, EVERY_MS);
