// Adds drawn charts to a page: fetched as JSON, brought up to date when the page is, never under a reader.

import { momentOf, valueOf } from "./legend.js";
import { colour, token } from "./tokens.js";
import uPlot from "../vendor/uplot/uPlot.esm.js";

const HOST = "[data-charts]";
const HEIGHT = 208;
const EVERY_MS = 5000;
const TIME = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const DATE = { month: "short", day: "numeric" };
const CLOCK = new Intl.DateTimeFormat(undefined, TIME);
const DAY = new Intl.DateTimeFormat(undefined, DATE);
const MOMENT = new Intl.DateTimeFormat(undefined, { ...DATE, ...TIME, second: "2-digit" });
const host = document.querySelector(HOST);
// Name of a chart -> {plot, element}.
const charts = new Map();
let shown = null;
let fetchedAt = 0;
let due = 0;
let asking = false;
let zoomed = false;

function axis(more) {
  const grid = { stroke: colour("--line"), width: 1 };
  return { stroke: colour("--text-2"), grid, ticks: grid, font: `11px ${token("--font")}`, ...more };
}

function lineOf({ label, color, unit, dash, step, fill }) {
  const told = unit ? (unit.startsWith("/") ? unit : ` ${unit}`) : "";
  return {
    label,
    stroke: colour(color),
    width: dash ? 1.5 : 2,
    dash: dash ? [5, 4] : undefined,
    fill: fill ? `color-mix(in srgb, ${colour(color)} 16%, transparent)` : undefined,
    paths: step ? uPlot.paths.stepped({ align: 1 }) : undefined,
    points: { show: false },
    spanGaps: false,
    value: valueOf(told),
  };
}

// Zero is on every scale, and a line that lies above the data (a target, a maximum) is not far off.
function heights(_plot, _low, high) {
  return [0, Math.max(1, (high ?? 0) * 1.08)];
}

// Hours of the day, as times are written elsewhere; days where the marks are that far apart.
function momentsOf(_plot, marks, _axis, _space, apart) {
  const form = apart >= 43200 ? DAY : CLOCK;
  return marks.map((seconds) => form.format(new Date(seconds * 1000)));
}

// Replicas and slices are whole things.
const WHOLE = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power));

// A line at each moment when a person did something; which is which stands below the charts.
function drawMarks(plot) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = colour("--accent");
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const { at } of shown.marks) {
    const left = plot.valToPos(at, "x", true);
    if (left < bbox.left) continue;
    ctx.beginPath();
    // What was done after the newest point stands at its edge, unless the reader looks at an earlier time.
    const edge = bbox.left + bbox.width;
    if (left > edge && zoomed) continue;
    ctx.moveTo(Math.min(left, edge), bbox.top);
    ctx.lineTo(Math.min(left, edge), bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

function optionsOf(element, chart) {
  return {
    width: element.clientWidth,
    height: HEIGHT,
    cursor: { sync: { key: "charts" }, drag: { x: true, y: false }, points: { size: 6 } },
    scales: { y: { range: heights } },
    axes: [axis({ size: 32, space: 64, values: momentsOf }), axis({ size: 46, ...(chart.whole && { incrs: WHOLE }) })],
    series: [{ label: "at", value: momentOf("{HH}:{mm}:{ss}") }, ...chart.series.map(lineOf)],
    hooks: { draw: [drawMarks], setSelect: [(plot) => plot.select.width > 0 && zoomTo(plot)] },
  };
}

// What one chart is zoomed to, all are: they show the same time.
function zoomTo(plot) {
  const [from, to] = [plot.posToVal(plot.select.left, "x"), plot.posToVal(plot.select.left + plot.select.width, "x")];
  if (!(to > from)) return;
  zoomed = true;
  for (const { plot: each } of charts.values()) each.setScale("x", { min: from, max: to });
  for (const element of host.querySelectorAll("[data-plot]")) addWayBack(element);
}

function addWayBack(element) {
  if (element.querySelector(".back")) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button small back";
  button.textContent = "Whole range";
  button.addEventListener("click", zoomOut);
  element.append(button);
}

function zoomOut() {
  zoomed = false;
  for (const button of host.querySelectorAll(".back")) button.remove();
  if (shown) draw(shown);
  refresh();
}

function draw(data) {
  shown = data;
  say(data.note, data.away);
  nameMarks(data.marks);
  for (const [name, chart] of Object.entries(data.charts)) {
    const element = host.querySelector(`[data-plot="${name}"]`);
    const caption = host.querySelector(`[data-summary="${name}"]`);
    if (caption.textContent !== chart.summary) caption.textContent = chart.summary;
    drawOne(name, element, chart, [data.x, ...chart.series.map((line) => line.values)]);
  }
}

function nameMarks(marks) {
  const place = host.querySelector("[data-chart-marks]");
  place.hidden = !marks.length;
  place.querySelector("ul").replaceChildren(...marks.map(nameOf));
}

function nameOf({ at, label, by, address }) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = address;
  link.textContent = label;
  item.append(MOMENT.format(new Date(at * 1000)), " ", link, ` by ${by}`);
  return item;
}

// The same lines take over new points; other lines (a target came or went) are a new chart.
function drawOne(name, element, chart, points) {
  if (!element.clientWidth) return;
  const labels = chart.series.map((line) => line.label).join();
  const known = charts.get(name);
  if (known?.labels === labels) {
    known.plot.setData(points);
    return;
  }
  known?.plot.destroy();
  charts.set(name, { labels, plot: new uPlot(optionsOf(element, chart), points, element) });
}

function redraw() {
  for (const { plot } of charts.values()) plot.destroy();
  charts.clear();
  if (shown) draw(shown);
}

function say(text, isTrouble) {
  const note = host.querySelector("[data-chart-note]");
  note.dataset.tone = isTrouble ? "warn" : "";
  if (note.textContent !== text) note.textContent = text;
}

function isBeingRead() {
  return zoomed || host.matches(":hover") || document.hidden;
}

// At most every EVERY_MS, and not while somebody points at a chart or has zoomed into it.
function refresh() {
  clearTimeout(due);
  const wait = fetchedAt + EVERY_MS - Date.now();
  if (wait > 0) due = setTimeout(refresh, wait);
  else if (!asking && !isBeingRead()) load();
}

async function load() {
  asking = true;
  fetchedAt = Date.now();
  try {
    const answer = await fetch(host.dataset.charts, { headers: { Accept: "application/json" } });
    const isJson = answer.headers.get("Content-Type")?.includes("json");
    if (answer.ok && isJson) draw(await answer.json());
    else say(isJson ? (await answer.json()).problem : "The charts could not be loaded. Reload the page to try again.", true);
  } catch {
    say(shown ? "The charts are as they were: the server did not answer." : "The charts could not be loaded: the server did not answer.", true);
  } finally {
    asking = false;
  }
}

function resize() {
  for (const [name, { plot }] of charts) {
    const width = host.querySelector(`[data-plot="${name}"]`).clientWidth;
    if (width && plot.width !== width) plot.setSize({ width, height: HEIGHT });
  }
  if (shown && !charts.size) draw(shown);
}

if (host) {
  load();
  // A fragment of the page was rendered again: that is when there is something new to draw.
  document.addEventListener("live:changed", refresh);
  document.addEventListener("live:resync", refresh);
  host.addEventListener("pointerleave", refresh);
  host.addEventListener("dblclick", zoomOut);
  new ResizeObserver(resize).observe(host);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}
