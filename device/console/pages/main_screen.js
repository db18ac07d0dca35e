// The main screen: status line, phase and point, the last roll, the puck, and what to collect and to pay.

import { TEXT } from "./console_text.js";
import {
  betName,
  button,
  byId,
  clockTime,
  draw,
  isWired,
  money,
  plain,
  playerTag,
  reasonWords,
  rulesRead,
  setAvailable,
  state,
} from "./console_state.js";
import { diceAt, setsAtTable, shortDice } from "./dice_words.js";
import { pageBy } from "./scrolling.js";
import { drawDie, element } from "./terminal.js";

const BOXES = [4, 5, 6, 8, 9, 10];
const PARTS = ["undo-take", "undo-give", "collect", "pay"];
// From so many rows on, a list is given the room that the other one does not need.
const MANY_ROWS = 5;
// What says that the hardware is not as it should be.
const HARDWARE_ALERTS = ["node_offline", "input_unavailable", "input_stuck", "line_noisy"];

let shownRoll = null;
let settling = false; // whether the undoing of a wrong roll is done with, and the right one is shown

export function renderMainScreen() {
  renderStatus();
  renderGame();
  renderPuck();
  byId("closed").hidden = state.open;
  draw("results", [state.last_roll, state.last_no_roll, state.table, rulesRead], () => {
    const roll = JSON.stringify(state.last_roll);
    if (roll !== shownRoll) settling = false;
    shownRoll = roll;
    renderResults();
  });
}

export function buildMainScreen() {
  byId("step-undo").addEventListener("click", () => showStep(false));
  byId("step-settle").addEventListener("click", () => showStep(true));
  for (const part of PARTS) {
    const list = byId(`${part}-list`);
    pageBy(list, byId(`${part}-more`), () => list.querySelectorAll("li[data-kind]"), { whole: true });
    // The part's place is the grid's to give, so what stands in it cannot change it.
    new ResizeObserver(() => fit(part)).observe(byId(part));
  }
}

/** Rows that do not fit are made compact, before anything has to be scrolled. */
function fit(part) {
  const list = byId(`${part}-list`);
  list.classList.remove("dense");
  if (list.scrollHeight > list.clientHeight) list.classList.add("dense");
}

/** Whether the last roll still is to be collected and paid: then its rows come before all that is told beside them. */
export function isSettling() {
  const last = state?.last_roll;
  if (!last || !state.open || isVoided()) return false;
  return [last.results, last.undone, last.not_redone].some((bets) => bets?.length > 0);
}

/** How high the results must be for all their rows to be seen, in px. */
export function resultsNeed() {
  const home = byId("results");
  const gap = parseFloat(getComputedStyle(home).rowGap);
  const above = ["settled", "steps"].map(byId).filter((node) => !node.hidden);
  const parts = PARTS.map(byId).filter((part) => !part.hidden);
  // Before the first roll the rules' title stands there.
  const title = byId("warning-list").hidden ? 0 : byId("warning-list").firstElementChild.offsetHeight;
  return above.reduce((sum, node) => sum + node.offsetHeight + gap, Math.max(title, ...parts.map(partNeeds)));
}

function partNeeds(part) {
  const list = part.querySelector("ol");
  const dense = list.classList.contains("dense");
  list.classList.remove("dense");
  const rows = list.lastElementChild
    ? list.lastElementChild.getBoundingClientRect().bottom - list.firstElementChild.getBoundingClientRect().top
    : 0;
  list.classList.toggle("dense", dense);
  const { paddingTop, paddingBottom } = getComputedStyle(part);
  return part.querySelector("h2").offsetHeight + Math.ceil(rows) + parseFloat(paddingTop) + parseFloat(paddingBottom);
}

/** Shows that another roll is on the screen now. */
export function announceRoll() {
  const shown = byId("last-roll");
  shown.classList.remove("arrived");
  // Read, so that the animation begins anew.
  shown.getBoundingClientRect();
  shown.classList.add("arrived");
}

function fact(id, value, words, mood) {
  const node = byId(id);
  node.dataset.state = value;
  node.dataset.mood = mood;
  node.querySelector("b").textContent = words;
}

function renderStatus() {
  const { table, uplink, node, clock } = state;
  byId("table-id").textContent = table.table;
  byId("table-rules").textContent = table.rules;
  byId("button-help").toggleAttribute("data-warnings", table.warnings.length > 0);
  if (table.warnings.length > 0) byId("button-help").dataset.warnings = table.warnings.length;
  renderDiceArea();
  fact(
    "uplink",
    uplink.state,
    TEXT[`uplink_${uplink.state}`],
    { online: "calm", off: "calm", offline: "mind", fenced: "alarm" }[uplink.state],
  );
  byId("uplink").title = uplink.last_error ?? "";
  fact(
    "undelivered",
    uplink.undelivered > 0 ? "some" : "none",
    money(uplink.undelivered),
    uplink.undelivered > 0 && uplink.state !== "online" ? "mind" : "calm",
  );
  fact("clock", clock, TEXT[`clock_${clock}`], clock === "synced" ? "calm" : "hint");
  const trouble = HARDWARE_ALERTS.find((code) => state.alerts.some((alert) => alert.code === code));
  const isLost = node.state === "offline";
  fact(
    "node",
    node.state,
    (!isLost && TEXT.hardware_trouble[trouble]) || TEXT[`node_${node.state}`],
    isLost ? "alarm" : trouble ? "mind" : "calm",
  );
}

/** The set in play and its dice, how many are in the reserve, and the lid. */
function renderDiceArea() {
  const { reserve } = state;
  const set = setsAtTable()[0] ?? null;
  const inPlay = set ? diceAt(set, "play") : [];
  byId("set-in-play").textContent = set ? set.set : "";
  byId("dice-in-play").textContent = set ? shortDice(set, inPlay).join(" ") : "";
  byId("dice-slots").textContent = set && reserve.slots ? TEXT.slots(reserve.slots.length) : "";
  byId("button-dice").dataset.set = set ? set.set : "";
  byId("dice-in-play").hidden = inPlay.length === 0;
  const lid = reserve.open === null ? "unknown" : reserve.open ? "open" : "closed";
  const said = {
    open: TEXT.reserve_open(clockTime(reserve.since)),
    closed: TEXT.reserve_closed,
    unknown: isWired("lid") ? TEXT.lid_unseen : TEXT.not_fitted,
  }[lid];
  const isUnseen = said === TEXT.lid_unseen;
  // While it is open, since when matters more than how many were in it.
  const counted = set && lid !== "open" ? TEXT.reserve_count(diceAt(set, "reserve").length, set.dice.length) : null;
  const words = [counted, isUnseen || counted ? said : set ? TEXT.reserve_is(said) : TEXT.lid(said)];
  fact("reserve", lid, words.filter(Boolean).join(" · "), lid === "open" || isUnseen ? "mind" : "calm");
}

function renderGame() {
  const { phase, point, shooter, dice_pass: dicePass, last_roll: last, last_no_roll: noRoll } = state;
  byId("phase").textContent = state.open ? TEXT[phase] : TEXT.table_closed;
  byId("phase").dataset.phase = phase;
  byId("phase-block").dataset.phase = phase;
  byId("main").dataset.open = String(state.open);
  byId("point").textContent = point ?? "";
  const shooterWanted = state.open && (dicePass || !shooter);
  const shooterSays = dicePass ? TEXT.dice_pass : shooter ? TEXT.shooter(shooter) : TEXT.no_shooter;
  draw("shooter", [shooterWanted, shooterSays], () => {
    const choose = () => byId("button-new-shooter").click();
    byId("shooter").replaceChildren(
      shooterWanted
        ? button("shooter", shooterSays, choose, { entry: true })
        : element("div", { "data-testid": "shooter" }, shooterSays),
    );
  });
  byId("button-new-shooter").classList.toggle("wanted", shooterWanted);
  setAvailable(byId("button-correct"), last !== null && state.open);
  setAvailable(byId("button-no-roll"), state.open);
  setAvailable(byId("button-new-shooter"), state.open);

  draw("last", [last, noRoll, rulesRead], () => {
    const voided = isVoided();
    byId("last-roll").dataset.dice = last ? last.dice.join("-") : "";
    byId("last-roll").dataset.corrected = String(last?.corrected ?? false);
    byId("last-roll").classList.toggle("voided", voided);
    byId("last-dice").replaceChildren(...(last ? [...last.dice.map(drawDie), element("b", {}, last.total)] : []));
    const words = last
      ? [TEXT.roll_number(last.number), outcome(last), last.corrected ? TEXT.corrected : null]
      : [TEXT.no_roll_yet];
    if (voided) words.splice(0, words.length, TEXT.no_roll_said(reasonWords(noRoll.reason).words));
    byId("last-words").textContent = words.filter(Boolean).join(" · ");
  });
  draw("recent", state.recent_rolls, () => {
    byId("recent").replaceChildren(
      ...state.recent_rolls.map(([one, two]) => element("li", { title: `${one}-${two}` }, one + two)),
    );
  });
}

/** Whether the throw after the last roll was no roll; then the last roll's results are settled and done with. */
function isVoided() {
  const { last_roll: last, last_no_roll: noRoll } = state;
  return noRoll !== null && (last === null || noRoll.seq > last.seq);
}

function outcome({ total, point_before: before, point }) {
  if (before !== null && total === 7) return TEXT.seven_out;
  if (before !== null && total === before) return TEXT.point_made;
  if (before === null && point !== null) return TEXT.point_is(point);
  return null;
}

function renderPuck() {
  const { puck, second_puck: second, buttons } = state;
  draw("puck", [puck, second, buttons, isWired("puck_off")], () => {
    const pucks = second ? [puck, second] : [puck];
    const cells = ["off", ...BOXES].map((position) => {
      const here = pucks.filter((one) => one.position === position);
      const expected = puck.expected.position === position;
      const mark = buttons.marks[position];
      const showHere = expected && here.length === 0 && puck.agrees !== true;
      return element(
        "div",
        {
          class: "puck-cell",
          "data-testid": `puck-box-${position}`,
          "data-puck": puck.position === position ? (puck.face ?? "") : "",
          "data-second-puck": second?.position === position ? (second.face ?? "") : second ? "" : null,
          "data-expected": String(expected),
          "data-picked": buttons.box === position,
        },
        element("span", { class: "box" }, placeName(position)),
        here.length
          ? element("span", { class: "discs" }, ...here.map((one) => disc(one, second ? pucks.indexOf(one) + 1 : null)))
          : showHere
            ? element("span", { class: "target" }, TEXT.put_here)
            : null,
        mark ? element("span", { class: "mark" }, plain(mark)) : null,
      );
    });
    byId("puck").replaceChildren(...cells, puckMessages(pucks));
    byId("puck").dataset.mood = pucks.some(isWrong)
      ? "alarm"
      : pucks.every(({ state: seen }) => seen === "in_place" || !isWired("puck_off"))
        ? "calm"
        : "mind";
    byId("puck").dataset.pucks = pucks.length;
  });
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

function renderResults() {
  const last = state.last_roll;
  // What players took up since and the right roll decides lies on the layout again before that is settled.
  const owed = (last?.not_redone ?? []).map((bet) => ({ ...bet, result: "owed" }));
  const undone = [...(last?.undone ?? []), ...owed];
  const results = last?.results ?? [];
  const showing = undone.length > 0 && !settling && !isVoided();
  const parts = [
    showPart("undo-take", undone.filter(isNotCollected), netOrOwed, takenBack),
    showPart("undo-give", undone.filter(isCollected), stake, takenBack),
    showPart("collect", results.filter(isCollected), stake, settled),
    showPart("pay", results.filter(isNotCollected), net, settled),
  ];
  parts.forEach(({ part }, index) => {
    byId(part).hidden = last === null || showing !== index < 2;
  });
  const [left, right] = showing ? parts.slice(0, 2) : parts.slice(2);
  byId("results").dataset.empty = [left, right]
    .flatMap(({ rows }, index) => (rows === 0 ? [["left", "right"][index]] : []))
    .join(" ");
  const larger = left.rows >= right.rows ? left : right;
  const crowded = larger.rows > MANY_ROWS && larger.rows > 2 * Math.min(left.rows, right.rows);
  byId("results").dataset.wide = crowded ? (larger === left ? "left" : "right") : "";
  // A supervisor's correction of an earlier roll has changed what this one pays: the whole difference is one list.
  const done = last !== null && (isVoided() || last.settled_by !== undefined);
  byId("results").classList.toggle("done", done);
  byId("settled").hidden = !done;
  byId("settled").textContent = done ? TEXT.already_settled(last.number) : "";
  showSteps(undone.length > 0 && !done, parts);
  PARTS.forEach(fit);
  // The rules have the room of the results until there is a roll; later the help page has them.
  byId("warning-list").hidden = last !== null;
  byId("warning-list").replaceChildren(
    ...[state.table.title, ...state.table.warnings].map((text) => element("li", {}, text)),
  );
}

/** After a correction the hands work twice: first they undo the wrong roll, then they settle the right one. */
function showSteps(corrected, [take, give, collect, pay]) {
  byId("steps").hidden = !corrected;
  if (!corrected) return;
  const step = (id, pressed, words, sums) => {
    byId(id).setAttribute("aria-pressed", String(pressed));
    byId(id).replaceChildren(element("b", {}, words), element("small", {}, sums));
  };
  const sums = (one, two, first, second) => TEXT.sums(one, money(first.total), two, money(second.total));
  step(
    "step-undo",
    !settling,
    TEXT.step_undo(state.last_roll.undone_dice.join("-")),
    sums(TEXT.undo_take, TEXT.undo_give, take, give),
  );
  step(
    "step-settle",
    settling,
    TEXT.step_settle(state.last_roll.dice.join("-")),
    sums(TEXT.collect, TEXT.pay, collect, pay),
  );
}

function showStep(settle) {
  settling = settle;
  renderResults();
}

const isCollected = ({ result }) => result === "lose";
const isNotCollected = (result) => !isCollected(result);
const isMoved = ({ result }) => result === "move";
const isHandedBack = ({ result }) => result === "push" || result === "return";
const net = (result) => (result.paid ?? 0) - (result.commission ?? 0);
const netOrOwed = (result) => (result.result === "owed" ? stake(result) : net(result));
const stake = (result) => result.amount ?? 0;

/**
 * Fills one list; `worth` is what a result adds to the total, `say` gives its figure and notes. Only what money changes
 * hands for is counted; what goes back and what travels stands apart, under a line that says how many.
 */
function showPart(part, results, worth, say) {
  const apart = [
    [results.filter(isHandedBack), TEXT.go_back],
    [results.filter(isMoved), TEXT.travel],
  ].filter(([group]) => group.length > 0);
  const counted = results.filter((result) => !isHandedBack(result) && !isMoved(result));
  const total = counted.reduce((sum, result) => sum + worth(result), 0);
  byId(`${part}-count`).textContent = counted.length;
  byId(`${part}-sum`).textContent = counted.length ? money(total) : "";
  const row = (result) => resultRow(result, ...say(result));
  const list = byId(`${part}-list`);
  list.replaceChildren(
    ...counted.map(row),
    ...apart.flatMap(([group, words]) => [element("li", { class: "apart" }, words(group.length)), ...group.map(row)]),
  );
  list.scrollTop = 0;
  return { part, rows: results.length, total };
}

/** The figure and the notes that turn a result round. */
function takenBack(result) {
  const { returned = 0 } = result;
  if (result.result === "win") return [money(net(result)), [returned ? TEXT.stake_to_layout(money(returned)) : null]];
  if (result.result === "lose") return [money(stake(result)), [TEXT.to_layout]];
  if (result.result === "move") return [TEXT.back_from(result.to), []];
  if (result.result === "owed") return [money(stake(result)), [TEXT.taken_up_since]];
  return [money(returned), [TEXT.to_layout]];
}

/** The figure and the notes that say what a result pays or collects. */
function settled(result) {
  const { paid = 0, returned = 0, commission = 0, remainder = null } = result;
  let amount = "";
  const notes = [];
  if (result.result === "win") {
    amount = money(net(result));
    notes.push(
      commission ? TEXT.commission(money(paid), money(commission)) : null,
      returned ? TEXT.stake_back(money(returned)) : TEXT.stays_up,
    );
  } else if (result.result === "lose") {
    amount = money(stake(result));
  } else if (result.result === "move") {
    amount = TEXT.moves_to(result.to);
  } else {
    amount = money(returned);
    notes.push(result.result === "push" ? TEXT.push : TEXT.returned);
  }
  if (remainder && remainder[0]) notes.push(TEXT.remainder(remainder[0], remainder[1]));
  return [amount, notes];
}

function resultRow(result, figure, notes) {
  const { paid = 0, returned = 0, amount = null } = result;
  return element(
    "li",
    {
      "data-player": result.player,
      "data-kind": result.kind,
      "data-number": result.number,
      "data-result": result.result,
      "data-paid": paid,
      "data-returned": returned,
      "data-amount": amount,
    },
    playerTag(result.player),
    element("span", { class: "bet" }, betName(result), notesLine(notes)),
    element("b", {}, figure),
  );
}

function notesLine(notes) {
  const said = notes.filter(Boolean);
  return said.length ? element("small", {}, said.join(" · ")) : null;
}
