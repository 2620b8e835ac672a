// Adds calm to lists that grow: while one is being read, rows change in place and all else waits behind "12 new".

import { isSame, parse } from "./adapt.js";
import { isBeingRead, keepers } from "./reading.js";
import { holdStill } from "./stillness.js";

const HELD = "data-live-held";
const FRESH = "data-live-fresh";
const FRESH_MS = 3000;
const MOST = 200;
const LIST = "[data-live-list][id]";
// List id -> {rows: new ones, changes: of present ones, both element id -> HTML; changed: how many rows a rendering that
// is held adds, removes or moves; beyond: how many new ones are counted only}.
const waiting = new Map();
const released = new Set();
let onRelease = () => {};

// `callback(list)` is called when a person asks for what waits.
export function startLists(callback) {
  onRelease = callback;
}

export function listsIn(root) {
  return [...root.querySelectorAll(LIST)];
}

export function isHeld(list) {
  return !released.has(list.id) && isBeingRead(list);
}

// Rows for the list in `target`, oldest first: pairs of element id and HTML. One that is there changes in its place.
export function addRows(target, rows) {
  const list = listsIn(target)[0];
  if (!list) return;
  const entry = entryOf(list);
  for (const [id, html] of rows) {
    const present = rowOf(list, id);
    (present ? entry.changes : entry.rows).set(id, html);
  }
  forgetBeyond(list, entry);
  settle(list);
}

// Put in what nobody's reading stands against; say how many new rows wait.
export function settle(list) {
  const entry = waiting.get(list.id);
  if (!entry) return;
  changeRows(list, entry.changes);
  if (entry.rows.size && !isHeld(list)) {
    insert(list, entry.rows);
    entry.rows.clear();
    entry.beyond = 0;
  }
  released.delete(list.id);
  showButton(list, entry);
}

export function settleAll() {
  for (const [id, { rows, changes, changed }] of [...waiting]) {
    const list = document.getElementById(id);
    if (!list) waiting.delete(id);
    else if (rows.size || changes.size || changed) settle(list);
  }
}

// Before a whole rendering: if the list is being read, give the new one the present rows and order. True: it was.
export function keepOrder(list, fresh) {
  const entry = entryOf(list);
  if (!isHeld(list)) {
    for (const row of fresh.children) entry.rows.delete(row.id);
    entry.changed = entry.beyond = 0;
    return false;
  }
  const coming = new Map([...fresh.children].map((row) => [row.id, row]));
  const present = [...list.children];
  entry.changed = difference(present, [...coming.keys()]);
  fresh.replaceChildren(...present.map((row) => coming.get(row.id) ?? row.cloneNode(true)));
  return entry.changed > 0;
}

// How many rows come, go or stand elsewhere.
function difference(present, coming) {
  const before = present.map((row) => row.id);
  const [old, now] = [new Set(before), new Set(coming)];
  const added = coming.filter((id) => !old.has(id)).length;
  const gone = before.filter((id) => !now.has(id)).length;
  const kept = before.filter((id) => now.has(id));
  const moved = coming.filter((id) => old.has(id)).some((id, index) => id !== kept[index]);
  return added || gone || Number(moved);
}

// Of what waits only as much is kept as the list will show; the rest is counted.
function forgetBeyond(list, entry) {
  for (const id of [...entry.rows.keys()].slice(0, Math.max(0, entry.rows.size - mostOf(list)))) {
    entry.rows.delete(id);
    entry.beyond += 1;
  }
}

function mostOf(list) {
  return Number(list.dataset.liveMax) || MOST;
}

function entryOf(list) {
  if (!waiting.has(list.id)) waiting.set(list.id, { rows: new Map(), changes: new Map(), changed: 0, beyond: 0 });
  return waiting.get(list.id);
}

function rowOf(list, id) {
  const row = document.getElementById(id);
  return row && list.contains(row) ? row : null;
}

function changeRows(list, changes) {
  if (!changes.size) return;
  const inUse = keepers(list);
  for (const [id, html] of [...changes]) {
    const row = rowOf(list, id);
    const [fresh] = parse(html);
    if (row && fresh && !isSame(row, fresh)) {
      const stays = inUse.has(row) || inUse.has(list);
      row.toggleAttribute(HELD, stays);
      if (stays) continue;
      htmx.swap({ sourceElement: row, target: row, text: fresh.outerHTML, swap: "outerMorph", transition: false });
    }
    changes.delete(id);
  }
}

function insert(list, rows) {
  const still = holdStill(list);
  const nodes = [...rows.values()].reverse().flatMap(parse);
  for (const node of nodes) node.setAttribute(FRESH, "");
  setTimeout(() => nodes.forEach((node) => node.removeAttribute(FRESH)), FRESH_MS);
  list.prepend(...nodes);
  for (const row of [...list.children].slice(mostOf(list))) row.remove();
  still();
  for (const node of nodes) htmx.process(node);
  document.dispatchEvent(new CustomEvent("live:changed", { detail: { root: list } }));
}

function showButton(list, entry) {
  const count = entry.rows.size + entry.beyond + entry.changed;
  const holder = holderOf(list, count > 0);
  if (!holder) return;
  const button = holder.firstElementChild ?? makeButton(holder, list);
  const text = entry.changed && !entry.rows.size ? `${count} changed` : `${count} new`;
  if (button.textContent !== text) button.textContent = text;
  if (holder.hidden === (count === 0)) return;
  const still = holdStill(holder);
  holder.hidden = count === 0;
  still();
}

// The place for the button: the page's own, else one before the list.
function holderOf(list, wanted) {
  const own = document.getElementById(`${list.id}-new`);
  if (own) return own;
  const given = list.closest("[data-live]")?.querySelector("[data-live-new]");
  if (given) {
    given.hidden ||= !given.firstElementChild;
    return given;
  }
  if (!wanted) return null;
  const made = document.createElement("div");
  made.id = `${list.id}-new`;
  made.className = "live-new";
  made.dataset.liveNew = "";
  made.hidden = true;
  (list.closest("table") ?? list).before(made);
  return made;
}

function makeButton(holder, list) {
  const button = document.createElement("button");
  button.type = "button";
  button.addEventListener("click", () => release(document.getElementById(list.id)));
  holder.append(button);
  return button;
}

// Somebody asked for it: show all that waits, from the top of the list.
function release(list) {
  released.add(list.id);
  onRelease(list);
  released.add(list.id);
  settle(list);
  if (list.getBoundingClientRect().top < 0) list.scrollIntoView({ block: "start" });
  if (!list.hasAttribute("tabindex")) list.tabIndex = -1;
  list.focus({ preventScroll: true });
}
