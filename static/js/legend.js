// What a chart's legend says: the values under the pointer, and the latest ones where nothing is pointed at.

import uPlot from "../vendor/uplot/uPlot.esm.js";

// For a line; `told` stands behind the number.
export function valueOf(told) {
  return (plot, value, line, index) => {
    const shown = index == null ? latestOf(plot.data?.[line]) : value;
    return shown == null ? "–" : `${shown}${told}`;
  };
}

// The newest point may not be known yet: a step of the chart has just begun.
function latestOf(values) {
  return values?.at(-1) ?? values?.at(-2);
}

// For the time; `form` as uPlot writes it.
export function momentOf(form) {
  const written = uPlot.fmtDate(form);
  return (plot, seconds) => {
    const newest = latestOf(plot.data?.[0]);
    if (seconds == null && newest == null) return "–";
    return seconds == null ? `latest, ${written(new Date(newest * 1000))}` : written(new Date(seconds * 1000));
  };
}
