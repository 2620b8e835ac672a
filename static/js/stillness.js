// Keeps what a person looks at in its place on the screen while something above it changes its height.

import { focused, hovered, scrollerOf, selected } from "./reading.js";

// What a person looks at, unless it is around the part that changes: then it does not move.
function lookedAt(root) {
  const range = selected();
  const inside = range && (range.startContainer instanceof Element ? range.startContainer : range.startContainer.parentElement);
  return [hovered(), inside, focused()].find((element) => element && !element.contains(root) && isOnScreen(element)) ?? null;
}

function isOnScreen(element) {
  const box = element.getBoundingClientRect();
  return box.bottom > 0 && box.top < innerHeight;
}

// Call before `root` changes; call what it returns after that.
export function holdStill(root) {
  const anchor = lookedAt(root);
  if (!anchor) return () => {};
  const before = anchor.getBoundingClientRect().top;
  const page = document.documentElement;
  page.style.overflowAnchor = "none";
  return () => {
    const moved = anchor.isConnected ? anchor.getBoundingClientRect().top - before : 0;
    if (Math.abs(moved) >= 1) scrollerOf(anchor).scrollBy({ top: moved, behavior: "instant" });
    requestAnimationFrame(() => requestAnimationFrame(() => { page.style.overflowAnchor = ""; }));
  };
}
