// What a chart's legend says: the values under the pointer, and the latest ones where nothing is pointed at.

import uPlot from "../vendor/uplot/uPlot.esm.js";

// For a line; `told` stands behind the number.
export function valueOf(told) {
  return (plot, value, line, index) => {
    const shown = index == null ? plot.data?.[line]?.at(-1) : value;
    return shown == null ? "–" : `${shown}${told}`;
  };
}

// For the time; `form` as uPlot writes it.
export function momentOf(form) {
  const written = uPlot.fmtDate(form);
  return (_plot, seconds) => (seconds == null ? "latest" : written(new Date(seconds * 1000)));
}
