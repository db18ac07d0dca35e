// What a step of a commissioning is about, as a drawing: where the puck goes, what is pressed, opened or unplugged.

import { drawDie, svgElement } from "./terminal.js";
import { t } from "./translation.js";

const BOXES = [
  ["4", "4"],
  ["5", "5"],
  ["6", t("SIX")],
  ["8", "8"],
  ["9", t("NINE")],
  ["10", "10"],
];
const BOX = 48;

const text = (x, y, said, more = {}) => svgElement("text", { x, y, ...more }, said);

/** A puck with this face up. */
function disc(x, y, face) {
  return svgElement("g", { class: "disc", "data-face": face }, svgElement("circle", { cx: x, cy: y, r: 21 }), text(x, y + 5, face));
}

function layout({ place, face }) {
  const parts = [];
  const spot = (x, y, name, words) => {
    const here = name === place;
    parts.push(svgElement("rect", { x, y, width: BOX - 3, height: 84, rx: 5, class: here ? "here" : "" }), text(x + BOX / 2 - 1, y + 20, words));
    if (here) parts.push(disc(x + BOX / 2 - 1, y + 55, face));
  };
  spot(0, 0, "off", "OFF");
  BOXES.forEach(([name, words], index) => spot(index * BOX, 104, name, words));
  return parts;
}

/** A button or lamp with the words that stand on it. */
function knob(now, words) {
  const lamp = now.kind === "lamp";
  const rays = Array.from({ length: 12 }, (_, ray) =>
    svgElement("line", { x1: 0, y1: -78, x2: 0, y2: -92, transform: `translate(144 95) rotate(${ray * 30})` }),
  );
  const arrow = now.wanted === "open" ? "M144 20 l-14 18 h28 z" : "M144 38 l-14 -18 h28 z";
  return [
    ...(lamp ? rays : [svgElement("path", { d: arrow })]),
    svgElement("circle", { cx: 144, cy: lamp ? 95 : 110, r: 62, class: lamp ? "lit" : "here" }),
    text(144, lamp ? 108 : 123, words, { class: lamp ? "big lit" : "big" }),
  ];
}

/** The words that stand on a button or a dice key. */
const onKnob = (step) => /_(\d+)$/.exec(step)?.[1] ?? step.replace("lamp_", "").toUpperCase();

function slot({ step, wanted }) {
  const number = Number(/\d+$/.exec(step)[0]);
  const parts = [];
  for (let each = 1; each <= Math.max(6, number); each++) {
    const x = ((each - 1) % 4) * 72;
    const y = Math.floor((each - 1) / 4) * 96;
    parts.push(svgElement("rect", { x, y, width: 66, height: 88, rx: 6, class: each === number ? "here" : "" }), text(x + 33, y + 18, each));
    if (each !== number || wanted === "closed") {
      const die = drawDie(((each - 1) % 6) + 1);
      for (const [name, value] of Object.entries({ x: x + 11, y: y + 30, width: 44, height: 44 })) die.setAttribute(name, value);
      parts.push(die);
    }
  }
  return parts;
}

/** The reserve from the side with its lid, or the cabinet from above with its door. */
function closure({ step, wanted }) {
  const [x, y, turn] = step === "lid" ? [44, 98, -32] : [44, 120, 32];
  const box = step === "lid" ? { x: 44, y: 100, width: 200, height: 84 } : { x: 44, y: 34, width: 200, height: 84 };
  const swing = wanted === "open" ? `rotate(${turn} ${x} ${y})` : "";
  return [
    svgElement("rect", { ...box, rx: 6 }),
    svgElement("line", { x1: x, y1: y, x2: x + 200, y2: y, class: "cover", transform: swing }),
  ];
}

function cable({ wanted }, words) {
  const gap = wanted === "plugged" ? 0 : 44;
  return [
    svgElement("rect", { x: 10, y: 60, width: 110, height: 76, rx: 8 }),
    text(65, 106, words, { class: "word" }),
    svgElement("path", { d: `M${124 + gap} 84 h26 v28 h-26 z`, class: "here" }),
    svgElement("path", { d: `M${150 + gap} 98 h${138 - gap}`, class: "wire" }),
    svgElement("path", { d: wanted === "plugged" ? "M150 150 l18 -12 v24 z" : "M186 150 l-18 -12 v24 z" }),
  ];
}

const PICTURES = {
  puck: layout,
  turned: layout,
  press: (now) => knob(now, onKnob(now.step)),
  lamp: (now) => knob(now, onKnob(now.step)),
  slot,
  closure,
  node: (now) => cable(now, "I/O"),
  network: (now) => cable(now, "LAN"),
  power: (now) => cable(now, "10 s"),
};

/** The drawing for what is waited for now. */
export const picture = (now) => svgElement("svg", { viewBox: "-4 -4 296 204" }, ...PICTURES[now.kind](now));
