// The virtual table: the hardware's place taken by a page. What it sends goes through the same decoders as real signals,
// so it shows what the terminal saw (GET /api/virtual), not what was touched.

import { drawDie, element, followState, get, svgElement } from "./terminal.js";

// Every word on the screen that does not come from the terminal.
const TEXT = {
  title: "Virtual table",
  to_console: "Boxman's console",
  console: "On the console",
  buttons: "Bet-status buttons",
  reserve: "Dice reserve",
  keys: "Dice keys",
  flip: "Flip the puck",
  lift: "Lift the puck",
  in_hand: (face) => `In the hand, ${face} up`,
  lies: (place, face) => `On ${place}, ${face} up`,
  on: "ON",
  off: "OFF",
  buy: "BUY",
  lay: "LAY",
  off_place: "OFF place",
  layout: { 4: "4", 5: "5", 6: "SIX", 8: "8", 9: "NINE", 10: "10" },
  pass_line: "PASS LINE",
  come: "COME",
  field: "FIELD",
  lid_open: "Lid open: touch to shut",
  lid_closed: "Lid shut: touch to open",
  hold_1: "Hold 1: take back",
  hold_2: "Hold 2: new shooter",
  come_out: "Come-out",
  point: "Point",
  roll_number: (number, total) => `Roll ${number}: ${total}`,
  first_die: "First die",
  no_roll_yet: "No roll yet",
  offline: "The terminal does not answer.",
  failed: "The terminal did not take it.",
};

const BOXES = [4, 5, 6, 8, 9, 10];
const STATUS = ["on", "off", "buy", "lay"];
const PRESS_MS = 80;
// The keys answer to a hold of two seconds; a little more leaves no doubt.
const HOLD_MS = 2200;
const TOUCH_HOLD_MS = 2000;
// The puck and the lamps have no stream of their own: they are read after each change of state and this often.
const LOOK_EVERY_MS = 1000;

const byId = (id) => document.getElementById(id);
let table = null;
let looking = false;
let lookAgain = false;

/** Reads the hardware's state, one reading at a time; what is asked for meanwhile is read once more afterwards. */
async function look() {
  lookAgain = true;
  if (looking) return;
  looking = true;
  while (lookAgain) {
    lookAgain = false;
    try {
      table = await get("/api/virtual");
      render();
    } catch {
      // The red bar of followState() says that the terminal is away.
    }
  }
  looking = false;
}

/** Sends one act of the hand. It is not repeated: a press that was perhaps felt must not be pressed again. */
async function doAct(what) {
  try {
    const answer = await fetch("/api/virtual", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(what),
    });
    if (!answer.ok) notice((await answer.json()).message ?? TEXT.failed);
  } catch {
    notice(TEXT.failed);
  }
  look();
}

/** The ring that fills while `node` is held for `ms`; done() ends it early. */
function showHold(node, ms) {
  const circle = svgElement("circle", { cx: 20, cy: 20, r: 16, pathLength: 100 });
  circle.style.animationDuration = `${ms}ms`;
  const ring = svgElement("svg", { class: "ring", viewBox: "0 0 40 40", "aria-hidden": true }, circle);
  node.append(ring);
  node.setAttribute("data-holding", "");
  return () => {
    ring.remove();
    if (node.querySelector(".ring") === null) node.removeAttribute("data-holding");
  };
}

/** Holds a dice key for as long as it takes to be felt; answers when it is released again. */
async function holdKey(node, value) {
  const done = showHold(node, HOLD_MS);
  await doAct({ dice_key: value, hold_ms: HOLD_MS });
  done();
}

function notice(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = false;
}

function putPuck(position, face = null) {
  const puck = { position, face: face ?? table?.puck.face ?? "off" };
  doAct({ puck });
}

const faceText = (face) => TEXT[face];

function drawLayout() {
  const layout = byId("layout");
  layout.append(svgElement("rect", { class: "felt", x: 0, y: 0, width: 760, height: 300, rx: 26 }));
  const place = (position, x, y, width, height, words) => {
    const spot = svgElement(
      "g",
      {
        class: "place",
        "data-testid": `virtual-puck-${position}`,
        "data-position": position,
        role: "button",
        tabindex: 0,
        "aria-label": words,
        "data-puck": "",
      },
      svgElement("rect", { x, y, width, height, rx: 6 }),
      svgElement("text", { x: x + width / 2, y: y + 34 }, words),
      svgElement(
        "g",
        { class: "disc", transform: `translate(${x + width / 2} ${y + height - 44})` },
        svgElement("circle", { r: 34 }),
        svgElement("text", { y: 8 }),
      ),
    );
    spot.addEventListener("click", () => putPuck(position, position === "off" ? "off" : "on"));
    spot.addEventListener("keydown", (event) => {
      if (event.key === "Enter") putPuck(position, position === "off" ? "off" : "on");
    });
    layout.append(spot);
  };
  place("off", 16, 16, 112, 136, TEXT.off_place);
  BOXES.forEach((box, index) => place(box, 136 + index * 102, 16, 98, 136, TEXT.layout[box]));
  const strip = (y, words) =>
    layout.append(
      svgElement("rect", { class: "strip", x: 16, y, width: 728, height: 36, rx: 6 }),
      svgElement("text", { class: "strip-text", x: 380, y: y + 25 }, words),
    );
  strip(160, TEXT.come);
  strip(202, TEXT.field);
  strip(248, TEXT.pass_line);
}

function render() {
  const { puck, lid, lamps } = table;
  for (const spot of document.querySelectorAll(".place")) {
    const here = String(puck.position) === spot.dataset.position;
    spot.dataset.puck = here ? puck.face : "";
    spot.querySelector(".disc text").textContent = here ? faceText(puck.face) : "";
  }
  byId("in-hand").textContent =
    puck.position === null
      ? TEXT.in_hand(faceText(puck.face))
      : TEXT.lies(puck.position === "off" ? TEXT.off_place : puck.position, faceText(puck.face));
  for (const key of document.querySelectorAll("[data-press]"))
    key.dataset.lamp = String(lamps[key.dataset.press] ?? false);
  byId("lid").dataset.lid = lid;
  byId("lid").textContent = TEXT[`lid_${lid}`];
}

function renderLive(state) {
  byId("phase").textContent = TEXT[state.phase];
  byId("point").textContent = state.point ?? "";
  byId("live-phase").dataset.phase = state.phase;
  const last = state.last_roll;
  byId("last-roll").replaceChildren(
    ...(last ? last.dice.map(drawDie) : []),
    element("span", {}, last ? TEXT.roll_number(last.number, last.total) : TEXT.no_roll_yet),
    ...(state.pending_die ? [element("span", { class: "pending" }, TEXT.first_die), drawDie(state.pending_die)] : []),
  );
  byId("alerts").replaceChildren(
    ...state.alerts.map((alert) => element("li", { "data-code": alert.code }, alert.text)),
  );
}

function pressButton(name, words) {
  return element(
    "button",
    {
      type: "button",
      "data-testid": `virtual-button-${name}`,
      "data-press": name,
      "data-lamp": "false",
      onclick: () => doAct({ press: name, hold_ms: PRESS_MS }),
    },
    words,
  );
}

/** A dice key: a touch presses it, a touch of two seconds holds it. */
function diceKey(value) {
  const key = element(
    "button",
    { type: "button", "data-testid": `virtual-key-${value}`, class: "dice-key", "aria-label": value },
    drawDie(value),
  );
  let timer = 0;
  let held = false;
  let done = () => {};
  key.addEventListener("pointerdown", () => {
    held = false;
    done = showHold(key, TOUCH_HOLD_MS);
    timer = setTimeout(() => {
      held = true;
      done();
      holdKey(key, value);
    }, TOUCH_HOLD_MS);
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"])
    key.addEventListener(end, () => {
      clearTimeout(timer);
      done();
    });
  key.addEventListener("click", () => {
    if (!held) doAct({ dice_key: value, hold_ms: PRESS_MS });
    held = false;
  });
  return key;
}

function build() {
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = TEXT[node.dataset.text];
  drawLayout();
  byId("status-buttons").append(...STATUS.map((name) => pressButton(name, TEXT[name])));
  byId("box-buttons").append(...BOXES.map((box) => pressButton(`box_${box}`, String(box))));
  byId("keys").append(...[1, 2, 3, 4, 5, 6].map(diceKey));
  const on = (id, doIt) => byId(id).addEventListener("click", doIt);
  on("flip", () => table && putPuck(table.puck.position, table.puck.face === "on" ? "off" : "on"));
  on("lift", () => table && putPuck(null));
  on("lid", () => table && doAct({ lid: table.lid === "open" ? "closed" : "open" }));
  for (const value of [1, 2])
    on(`hold-${value}`, () => {
      if (!byId(`hold-${value}`).hasAttribute("data-holding")) holdKey(byId(`hold-${value}`), value);
    });
  on("notice", () => {
    byId("notice").hidden = true;
  });
  document.addEventListener("contextmenu", (event) => event.preventDefault());
}

build();
look();
setInterval(look, LOOK_EVERY_MS);
followState({
  onState: (state) => {
    renderLive(state);
    look();
  },
  onReach: (reachable) => {
    byId("offline").hidden = reachable;
  },
});
