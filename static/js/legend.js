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

// The moment of the newest point of any line.
function newestOf([moments, ...lines]) {
  return lines.some((values) => values.at(-1) != null) ? moments.at(-1) : moments.at(-2);
}

// For the time; `form` as uPlot writes it.
export function momentOf(form) {
  const written = uPlot.fmtDate(form);
  return (plot, seconds) => {
    if (seconds != null) return written(new Date(seconds * 1000));
    const newest = plot.data?.length ? newestOf(plot.data) : null;
    return newest == null ? "–" : `latest, ${written(new Date(newest * 1000))}`;
  };
}
