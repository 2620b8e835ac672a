// Adds the page's one websocket: says what is shown, resumes from the last event after a loss, rests in a hidden tab.

import { asOf, hideBar, showBar } from "./bar.js";
import { setServerTime } from "./times.js";

const GRACE_MS = 1000;
const REST_AFTER_MS = 5000;
const WATCH_MS = 2000;
// Two signs of life that did not come are told; four, and the connection is given up.
const QUIET_MS = 11_000;
const SILENCE_MS = 20_000;
const REOPEN_MS = 4000;
const FINAL = new Set([4400, 4401, 4403, 1009]);

const live = document.getElementById("live");
const place = { cursor: live?.dataset.liveCursor ?? "", asof: new Map() };
let handlers = {};
let connection = null;
let heardAt = new Date();
let greeted = "";
let resting = false;
let ended = false;
let away = false;
let quiet = false;
let grace = 0;
let rest = 0;

export function startConnection(given) {
  handlers = given;
  live.addEventListener("htmx:ws:before:connection", beforeConnection);
  live.addEventListener("htmx:ws:after:connection", (event) => greet(event.detail.connection));
  live.addEventListener("htmx:ws:before:message:incoming", incoming);
  live.addEventListener("htmx:ws:close", (event) => closed(event.detail));
  document.addEventListener("visibilitychange", visibilityChanged);
  addEventListener("pageshow", (event) => event.persisted && open());
  document.addEventListener("htmx:after:swap", (event) => event.target !== live && queueMicrotask(greetAgain));
  setInterval(watch, WATCH_MS);
  if (document.hidden) visibilityChanged();
  else open();
}

// Where this page stands in the feed; for tests and for modules that ask for more.
export function cursor() {
  return place.cursor;
}

function open() {
  if (ended || resting) return;
  htmx.process(live);
  live.dispatchEvent(new CustomEvent("liveconnect"));
}

function beforeConnection(event) {
  if (document.hidden || ended) event.preventDefault();
  if (document.hidden) resting = true;
}

function shown() {
  return [...document.querySelectorAll("body [data-live]")].map((element) => ({
    name: element.dataset.live,
    params: JSON.parse(element.dataset.liveParams ?? "{}"),
    asof: place.asof.get(element.id) ?? live.dataset.liveCursor,
  }));
}

// Tell the server what the page shows and up to where it has seen the feed, once all that has come is applied.
async function greet(opened) {
  connection = opened;
  await opened.receiving;
  if (opened.socket?.readyState !== WebSocket.OPEN) return;
  heardAt = new Date();
  const fragments = shown();
  greeted = signature(fragments);
  opened.socket.send(JSON.stringify({ type: "hello", cursor: place.cursor, topics: extraTopics(), fragments }));
}

// A page part that a person loaded may bring other fragments than the page had before.
function greetAgain() {
  if (connection?.socket?.readyState === WebSocket.OPEN && signature(shown()) !== greeted) greet(connection);
}

function signature(fragments) {
  return JSON.stringify(fragments.map(({ name, params }) => [name, params]));
}

function extraTopics() {
  return [...document.querySelectorAll("[data-live-topics]")].flatMap((element) =>
    element.dataset.liveTopics.split(/\s+/).filter(Boolean));
}

function incoming(event) {
  const message = JSON.parse(event.detail.message.data);
  heardAt = new Date();
  if (quiet) alive();
  const target = message.target ? document.querySelector(message.target) : null;
  if (message.type !== "fragment" || !target) event.preventDefault();
  if (message.asof && target) place.asof.set(target.id, message.asof);
  (OWN[message.type] ?? handlers[message.type])?.(message, target);
}

const OWN = {
  welcome(message) {
    if (message.resync) resync(message);
    else place.cursor = message.cursor;
    alive();
  },
  resync,
  events(message) {
    const fresh = message.events.filter((event) => isAfter(event.id, place.cursor));
    place.cursor = message.cursor;
    if (fresh.length) tell("live:events", { events: fresh });
  },
  samples(message) {
    tell("live:samples", { events: message.events });
  },
  tick(message) {
    place.cursor = message.cursor;
    setServerTime(message.now);
    const behind = new Set(message.behind);
    for (const element of document.querySelectorAll("body [data-live]")) {
      if (!behind.has(element.id)) place.asof.set(element.id, message.cursor);
    }
  },
  state(message) {
    away = message.feed === "away";
    if (away) showBar("stale", `Iris cannot reach its database – ${asOf(new Date())}; retrying`);
    else alive();
  },
};

function resync(message) {
  place.cursor = message.cursor;
  tell("live:resync", {});
}

function tell(name, detail) {
  document.dispatchEvent(new CustomEvent(name, { detail }));
}

// Cursors are `<transaction>-<id>` or `<id>`.
function isAfter(one, other) {
  const [a, b] = [one, other].map((text) => text.split("-").map(BigInt));
  if (a.length !== b.length) return true;
  return a.length === 1 ? a[0] > b[0] : a[0] > b[0] || (a[0] === b[0] && a[1] > b[1]);
}

function alive() {
  clearTimeout(grace);
  grace = 0;
  quiet = false;
  setState("on");
  if (!away) hideBar();
}

function closed({ code, reason }) {
  if (reason === "removed") return;
  if (FINAL.has(code)) return finish(code);
  if (resting) return setState("resting");
  const since = heardAt;
  setState("off");
  grace ||= setTimeout(() => showBar("lost", `Connection lost – ${asOf(since)}; retrying`), GRACE_MS);
  setTimeout(open, REOPEN_MS);
}

function finish(code) {
  ended = true;
  clearTimeout(grace);
  setState("off");
  const here = location.pathname + location.search;
  const login = ["Log in", `${live.dataset.liveLogin}?next=${encodeURIComponent(here)}`];
  const again = ["Reload the page", here];
  if (code === 4401) showBar("ended", `Your session has ended – ${asOf(heardAt)}.`, login);
  else if (code === 4403) showBar("ended", "What you may do has changed.", again);
  else showBar("ended", `This page is older than the server – ${asOf(heardAt)}.`, again);
}

function visibilityChanged() {
  clearTimeout(rest);
  if (document.hidden) {
    rest = setTimeout(goToRest, REST_AFTER_MS);
  } else if (resting || !connection) {
    resting = false;
    open();
  }
}

function goToRest() {
  resting = true;
  clearTimeout(grace);
  grace = 0;
  setState("resting");
  connection?.socket?.close(1000);
}

// A connection can be dead without anybody saying so: the server gives a sign of life every few seconds.
function watch() {
  if (resting || ended || connection?.socket?.readyState !== WebSocket.OPEN) return;
  const silence = Date.now() - heardAt;
  if (silence > SILENCE_MS) return connection.socket.close(4000);
  if (away || silence < QUIET_MS) return;
  quiet = true;
  showBar("lost", `No word from Iris – ${asOf(heardAt)}; waiting`);
}

function setState(state) {
  document.documentElement.dataset.live = state;
}
