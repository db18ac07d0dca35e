// Are the dice fair? What each set showed against what chance gives, as bars. Nothing waits for it.

import { TEXT } from "./console_text.js";
import { button, render } from "./console_state.js";
import { addDicePage, drawPart } from "./dice_dialog.js";
import { element, get, svgElement } from "./terminal.js";

const WIDTH = 320;
const HEIGHT = 170;
const LEFT = 30;
const BOTTOM = 34;
const TOP = 8;

// The terminal reads its whole journal for it, and gives up after so long.
const READ_FOR_MS = 120000;

let told = null; // the sets as the terminal told of them
let answered = true;
let chosen = null;
let turn = 0; // which opening of the page reads

async function read() {
  turn += 1;
  const mine = turn;
  const answer = await get("/api/dice/fairness", { forMs: READ_FOR_MS }).catch(() => null);
  if (mine !== turn) return;
  answered = answer !== null;
  told = answer?.sets ?? told;
  render();
}

/** Bars as high as observed, a line across each where chance expects it. */
function bars(name, title, observed, expected) {
  const labels = Object.keys(observed);
  const highest = Math.max(1, ...labels.map((label) => Math.max(observed[label], expected[label])));
  const step = (WIDTH - LEFT) / labels.length;
  const base = HEIGHT - BOTTOM;
  const height = (count) => ((base - TOP) * count) / highest;
  const plot = svgElement("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: "img",
    "aria-label": title,
    "data-testid": `bars-${name}`,
  });
  plot.append(
    svgElement("text", { x: LEFT - 4, y: TOP + 8, class: "scale" }, Math.round(highest)),
    svgElement("text", { x: LEFT - 4, y: base, class: "scale" }, 0),
  );
  plot.append(svgElement("line", { x1: LEFT, y1: base, x2: WIDTH, y2: base, class: "axis" }));
  labels.forEach((label, index) => {
    const left = LEFT + step * index;
    const seen = height(observed[label]);
    const due = base - height(expected[label]);
    plot.append(
      svgElement("rect", {
        x: left + step * 0.14,
        y: base - seen,
        width: step * 0.72,
        height: seen,
        "data-label": label,
        "data-observed": observed[label],
      }),
      svgElement("line", { x1: left + step * 0.04, y1: due, x2: left + step * 0.96, y2: due, class: "due" }),
      svgElement("text", { x: left + step / 2, y: base + 15, class: "label" }, label),
      svgElement("text", { x: left + step / 2, y: base + 29, class: "count" }, observed[label]),
    );
  });
  return element("figure", {}, element("figcaption", {}, title), plot);
}

function setParts(set) {
  return [
    element(
      "p",
      { class: "verdict", "data-testid": "verdict", "data-advisory": String(set.advisory) },
      set.advisory ? element("b", {}, TEXT.dice.advisory) : null,
      element("span", {}, TEXT.dice.rolls_of(set.rolls, set.set)),
      element("span", {}, set.verdict),
    ),
    element(
      "div",
      { class: "plots" },
      bars("faces", TEXT.dice.faces, set.faces, set.expected.faces),
      bars("totals", TEXT.dice.totals, set.totals, set.expected.totals),
    ),
  ];
}

function renderFairness() {
  drawPart("fair", [told, answered, chosen], () => {
    if (!answered) return [element("p", { class: "empty" }, TEXT.dice.fairness_silent)];
    if (told === null) return [element("p", { class: "empty" }, TEXT.dice.fairness_reading)];
    if (told.length === 0) return [element("p", { class: "empty" }, TEXT.dice.no_rolls)];
    const set = told.find((one) => one.set === chosen) ?? told[0];
    const choose = (name) => {
      chosen = name;
      render();
    };
    return [
      told.length > 1
        ? element(
            "div",
            { class: "fields scrolled" },
            ...told.map((one) =>
              button(
                `fair-${one.set}`,
                element("span", {}, TEXT.dice.set_named(one.set), one.advisory ? element("em", {}, "!") : null),
                () => choose(one.set),
                { pressed: one === set, className: "named" },
              ),
            ),
          )
        : null,
      ...setParts(set),
      element("p", { class: "hint" }, TEXT.dice.fair_says),
    ];
  });
}

export function buildFairness() {
  addDicePage("fair", { enter: read, render: renderFairness });
}
