// Adds ticking to times that the server already wrote: ages, countdowns, and moments in the reader's own zone.

const KINDS = "time[data-age], time[data-countdown], time[data-local]";
const STEPS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

// How far the server's clock is ahead of this one, in milliseconds; ticks of the feed correct it.
let ahead = 0;

export function setServerTime(text) {
  const server = Date.parse(text);
  if (!Number.isNaN(server)) ahead = server - Date.now();
}

// The two largest units, as the server words it: "8 s", "4 min 10 s", "3 d 4 h".
export function durationText(seconds) {
  let left = Math.max(0, Math.floor(seconds));
  const parts = [];
  for (const [unit, size] of STEPS) {
    const count = Math.floor(left / size);
    left %= size;
    if (parts.length || count) parts.push(count ? `${count} ${unit}` : "");
    if (parts.length === 2) break;
  }
  return parts.filter(Boolean).join(" ") || "0 s";
}

export function clockText(date) {
  return CLOCK.format(date);
}

function localText(date) {
  return date.toDateString() === new Date().toDateString() ? CLOCK.format(date) : DAY.format(date);
}

function textOf(element, now) {
  const at = Date.parse(element.dateTime);
  if (Number.isNaN(at)) return element.textContent;
  if ("age" in element.dataset) return durationText((now - at) / 1000);
  if ("countdown" in element.dataset) return durationText((at - now) / 1000);
  return localText(new Date(at));
}

// Write every time below `root` as it is now. Only what changed is touched.
export function tick(root = document) {
  const now = Date.now() + ahead;
  for (const element of root.querySelectorAll(KINDS)) {
    const text = textOf(element, now);
    if (element.textContent !== text) element.textContent = text;
  }
}

// One timer for the whole page; it rests with a hidden tab.
export function keepTicking() {
  tick();
  setInterval(() => document.hidden || tick(), 1000);
  document.addEventListener("visibilitychange", () => document.hidden || tick());
}
