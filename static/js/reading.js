// Tells what a person is busy with at this moment: pointer, focus, selection, typed text, open dialogs and details.

const canHover = matchMedia("(hover: hover)");
const ROW = "tr, li, [data-row]";
const UNIT = `${ROW}, form, fieldset, dialog, details, [data-keep]`;
const POINTABLE = `${ROW}, [data-keep], a, button, summary, label, input, select, textarea`;
const KEPT = "dialog[open], details[open][data-keep], [data-keep]:not(details, dialog)";
const OURS = "[data-live-new]";

// The innermost element under the pointer in `root`, or null.
export function hovered(root = document) {
  return canHover.matches ? [...root.querySelectorAll(":hover")].pop() ?? null : null;
}

export function focused() {
  const element = document.activeElement;
  return element && element !== document.body && element !== document.documentElement ? element : null;
}

// The range of text that is selected, or null.
export function selected() {
  const selection = getSelection();
  return selection.rangeCount && !selection.isCollapsed ? selection.getRangeAt(0) : null;
}

function isTyped(field) {
  if (field.type === "hidden") return false;
  if (field.matches("input[type=checkbox], input[type=radio]")) return field.checked !== field.defaultChecked;
  if (field instanceof HTMLSelectElement) {
    const initial = [...field.options].some((option) => option.defaultSelected);
    return [...field.options].some((option, index) =>
      option.selected !== (initial ? option.defaultSelected : !field.multiple && index === 0));
  }
  return field.value !== field.defaultValue;
}

// The elements below `root` that are in use.
function used(root) {
  const parts = [...root.querySelectorAll(KEPT)];
  const within = (element) => element && element !== root && root.contains(element);
  if (within(focused())) parts.push(focused());
  const pointed = hovered(root)?.closest(POINTABLE);
  if (within(pointed)) parts.push(pointed);
  parts.push(...[...root.querySelectorAll("input, textarea, select")].filter(isTyped));
  const range = selected();
  if (range?.intersectsNode(root)) {
    const common = range.commonAncestorContainer;
    parts.push(common instanceof Element ? common : common.parentElement);
  }
  return parts.filter((part) => !part.closest(OURS));
}

// What has to stay as it is below `root`: elements with an id, around what is in use. `root` itself: all of it.
export function keepers(root) {
  const found = new Set();
  for (const part of used(root)) {
    const unit = part.closest(UNIT);
    const keeper = (root.contains(unit) ? unit : part).closest("[id]");
    found.add(keeper && root.contains(keeper) ? keeper : root);
  }
  return found;
}

// Whether somebody is reading this list: then its rows keep their places.
export function isBeingRead(list) {
  const pointer = hovered(list) || (canHover.matches && list.matches(":hover"));
  const scroller = scrollerOf(list);
  const atTop = list.getBoundingClientRect().top >= -1 && (scroller === document.scrollingElement || scroller.scrollTop < 2);
  return Boolean(pointer) || !atTop || (focused() !== list && list.contains(focused())) || Boolean(selected()?.intersectsNode(list))
    || list.querySelector(KEPT) !== null;
}

// The nearest ancestor that scrolls vertically.
export function scrollerOf(element) {
  for (let up = element.parentElement; up; up = up.parentElement) {
    if (up.scrollHeight > up.clientHeight && /auto|scroll/.test(getComputedStyle(up).overflowY)) return up;
  }
  return document.scrollingElement;
}
