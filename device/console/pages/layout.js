// The layout, drawn as it lies on the table: the boxes with the puck and what is on them, and before them the fields of the
// other bets. A touch on a place leads to the entry of its bets. Words are in console_text.js.

import { openBetEntry } from "./bets.js";
import { TEXT } from "./console_text.js";
import { betEntry, betName, byId, draw, isWired, money, plain, rulesRead, state } from "./console_state.js";
import {
  BOX_NAMES,
  BOXES,
  boxRows,
  hardways,
  inBoxNow,
  kindsOfBox,
  lineFields,
  otherFields,
  piles,
} from "./layout_places.js";
import { noRollReasons, reasonButton } from "./no_roll_reasons.js";
import { drawDie, element } from "./terminal.js";

const LAST_LINES = ["pass_line", "dont_pass"];
// Where there is room, each bet has a field of its own; else those in the middle of the layout share two.
const roomy = matchMedia("(min-width: 1100px) and (min-height: 600px)");
// What lies between fields; how high the boxes are in one line. In rem.
const GAP_REM = 0.25;
const LINE_REM = 4.2;
const REASON_REM = 8; // the least width of a reason's button

let shared = true; // whether the fields in the middle share two

export function renderLayout() {
  renderBoxes();
  const { bets, dice_out: out, open, last_roll: last } = state;
  draw("room", [bets, out, open, last, byId("work").dataset.view, byId("puck").dataset, rulesRead], giveRoom);
  renderFelt();
}

export function buildLayout() {
  // What asks and warns beside the layout has its own height, which does not follow from the layout's.
  for (const id of ["work", "asks"]) new ResizeObserver(fitAgain).observe(byId(id));
  roomy.addEventListener("change", fitAgain);
}

function fitAgain() {
  if (state === null || !byId("puck").firstElementChild) return;
  giveRoom();
  renderFelt();
}

/**
 * As much of the layout as there is room for: the boxes whole and each bet's field; fields that share; the boxes in one
 * line; that line alone. Nothing is cut through.
 */
function giveRoom() {
  const work = byId("work");
  if (work.dataset.view !== "layout") return;
  const root = getComputedStyle(document.documentElement);
  const rem = parseFloat(root.fontSize);
  // A field is as high as a finger at least.
  const fieldRem = parseFloat(root.getPropertyValue("--touch"));
  const gap = parseFloat(getComputedStyle(work).rowGap);
  const asks = byId("asks").offsetHeight;
  const fits = (room, bands) => {
    work.dataset.room = room;
    const left = work.clientHeight - byId("puck").offsetHeight - gap - (asks ? asks + gap : 0);
    return left >= (bands * fieldRem + (bands - 1) * GAP_REM) * rem;
  };
  shared = !(roomy.matches && !state.dice_out && fits("whole", bandsOf(false).length));
  if (!shared) return;
  const rows = state.dice_out ? reasonRows(work.clientWidth / rem) : bandsOf(true).length;
  if (!fits("whole", rows) && !fits("line", rows)) work.dataset.room = "little";
}

/** How much of a part of the layout alerts beside it must leave, in px: the line of the boxes. Null for other parts. */
export function layoutNeed({ id }) {
  if (byId("work").dataset.view !== "layout") return null;
  const rem = { puck: LINE_REM, felt: 0 }[id];
  return rem === undefined ? null : rem * parseFloat(getComputedStyle(document.documentElement).fontSize);
}

const reasonRows = (width) => {
  const columns = Math.floor((width + GAP_REM) / (REASON_REM + GAP_REM));
  return Math.ceil((noRollReasons().length + 1) / columns);
};

function renderBoxes() {
  const { puck, second_puck: second, buttons, bets, phase, table } = state;
  draw("boxes", [puck, second, buttons, bets, phase, table.rules, rulesRead, isWired("puck_off")], () => {
    const pucks = second ? [puck, second] : [puck];
    const rows = boxRows();
    const numberRow = rows.indexOf("number") + 1;
    byId("puck").replaceChildren(
      ...rows.map(rowName).filter(Boolean),
      offPlace(pucks),
      ...BOXES.map((number) => box(number, rows, pucks)),
      puckMessages(pucks),
    );
    byId("puck").style.setProperty("--number-row", numberRow);
    byId("puck").style.setProperty("--rows", rows.length);
    byId("puck").dataset.mood = pucks.some(isWrong)
      ? "alarm"
      : pucks.every(({ state: seen }) => seen === "in_place" || !isWired("puck_off"))
        ? "calm"
        : "mind";
    byId("puck").dataset.pucks = pucks.length;
  });
}

function rowName(row, index) {
  if (typeof row === "string") return null;
  const name = element("span", { class: "row-name" }, row.name);
  name.style.gridRow = index + 1;
  return name;
}

/** What a place where a puck can lie says of it. */
function puckAt(position, pucks) {
  const [puck, second] = pucks;
  const here = pucks.filter((one) => one.position === position);
  const expected = puck.expected.position === position;
  const showHere = expected && here.length === 0 && puck.agrees !== true;
  return {
    about: {
      "data-testid": `puck-box-${position}`,
      "data-puck": puck.position === position ? (puck.face ?? "") : "",
      "data-second-puck": second?.position === position ? (second.face ?? "") : second ? "" : null,
      "data-expected": String(expected),
    },
    disc: here.length
      ? element("span", { class: "discs" }, ...here.map((one) => disc(one, second ? pucks.indexOf(one) + 1 : null)))
      : showHere
        ? element("span", { class: "target" }, TEXT.put_here)
        : null,
  };
}

function offPlace(pucks) {
  const { about, disc } = puckAt("off", pucks);
  return element("div", { class: "puck-cell off", ...about }, element("span", { class: "box" }, TEXT.off_place), disc);
}

function box(number, rows, pucks) {
  const { about, disc } = puckAt(number, pucks);
  const { buttons } = state;
  const mark = buttons.marks[number];
  const { count, total } = inBoxNow(number);
  const sum = element("span", { class: "total" }, total ? money(total) : "");
  const content = rows.map((row) => {
    if (row === "total") return sum;
    if (row !== "number") return element("span", { class: "row" }, ...piles(row.kinds, number).map((one) => pile(one)));
    return element(
      "span",
      { class: "box" },
      BOX_NAMES[number],
      disc,
      mark ? element("span", { class: "mark" }, plain(mark)) : null,
    );
  });
  return element(
    "button",
    {
      type: "button",
      class: "puck-cell",
      ...about,
      "data-picked": buttons.box === number,
      "data-total": total,
      // A single bet is its own total.
      "data-several": count > 1,
      onclick: () => enterBetsOn(number),
    },
    ...content,
  );
}

function enterBetsOn(number) {
  const kinds = kindsOfBox(number);
  // None, as long as the rules have not been read.
  if (kinds.length) openBetEntry({ kinds, number });
}

/** Chips of one kind: what lies on them, flat and odds. Those that do not work now are paler. */
function pile({ kind, flat, odds, lammers, works, number }, inField = false) {
  const marks = lammers.map((words) => element("i", { class: "lammer", "data-lammer": words }, words));
  const amount = [flat, odds].filter(Boolean).map(money).join("+");
  const about = { class: "pile", "data-kind": kind, "data-flat": flat, "data-odds": odds, "data-works": String(works) };
  const where = inField && number && betEntry(kind)?.stage !== "line" ? `${betName({ kind, number })} ` : "";
  return element("span", about, ...marks, where + amount);
}

function renderFelt() {
  const { bets, phase, not_taken: notTaken, dice_out: out, open, table } = state;
  byId("felt").hidden = !open;
  // It is drawn when it is seen: a roll's results come first.
  if (byId("work").dataset.view !== "layout") return;
  draw("felt", [bets, phase, notTaken, out, table.rules, rulesRead, shared], () => {
    byId("felt").dataset.shows = out ? "throw" : "bets";
    byId("felt").replaceChildren(...(out ? thrown() : fields()));
  });
}

/** While the dice are out nothing is bet: a throw that is none is said with one touch. */
function thrown() {
  return [
    element("strong", {}, TEXT.thrown_says),
    ...noRollReasons().map((said) => reasonButton("throw", said, () => {})),
  ];
}

/** The fields in bands, as one sees them from the boxes to the edge of the table: the line last. */
function bandsOf(areShared) {
  const lines = lineFields();
  const isLast = ({ kind }) => LAST_LINES.includes(kind);
  const [hard, others] = [hardways(), otherFields()];
  const [first, last] = [lines.filter((field) => !isLast(field)), lines.filter(isLast)];
  const bands = areShared
    ? [
        [...first, ...share("hardways", betEntry("hardway")?.name, hard)],
        [...last, ...share("others", TEXT.groups.one_roll, others)],
      ]
    : [first, [...hard, ...others.filter(({ dice }) => dice)], others.filter(({ dice }) => !dice), last];
  return bands.filter((band) => band.length > 0);
}

const share = (place, name, group) => (group.length ? [{ place, name, group }] : []);

const fields = () =>
  bandsOf(shared).map((band) =>
    element("div", { class: "band" }, ...band.map((field) => (field.group ? sharedField(field) : feltField(field)))),
  );

const worth = (found) => found.reduce((sum, { flat, odds }) => sum + flat + odds, 0);

function feltField({ kind, kinds, number = null, name, dice = null, piles: found, isTaken }) {
  return element(
    "button",
    {
      type: "button",
      class: "field",
      "data-testid": kind ? `felt-${kind}` : `felt-hardway-${number}`,
      "data-total": worth(found),
      "data-taken": String(isTaken),
      // Dice that are drawn say no name.
      "aria-label": dice ? `${name} ${worth(found) || ""}`.trim() : null,
      onclick: () => openBetEntry({ kinds, number }),
    },
    dice ? element("span", { class: "pair" }, ...dice.map(drawDie)) : element("span", { class: "name-of" }, name),
    element("span", { class: "piles" }, ...found.map((one) => pile(one, !dice))),
  );
}

/** Several bets in one field: those with chips are told; of the hardways all are, each in its place. */
function sharedField({ place, name, group }) {
  const shown = place === "hardways" ? group : group.filter(({ piles: found }) => found.length > 0);
  const kinds = [...new Set(group.flatMap((field) => field.kinds))];
  return element(
    "button",
    {
      type: "button",
      class: `field shared ${place}`,
      "data-testid": `felt-${place}`,
      "data-total": group.reduce((sum, field) => sum + worth(field.piles), 0),
      "data-taken": String(group.some(({ isTaken }) => isTaken)),
      onclick: () => openBetEntry({ kinds, number: null }),
    },
    element("span", { class: "name-of" }, name),
    element(
      "span",
      { class: "members" },
      ...shown.map(({ dice, name: own, piles: found }) =>
        element(
          "span",
          { class: "member" },
          dice ? element("span", { class: "pair" }, ...dice.map(drawDie)) : element("small", {}, own),
          ...found.map((one) => pile(one)),
        ),
      ),
    ),
  );
}

const isWrong = ({ agrees, state: seen }) => agrees === false || seen === "fault";
const placeName = (position) => (position === "off" ? TEXT.off_place : String(position));

/** A puck as it lies there; where there are two, each has its number. */
function disc(puck, number) {
  const about = { class: `disc ${puck.face}`, "data-wrong": isWrong(puck) };
  return element("span", about, number ?? TEXT[`puck_${puck.face}`]);
}

/** What to do with the puck, or with each of two. */
function puckMessages(pucks) {
  const [puck, second] = pucks;
  const { expected } = puck;
  const about = {
    id: "puck-message",
    "data-testid": "puck-message",
    "data-agrees": String(puck.agrees),
    "data-second-agrees": second ? String(second.agrees) : null,
  };
  if (!second) return element("div", about, puckMessage(puck, expected, TEXT.one_puck));
  if (pucks.every(({ agrees }) => agrees === true)) return element("div", about, TEXT.pucks_right);
  const lines = pucks.map((one, index) => {
    const said = puckMessage(one, expected, TEXT.one_of_two);
    const about = { "data-wrong": isWrong(one), "data-unseen": one.state === "unknown" };
    return element("span", about, element("b", {}, index + 1), said);
  });
  return element("div", about, ...lines);
}

function puckMessage(puck, expected, say) {
  if (puck.state === "fault") return say.fault;
  if (puck.state === "unknown") return isWired("puck_off") ? say.unknown : TEXT.not_fitted;
  if (puck.state === "lifted") return say.lifted;
  if (puck.agrees !== false) return say.right;
  if (puck.position === expected.position) return say.turn(TEXT[`puck_${expected.face}`]);
  const move = expected.face === "on" ? say.move_on : say.move;
  return move(placeName(expected.position));
}
