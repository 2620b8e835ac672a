// Adds drawn charts beside their text summaries: data stands in the page as JSON, new points come over the socket.

import { momentOf, valueOf } from "./legend.js";
import { colour } from "./tokens.js";
import uPlot from "../vendor/uplot/uPlot.esm.js";

const HOST = "[data-chart]";
const HEIGHT = 200;
// Host element -> {plot, text: the JSON it was drawn from, data}.
const charts = new Map();

function addStyle() {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = new URL("../vendor/uplot/uPlot.min.css", import.meta.url).href;
  document.head.append(link);
}

function axis(more) {
  const grid = { stroke: colour("--line"), width: 1 };
  return { stroke: colour("--text-2"), grid, ticks: grid, ...more };
}

function seriesOf({ label, color, step, dash, fill, unit }) {
  return {
    label,
    stroke: colour(color),
    width: 2,
    dash,
    fill: fill ? `color-mix(in srgb, ${colour(color)} 18%, transparent)` : undefined,
    paths: step ? uPlot.paths.stepped({ align: 1 }) : undefined,
    points: { show: false },
    value: valueOf(unit ? ` ${unit}` : ""),
  };
}

function optionsOf(host, spec) {
  return {
    width: host.clientWidth,
    height: Number(host.dataset.chartHeight) || HEIGHT,
    cursor: { drag: { x: false, y: false } },
    legend: { live: true },
    scales: { y: { range: (_plot, low, high) => [Math.min(spec.min ?? low ?? 0, low ?? 0), Math.max(spec.max ?? 1, high ?? 1)] } },
    axes: [axis(), axis({ size: 48 })],
    series: [{ value: momentOf("{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}") }, ...spec.series.map(seriesOf)],
  };
}

function sourceOf(host) {
  return document.getElementById(host.dataset.chart)?.textContent ?? "";
}

function draw(host) {
  const text = sourceOf(host);
  if (!text || !host.clientWidth) return;
  const spec = JSON.parse(text);
  const data = [spec.x, ...spec.series.map((series) => series.values)];
  charts.get(host)?.plot.destroy();
  charts.set(host, { plot: new uPlot(optionsOf(host, spec), data, host), text, data });
}

// Draw what is new, take over changed data, forget what has left the page.
function refresh() {
  for (const [host, { plot }] of charts) {
    if (host.isConnected) continue;
    plot.destroy();
    charts.delete(host);
  }
  for (const host of document.querySelectorAll(HOST)) {
    if (!charts.has(host)) resizes.observe(host);
    if (charts.get(host)?.text !== sourceOf(host)) draw(host);
  }
}

function redrawAll() {
  for (const host of charts.keys()) draw(host);
}

// A sample's payload: {"chart": id of the host, "x": seconds, "values": one per series}.
function addSamples(samples) {
  for (const { payload } of samples) {
    const chart = charts.get(document.getElementById(payload.chart));
    if (!chart || payload.x <= (chart.data[0].at(-1) ?? -Infinity)) continue;
    const first = chart.data[0].length > 1 ? 1 : 0;
    chart.data = [payload.x, ...payload.values].map((value, index) => [...chart.data[index].slice(first), value]);
    chart.plot.setData(chart.data);
  }
}

const resizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const chart = charts.get(target);
    if (!chart) draw(target);
    else if (target.clientWidth && chart.plot.width !== target.clientWidth) {
      chart.plot.setSize({ width: target.clientWidth, height: chart.plot.height });
    }
  }
});

addStyle();
refresh();
document.addEventListener("live:changed", refresh);
document.addEventListener("live:samples", (event) => addSamples(event.detail.events));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
new MutationObserver(redrawAll).observe(document.documentElement, { attributeFilter: ["data-theme"] });
