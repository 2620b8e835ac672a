// Adds new renderings of parts of the page without touching what somebody is busy with; that part follows later.

import { adapt, isSame } from "./adapt.js";
import { isHeld, keepOrder, listsIn, settle, settleAll } from "./lists.js";
import { keepers } from "./reading.js";
import { holdStill } from "./stillness.js";

const RETRY_MS = 300;
const HELD = "data-live-held";
const SWAP = "innerMorph swapEmpty:true";

const live = document.getElementById("live");
// Fragment id -> {text, kept: ids that were in use, lists: ids of lists that were being read}.
const held = new Map();

export function startSwaps() {
  htmx.config.morphSkip = [htmx.config.morphSkip, `[${HELD}]`].filter(Boolean).join(",");
  htmx.config.morphSkipChildren = [htmx.config.morphSkipChildren, "[data-live-new]"].filter(Boolean).join(",");
  htmx.registerExtension("iris-open", { htmx_before_morph_attr: leaveOursAsItIs });
  live.addEventListener("htmx:before:swap", beforeSwap);
  setInterval(() => document.hidden || retry(), RETRY_MS);
}

// Whether details and dialogs are open, and what can be focused by a key, is the reader's doing; the server does not know.
function leaveOursAsItIs(element, { attrName, newValue }) {
  if (attrName === "open") return !element.matches("details, dialog");
  return !(attrName === "tabindex" && newValue === null && element === document.activeElement);
}

function beforeSwap(event) {
  const { ctx, tasks: [task] } = event.detail;
  if (!task?.target?.id) return;
  const { target, fragment } = task;
  adapt(fragment);
  const before = held.get(target.id);
  for (const id of before?.kept ?? []) document.getElementById(id)?.removeAttribute(HELD);
  held.delete(target.id);
  const kept = keep(target, fragment);
  const whole = kept.has(target.id);
  const lists = whole ? [] : holdLists(target, fragment);
  if (kept.size || lists.length) held.set(target.id, { text: ctx.text, kept, lists });
  if (whole) return event.preventDefault();
  const still = holdStill(target);
  queueMicrotask(() => {
    still();
    changed(target);
  });
}

function changed(target) {
  delete target.dataset.liveState;
  for (const list of listsIn(target)) settle(list);
  document.dispatchEvent(new CustomEvent("live:changed", { detail: { root: target } }));
}

// Mark what is in use and would change, so that the morph leaves it alone; the ids of it. The target's own id: all of it.
function keep(target, fragment) {
  const kept = new Set();
  for (const keeper of keepers(target)) {
    const fresh = keeper === target ? null : fragment.querySelector(`#${CSS.escape(keeper.id)}`);
    if (fresh && isSame(keeper, fresh)) continue;
    if (keeper === target && isSameInside(target, fragment)) continue;
    kept.add(fresh ? keeper.id : target.id);
  }
  for (const id of kept) document.getElementById(id).setAttribute(HELD, "");
  return kept;
}

function holdLists(target, fragment) {
  return listsIn(target).filter((list) => {
    const fresh = fragment.querySelector(`#${CSS.escape(list.id)}`);
    return fresh && keepOrder(list, fresh);
  }).map((list) => list.id);
}

function isSameInside(target, fragment) {
  const other = target.cloneNode(false);
  other.append(fragment.cloneNode(true));
  return isSame(target, other);
}

// Bring what was held, once one of the reasons for holding it is gone.
export function retry() {
  settleAll();
  for (const [id, { text, kept, lists }] of [...held]) {
    const target = document.getElementById(id);
    if (!target) held.delete(id);
    else if (isFree(target, kept, lists)) bring(target, text);
  }
}

function isFree(target, kept, lists) {
  const present = new Set([...keepers(target)].map((keeper) => keeper.id));
  const listFree = lists.some((list) => {
    const element = document.getElementById(list);
    return !element || !isHeld(element);
  });
  return listFree || [...kept].some((keptId) => !present.has(keptId));
}

export function bring(target, text) {
  return htmx.swap({ sourceElement: live, target, text, swap: SWAP, transition: false });
}

// A person asked for what waits in a list: bring the rendering that was held because of it.
export function bringHeld(list) {
  const target = list.closest("[data-live]");
  const waiting = target && held.get(target.id);
  if (waiting) bring(target, waiting.text);
}
