// The virtual table: the hardware's place taken by a page. What it sends goes through the same decoders as real signals,
// so it shows what the terminal saw (GET /api/virtual), not what was touched.

import { drawDie, element, followState, get, svgElement } from "./terminal.js";
import { LANGUAGE, inLanguage, t, tn } from "./translation.js";
import { faultPanel } from "./virtual_faults.js";

// Every word on the screen that does not come from the terminal.
const TEXT = {
  title: t("Virtual table"),
  to_console: t("Boxman's console"),
  console: t("On the console"),
  buttons: t("Bet-status buttons"),
  reserve: t("Dice reserve"),
  keys: t("Dice keys"),
  flip: t("Flip the puck"),
  lift: t("Lift the puck"),
  in_hand: (face) => t("In the hand, {face} up", { face }),
  lies: (place, face) => t("On {place}, {face} up", { place, face }),
  on: "ON",
  off: "OFF",
  buy: "BUY",
  lay: "LAY",
  off_place: t("OFF place"),
  layout: { 4: "4", 5: "5", 6: t("SIX"), 8: "8", 9: t("NINE"), 10: "10" },
  puck_number: (number) => t("Puck {number}", { number }),
  slot: (number, occupied) => 
    occupied ? t("Slot {number}: a die", { number }) : t("Slot {number}: empty", { number }),
  faults: t("Faults"),
  faults_about: t("What can go wrong on a table, made on purpose. Mended, it is gone."),
  close: t("Close"),
  make: t("Make this fault"),
  active: t("Wrong just now"),
  none_active: t("Nothing. The table does as it should."),
  mend_all: t("Mend all"),
  lid_open: t("Lid open: touch to shut"),
  lid_closed: t("Lid shut: touch to open"),
  door_open: t("Door open: touch to shut"),
  door_closed: t("Door shut: touch to open"),
  hold_1: t("Hold 1: Correct"),
  hold_2: t("Hold 2: New shooter"),
  come_out: t("Come-out"),
  point: t("Point"),
  roll_number: (number, total) => t("Roll {number}: {total}", { number, total }),
  first_die: t("First die"),
  no_roll_yet: t("No roll yet"),
  offline: t("The terminal does not answer."),
  commissioned: t("The table is commissioned. This hand moves it all the same."),
  failed: t("The terminal did not take it."),
  not_taken: (subject, why) => `${subject}: ${why}`,
  subjects: {
    puck: t("Puck"),
    second_puck: t("Second puck"),
    press: t("Button"),
    lid: t("Lid"),
    dice_key: t("Dice key"),
    slot: t("Reserve place"),
    occupied: t("Reserve place"),
    fault: t("Fault"),
    mend: t("Mending"),
  },
  more_alerts: (count) => tn("1 more on the console", "{count} more on the console", count),
};

const BOXES = [4, 5, 6, 8, 9, 10];
// The bets whose places are drawn; as a layout does, they name them in capitals.
const STRIPS = ["come", "field", "pass_line"];
const STATUS = ["on", "off", "buy", "lay"];
// The dice keys that mean something else when they are held.
const HOLDS = [1, 2];
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
// The puck that the hand moves: 1, or 2 on a long table.
let hand = 1;
let alerts = []; // as the console shows them
const bar = { reachable: true, commissioned: false };
const faults = faultPanel(doAct);

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
    } catch ({ elsewhere }) {
      // Nothing answers, so nobody knows any more that the table is commissioned.
      if (!elsewhere) showBar({ commissioned: false });
    }
  }
  looking = false;
}

/** Says in the bar that the terminal is away, or what has taken its place. */
function showBar(changed) {
  Object.assign(bar, changed);
  byId("offline").hidden = bar.reachable && !bar.commissioned;
  byId("offline").toggleAttribute("data-commissioned", bar.commissioned);
  byId("offline").textContent = bar.commissioned ? TEXT.commissioned : TEXT.offline;
}

/** Sends one act of the hand. It is not repeated: a press that was perhaps felt must not be pressed again. */
async function doAct(what) {
  try {
    const answer = await fetch(inLanguage("/api/virtual"), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(what),
    });
    if (!answer.ok) notice(refusalText(await answer.json()));
  } catch {
    notice(TEXT.failed);
  }
  look();
}

/** What was not taken and why: the terminal names the part of the request, and a part of that after a dot. */
function refusalText({ field, message }) {
  if (!message) return TEXT.failed;
  const [part, ...inner] = (field ?? "").split(".");
  return TEXT.not_taken([TEXT.subjects[part] ?? part, ...inner].join(" "), message);
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
  // While the panel is open, nothing outside it can be touched.
  (byId("faults").open ? byId("faults") : document.body).append(byId("notice"));
  byId("notice").hidden = false;
}

const puckName = (number) => (number === 1 ? "puck" : "second_puck");
const handPuck = () => table?.[puckName(hand)];

function putPuck(position, face = null) {
  doAct({ [puckName(hand)]: { position, face: face ?? handPuck()?.face ?? "off" } });
}

function takeInHand(number) {
  hand = number;
  if (table) render();
}

const faceText = (face) => TEXT[face];

function drawLayout() {
  const layout = byId("layout");
  layout.append(svgElement("rect", { class: "felt", x: 0, y: 0, width: 760, height: 266, rx: 26 }));
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
      ...[1, 2].map((number) =>
        svgElement(
          "g",
          { class: "disc", "data-number": number, "data-face": "" },
          svgElement("circle", { r: 34 }),
          svgElement("text", { class: "face", y: 8 }),
          svgElement("text", { class: "number", y: 27 }, number),
        ),
      ),
    );
    spot.dataset.middle = `${x + width / 2} ${y + height - 44}`;
    spot.addEventListener("click", () => putPuck(position, position === "off" ? "off" : "on"));
    spot.addEventListener("keydown", (event) => {
      if (event.key === "Enter") putPuck(position, position === "off" ? "off" : "on");
    });
    layout.append(spot);
  };
  place("off", 16, 16, 112, 136, TEXT.off_place);
  BOXES.forEach((box, index) => place(box, 136 + index * 102, 16, 98, 136, TEXT.layout[box]));
  STRIPS.forEach((kind, index) => {
    const y = 160 + 32 * index;
    layout.append(
      svgElement("rect", { class: "strip", x: 16, y, width: 728, height: 26, rx: 6 }),
      svgElement("text", { class: "strip-text", "data-kind": kind, x: 380, y: y + 19 }),
    );
  });
}

/** Names the places of the layout as the rules of the table name the bets. */
async function nameStrips() {
  try {
    const { current, sets } = await get("/api/rules");
    const { bets } = sets.find(({ name }) => name === current);
    for (const strip of document.querySelectorAll(".strip-text"))
      strip.textContent = bets.find(({ kind }) => kind === strip.dataset.kind)?.name.toUpperCase() ?? "";
  } catch {
    setTimeout(nameStrips, LOOK_EVERY_MS);
  }
}

function render() {
  const { lid, door, lamps, slots } = table;
  const pucks = [table.puck, table.second_puck];
  const both = table.second_puck !== null;
  for (const spot of document.querySelectorAll(".place")) {
    const here = pucks.map((one) => one !== null && String(one.position) === spot.dataset.position);
    const [x, y] = spot.dataset.middle.split(" ").map(Number);
    pucks.forEach((one, index) => {
      const face = here[index] ? one.face : "";
      spot.dataset[index === 0 ? "puck" : "secondPuck"] = face;
      const disc = spot.querySelector(`.disc[data-number="${index + 1}"]`);
      disc.dataset.face = face;
      disc.querySelector(".face").textContent = face && faceText(face);
      disc.querySelector(".number").style.display = both ? "" : "none";
      const beside = here[0] && here[1] ? (index === 0 ? -23 : 23) : 0;
      disc.setAttribute("transform", `translate(${x + beside} ${y})${beside ? " scale(0.66)" : ""}`);
    });
  }
  byId("which").hidden = !both;
  for (const button of document.querySelectorAll("#which button"))
    button.setAttribute("aria-pressed", String(Number(button.dataset.number) === hand));
  const puck = handPuck();
  byId("in-hand").textContent =
    puck.position === null
      ? TEXT.in_hand(faceText(puck.face))
      : TEXT.lies(puck.position === "off" ? TEXT.off_place : puck.position, faceText(puck.face));
  const wired = [...table.buttons, ...table.dice_keys.map((key) => `dice_key_${key}`)];
  for (const key of document.querySelectorAll("[data-press]")) {
    key.dataset.lamp = String(lamps[key.dataset.press] ?? false);
    key.disabled = !wired.includes(key.dataset.press);
  }
  for (const value of HOLDS) byId(`hold-${value}`).disabled = !table.dice_keys.includes(value);
  byId("lid").dataset.lid = lid;
  byId("lid").textContent = TEXT[`lid_${lid}`];
  byId("door").hidden = door === null;
  byId("door").dataset.door = door ?? "";
  byId("door").textContent = door === null ? "" : TEXT[`door_${door}`];
  byId("slots").hidden = slots.length === 0;
  if (byId("slots").children.length !== slots.length)
    byId("slots").replaceChildren(...slots.map((_, index) => slotButton(index + 1)));
  slots.forEach((occupied, index) => {
    const slot = byId("slots").children[index];
    slot.dataset.occupied = String(occupied);
    slot.setAttribute("aria-label", TEXT.slot(index + 1, occupied));
  });
  faults.show(table);
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
  if (JSON.stringify(alerts) === JSON.stringify(state.alerts)) return;
  alerts = state.alerts;
  showAlerts();
}

/** Whole texts while there is room; then how many there are more, and of the first one what whole lines can say. */
function showAlerts() {
  const list = byId("alerts");
  const row = ({ code, text }) => element("li", { "data-code": code, title: text }, element("p", {}, text));
  const rows = alerts.map(row);
  const more = element("li", { class: "more" });
  list.replaceChildren(...rows);
  const overflows = () => list.scrollHeight > list.clientHeight + 1;
  for (let shown = rows.length - 1; shown > 0 && overflows(); shown -= 1) {
    rows[shown].remove();
    more.textContent = TEXT.more_alerts(rows.length - shown);
    list.append(more);
  }
  if (!overflows()) return;
  const words = rows[0].firstElementChild;
  const line = parseFloat(getComputedStyle(words).lineHeight);
  const over = list.scrollHeight - list.clientHeight;
  words.style.setProperty("--lines", Math.max(1, Math.floor((words.offsetHeight - over) / line)));
  words.classList.add("cut");
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

/** A place of the reserve: a touch takes its die out, or puts one back. */
function slotButton(number) {
  return element(
    "button",
    {
      type: "button",
      "data-testid": `virtual-slot-${number}`,
      onclick: () => doAct({ slot: number, occupied: !table.slots[number - 1] }),
    },
    drawDie(5),
    element("span", {}, number),
  );
}

/** A dice key: a touch presses it, a touch of two seconds holds it. */
function diceKey(value) {
  const key = element(
    "button",
    {
      type: "button",
      "data-testid": `virtual-key-${value}`,
      "data-press": `dice_key_${value}`,
      "data-lamp": "false",
      class: "dice-key",
      "aria-label": value,
    },
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
  document.documentElement.lang = LANGUAGE;
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = TEXT[node.dataset.text];
  drawLayout();
  byId("status-buttons").append(...STATUS.map((name) => pressButton(name, TEXT[name])));
  byId("box-buttons").append(...BOXES.map((box) => pressButton(`box_${box}`, String(box))));
  byId("which").append(
    ...[1, 2].map((number) =>
      element(
        "button",
        {
          type: "button",
          "data-testid": `virtual-which-${number}`,
          "data-number": number,
          onclick: () => takeInHand(number),
        },
        TEXT.puck_number(number),
      ),
    ),
  );
  byId("keys").append(...[1, 2, 3, 4, 5, 6].map(diceKey));
  const on = (id, doIt) => byId(id).addEventListener("click", doIt);
  on("flip", () => handPuck() && putPuck(handPuck().position, handPuck().face === "on" ? "off" : "on"));
  on("lift", () => table && putPuck(null));
  on("lid", () => table && doAct({ lid: table.lid === "open" ? "closed" : "open" }));
  on("door", () => table && doAct({ door: table.door === "open" ? "closed" : "open" }));
  for (const value of HOLDS)
    on(`hold-${value}`, () => {
      if (!byId(`hold-${value}`).hasAttribute("data-holding")) holdKey(byId(`hold-${value}`), value);
    });
  on("notice", () => {
    byId("notice").hidden = true;
  });
  new ResizeObserver(showAlerts).observe(byId("live"));
  document.addEventListener("contextmenu", (event) => event.preventDefault());
}

build();
nameStrips();
look();
setInterval(look, LOOK_EVERY_MS);
followState({
  onState: (state) => {
    showBar({ commissioned: false });
    renderLive(state);
    look();
  },
  onReach: (reachable) => showBar({ reachable }),
  onElsewhere: () => showBar({ commissioned: true }),
});
