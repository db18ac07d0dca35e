// The plots of the page of statistics, as SVG: what was seen, what is expected, and the band of two standard errors.

import { svgElement } from "./terminal.js";
import { whole } from "./translation.js";

const WIDTH = 380;
const HEIGHT = 190;
const LEFT = 40;
const TOP = 10;
const BASE = HEIGHT - 36;
// How wide a band is, in standard errors; and how far a row's scale reaches.
const BAND = 2;
const ROW_ERRORS = 4;
const ROW = { width: 160, height: 26 };

function frame(name, title, width = WIDTH, height = HEIGHT) {
  const about = { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title, "data-testid": `plot-${name}` };
  return svgElement("svg", about);
}

/** A round number not below `highest`, for the top of a scale. */
function scaleTop(highest) {
  const step = 10 ** Math.floor(Math.log10(Math.max(1, highest)));
  return [1, 2, 3, 4, 5, 6, 8, 10].map((times) => times * step).find((top) => top >= highest);
}

function scale(plot, top, width = WIDTH) {
  for (const value of [0, top / 2, top]) {
    const y = BASE - ((BASE - TOP) * value) / top;
    plot.append(
      svgElement("line", { x1: LEFT, y1: y, x2: width, y2: y, class: value === 0 ? "axis" : "grid" }),
      svgElement("text", { x: LEFT - 5, y: y + 4, class: "scale" }, whole(value)),
    );
  }
}

/** One bar for each count, with what is expected of it; one that lies outside its band is marked. */
export function countPlot(name, title, counts) {
  const plot = frame(name, title);
  const highest = Math.max(...counts.map(({ seen, expected, error }) => Math.max(seen, expected + BAND * error)));
  const top = scaleTop(highest);
  const height = (value) => ((BASE - TOP) * Math.max(0, value)) / top;
  const step = (WIDTH - LEFT) / counts.length;
  scale(plot, top);
  counts.forEach(({ what, seen, expected, error }, place) => {
    const left = LEFT + step * place;
    const [low, high] = [expected - BAND * error, expected + BAND * error];
    const outside = seen < low || seen > high;
    plot.append(
      svgElement("rect", {
        x: left + step * 0.2,
        y: BASE - height(seen),
        width: step * 0.6,
        height: height(seen),
        class: outside ? "bar outside" : "bar",
        "data-what": what,
        "data-seen": seen,
        "data-outside": String(outside),
      }),
      svgElement("rect", {
        x: left + step * 0.06,
        y: BASE - height(high),
        width: step * 0.88,
        height: height(high) - height(low),
        class: "band",
      }),
      svgElement("line", {
        x1: left + step * 0.06,
        y1: BASE - height(expected),
        x2: left + step * 0.94,
        y2: BASE - height(expected),
        class: "due",
      }),
      svgElement("text", { x: left + step / 2, y: BASE + 16, class: "label" }, what),
      svgElement("text", { x: left + step / 2, y: BASE + 31, class: "count" }, whole(seen)),
    );
  });
  return plot;
}

/** Rolls an hour, a bar for each stretch of time, with lines as far as two standard errors. */
export function pacePlot(name, title, paces, label) {
  const width = 2 * WIDTH;
  const plot = frame(name, title, width);
  const top = scaleTop(Math.max(...paces.map(({ an_hour, error }) => an_hour + BAND * (error ?? 0))));
  const height = (value) => ((BASE - TOP) * Math.max(0, value)) / top;
  // One hour's bar is no wall.
  const step = Math.min((width - LEFT) / paces.length, 60);
  // As many labels as have room.
  const every = Math.ceil(70 / step);
  scale(plot, top, width);
  paces.forEach(({ an_hour: rate, error, at }, place) => {
    const middle = LEFT + step * (place + 0.5);
    plot.append(
      svgElement("rect", {
        x: middle - step * 0.3,
        y: BASE - height(rate),
        width: step * 0.6,
        height: height(rate),
        class: "bar",
      }),
    );
    if (error !== null) {
      const [low, high] = [BASE - height(rate - BAND * error), BASE - height(rate + BAND * error)];
      plot.append(svgElement("line", { x1: middle, y1: low, x2: middle, y2: high, class: "whisker" }));
    }
    if (place % every === 0) plot.append(svgElement("text", { x: middle, y: BASE + 16, class: "label" }, label(at)));
  });
  return plot;
}

/** What was won in the course of the rolls, with what was expected and its band. */
export function coursePlot(name, title, course) {
  const width = 2 * WIDTH;
  const plot = frame(name, title, width);
  const points = [{ rolls: 0, won: 0, expected: 0, error: 0 }, ...course];
  const last = points.at(-1).rolls;
  const values = points.flatMap(({ won, expected, error }) => [won, expected + BAND * error, expected - BAND * error]);
  const [lowest, highest] = [Math.min(...values), Math.max(...values, 1)];
  const x = ({ rolls }) => LEFT + 20 + ((width - LEFT - 30) * rolls) / Math.max(1, last);
  const y = (value) => BASE - ((BASE - TOP) * (value - lowest)) / (highest - lowest);
  const way = (worth) => points.map((point) => `${x(point).toFixed(1)},${y(worth(point)).toFixed(1)}`);
  const upper = way(({ expected, error }) => expected + BAND * error);
  const lower = way(({ expected, error }) => expected - BAND * error);
  // The scale's own ends, and nothing where two would lie over each other.
  const marks = [lowest, 0, highest].filter((value) => value === 0 || Math.abs(y(value) - y(0)) > 14);
  plot.append(
    svgElement("polygon", { points: [...upper, ...lower.reverse()].join(" "), class: "band" }),
    svgElement("line", { x1: LEFT + 20, y1: y(0), x2: width - 10, y2: y(0), class: "axis" }),
    ...marks.map((value) => svgElement("text", { x: LEFT + 14, y: y(value) + 4, class: "scale" }, whole(Math.round(value)))),
    svgElement("polyline", { points: way(({ expected }) => expected).join(" "), class: "due" }),
    svgElement("polyline", { points: way(({ won }) => won).join(" "), class: "won" }),
    svgElement("text", { x: LEFT + 20, y: BASE + 18, class: "label" }, whole(0)),
    svgElement("text", { x: width - 10, y: BASE + 18, class: "scale" }, whole(last)),
  );
  return plot;
}

/** How many standard errors something is off, on a scale that is the same for every row; beyond it, an arrow. */
export function rowPlot(errors) {
  const { width, height } = ROW;
  const plot = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, class: "row-plot", "aria-hidden": "true" });
  const middle = height / 2;
  const x = (value) => width / 2 + (value * (width / 2 - 10)) / ROW_ERRORS;
  const within = Math.max(-ROW_ERRORS, Math.min(ROW_ERRORS, errors));
  const outside = Math.abs(errors) > BAND ? " outside" : "";
  plot.append(
    svgElement("rect", { x: x(-BAND), y: 3, width: x(BAND) - x(-BAND), height: height - 6, class: "band" }),
    svgElement("line", { x1: x(0), y1: 3, x2: x(0), y2: height - 3, class: "due" }),
  );
  if (within === errors) plot.append(svgElement("circle", { cx: x(within), cy: middle, r: 6, class: `mark${outside}` }));
  else {
    const [tip, back] = [x(within) + Math.sign(errors) * 8, x(within) - Math.sign(errors) * 5];
    plot.append(svgElement("polygon", { points: `${tip},${middle} ${back},3 ${back},${height - 3}`, class: `mark${outside}` }));
  }
  return plot;
}
