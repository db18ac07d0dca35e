// After a roll: first what to collect, then what to pay, for each player, with what a dealer says of it. The amounts and
// the odds are the terminal's (device/settled_roll.py); nothing is reckoned here but sums of lists.

import { TEXT } from "./console_text.js";
import { betName, byId, draw, money, playerTag, render, rulesRead, state } from "./console_state.js";
import { overlay } from "./dialogs.js";
import { pageBy } from "./scrolling.js";
import { element } from "./terminal.js";

const PARTS = ["undo-take", "undo-give", "collect", "pay"];
// From so many rows on, a list is given the room that the other one does not need.
const MANY_ROWS = 5;

let shownRoll = null;
let settling = false; // whether the undoing of a wrong roll is done with, and the right one is shown
let putAway = null; // the roll whose results were settled, so that the layout has their room
let beganAt = null; // what the next bets or the throw had begun with: that puts results away only once

/** Whether the throw after the last roll was no roll; then the last roll's results are settled and done with. */
export function isVoided() {
  const { last_roll: last, last_no_roll: noRoll } = state;
  return noRoll !== null && (last === null || noRoll.seq > last.seq);
}

const rollShown = () => JSON.stringify([state.last_roll, state.session_number]);

/**
 * Whether a supervisor's correction of an earlier roll has changed what the last one pays. The whole difference is one
 * list, in the alert: these results were never collected and paid, and are not to be.
 */
export const isSettledAnew = () => Boolean(state?.last_roll) && state.last_roll.settled_by !== undefined;

/** Whether the last roll has results that are, or were, to be collected and paid. */
export function hasResults() {
  const last = state?.last_roll;
  return Boolean(last) && !isSettledAnew() && [last.results, last.undone, last.not_redone].some((bets) => bets?.length > 0);
}

/** Whether the results have the room below the boxes; else the layout has it. */
export const showsResults = () => state.open && hasResults() && putAway !== rollShown();

/** Whether the last roll still is to be collected and paid: then its rows come before all that is told beside them. */
export const isSettling = () => state !== null && showsResults() && !isVoided();

/** Whether a correction of the last roll is to be undone and settled, in two steps. */
export const isInSteps = () => isSettling() && undoneBets().length > 0;

/** A touch on the last roll: its results, or the layout. */
export function turnResults() {
  putAway = showsResults() ? rollShown() : null;
  render();
}

/** Whoever enters bets or lets the dice out has settled what the roll before left: the layout comes back by itself. */
function putAwayOnceDone() {
  const begun = overlay === "bets" ? "bets" : state.dice_out ? "dice" : null;
  if (begun !== null && begun !== beganAt) putAway = rollShown();
  beganAt = begun;
}

export function renderResults() {
  putAwayOnceDone();
  byId("work").dataset.view = showsResults() ? "results" : "layout";
  draw("results", [state.last_roll, state.last_no_roll, state.table, rulesRead], () => {
    const roll = JSON.stringify(state.last_roll);
    if (roll !== shownRoll) settling = false;
    shownRoll = roll;
    drawResults();
  });
}

export function buildResults() {
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

/** How high the results must be for all their rows to be seen, in px. */
export function resultsNeed() {
  const home = byId("results");
  const gap = parseFloat(getComputedStyle(home).rowGap);
  const above = ["settled", "steps"].map(byId).filter((node) => !node.hidden);
  const parts = PARTS.map(byId).filter((part) => !part.hidden);
  return above.reduce((sum, node) => sum + node.offsetHeight + gap, Math.max(0, ...parts.map(partNeeds)));
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

// What players took up since and the right roll decides lies on the layout again before that is settled.
const withOwed = (undone, notRedone) => [...undone, ...notRedone.map((bet) => ({ ...bet, result: "owed" }))];
const undoneBets = () => withOwed(state.last_roll?.undone ?? [], state.last_roll?.not_redone ?? []);

function drawResults() {
  const last = state.last_roll;
  const undone = undoneBets();
  const results = last?.results ?? [];
  const showing = undone.length > 0 && !settling && !isVoided();
  const parts = [
    showPart("undo-take", undone.filter(isNotCollected).map(alone), netOrOwed, takenBack),
    showPart("undo-give", undone.filter(isCollected).map(alone), stake, takenBack),
    showPart("collect", results.filter(isCollected).map(alone), stake, settled),
    showPart("pay", paidTogether(results.filter(isNotCollected)), net, settled),
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
  const done = last !== null && isVoided();
  byId("results").classList.toggle("done", done);
  byId("settled").hidden = !done;
  byId("settled").textContent = done ? TEXT.already_settled(last.number) : "";
  showSteps(undone.length > 0 && !done, parts);
  PARTS.forEach(fit);
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
  drawResults();
}

const isCollected = ({ result }) => result === "lose";
const isNotCollected = (result) => !isCollected(result);
/** One that arrives where another of the same player is decided travels no way. */
const isMoved = ({ result, off_and_on: met }) => result === "move" && !met;
const isHandedBack = ({ result }) => result === "push" || result === "return";
const movesMoney = (result) => !isHandedBack(result) && !isMoved(result);
const net = (result) => (result.paid ?? 0) - (result.commission ?? 0);
const netOrOwed = (result) => (result.result === "owed" ? stake(result) : net(result));
const stake = (result) => result.amount ?? 0;
const alone = (result) => [result];

/**
 * The sums of the two steps of a correction: what it takes and gives to undo results, and what to collect and to pay of
 * those that stand in their place; `stake` goes to the layout (below 0: comes back from it) meanwhile.
 */
export function sumsOfSteps(undone, notRedone, results) {
  const sum = (found, worth) => found.filter(movesMoney).reduce((total, result) => total + worth(result), 0);
  const toUndo = withOwed(undone, notRedone);
  const returned = (found) => found.reduce((total, result) => total + (result.returned ?? 0), 0);
  return {
    take: sum(toUndo.filter(isNotCollected), netOrOwed),
    give: sum(toUndo.filter(isCollected), stake),
    collect: sum(results.filter(isCollected), stake),
    pay: sum(results.filter(isNotCollected), net),
    stake: returned(undone) - returned(results),
  };
}

/**
 * Results as rows: each alone, but a come bet that is off and on with its odds, which are paid as one. What arrives for
 * it needs no row.
 */
function paidTogether(results) {
  const key = ({ player, kind, number }) => JSON.stringify([player, kind, number]);
  const met = results.filter(({ result, off_and_on: meets }) => result === "win" && meets);
  const odds = new Map(met.map((one) => [key({ ...one, kind: `${one.kind}_odds` }), one]));
  const joined = new Set(results.filter((one) => odds.has(key(one))));
  return results
    .filter((one) => !joined.has(one) && !(one.result === "move" && one.off_and_on))
    .map((one) => (met.includes(one) ? [one, ...[...joined].filter((other) => odds.get(key(other)) === one)] : [one]));
}

/**
 * Fills one list; `worth` is what a result adds to the total, `say` gives the figure and notes of a row. Only what money
 * changes hands for is counted; what goes back and what travels stands apart, under a line that says how many.
 */
function showPart(part, rows, worth, say) {
  const apart = [
    [rows.filter(([result]) => isHandedBack(result)), TEXT.go_back],
    [rows.filter(([result]) => isMoved(result)), TEXT.travel],
  ].filter(([group]) => group.length > 0);
  const counted = rows.filter(([result]) => movesMoney(result));
  const total = counted.flat().reduce((sum, result) => sum + worth(result), 0);
  byId(`${part}-count`).textContent = counted.length;
  byId(`${part}-sum`).textContent = counted.length ? money(total) : "";
  const draw = (row) => resultRow(row, ...say(row));
  const list = byId(`${part}-list`);
  list.replaceChildren(
    ...counted.map(draw),
    ...apart.flatMap(([group, words]) => [element("li", { class: "apart" }, words(group.length)), ...group.map(draw)]),
  );
  list.scrollTop = 0;
  return { part, rows: rows.length, total };
}

/** The figure and the notes that turn a result round. */
function takenBack([result]) {
  const { returned = 0 } = result;
  if (result.result === "win") return [money(net(result)), [returned ? TEXT.stake_to_layout(money(returned)) : null]];
  if (result.result === "lose") return [money(stake(result)), [TEXT.to_layout]];
  if (result.result === "move") return [TEXT.back_from(result.to), []];
  if (result.result === "owed") return [money(stake(result)), [TEXT.taken_up_since]];
  return [money(returned), [TEXT.to_layout]];
}

/** The figure and the notes that say what a row pays or collects. */
function settled(row) {
  const [result] = row;
  const { returned = 0, commission_returned: commission = 0, off_and_on: met } = result;
  if (result.result === "win") {
    const back = row.reduce((sum, one) => sum + (one.returned ?? 0), 0);
    const where = met ? offAndOn(met, result.number) : null;
    const stays = back ? TEXT.stake_back(money(back)) : TEXT.stays_up;
    return [money(row.reduce((sum, one) => sum + net(one), 0)), [...row.map(arithmetic), where, stays]];
  }
  if (result.result === "lose") return [money(stake(result)), [met ? offAndOn(met, result.number) : null]];
  if (result.result === "move") return [TEXT.moves_to(result.to), [stake(result) ? money(stake(result)) : null]];
  const notes = [result.result === "push" ? TEXT.push : TEXT.returned];
  if (commission) notes.push(TEXT.commission_back(money(commission)));
  return [money(returned), notes];
}

/** "12 at 7 to 6 = 14", as a dealer says it: with what is rounded down, and less the commission. */
function arithmetic({ amount, odds, paid = 0, exact, commission, up_front: next }) {
  // A roll that an earlier version of the terminal has settled came without.
  if (!odds) return null;
  const ratio = TEXT.ratio(odds.map(money));
  const said = exact
    ? TEXT.pays_down(money(amount), ratio, mixed(exact), money(paid))
    : TEXT.pays(money(amount), ratio, money(paid));
  if (!commission) return said;
  const less = next ? TEXT.less_for_next : TEXT.less;
  return less(said, money(commission), money(paid - commission));
}

const mixed = ([whole, num, den]) => `${whole ? `${money(whole)} ` : ""}${num}/${den}`;

/** The bet in the box stays for the one that arrives; what differs is put to it or handed back. */
function offAndOn({ stays, more, less }, box) {
  if (more) return TEXT.off_and_on_more(box, money(more), money(stays + more));
  if (less) return TEXT.off_and_on_less(box, money(less), money(stays));
  return TEXT.off_and_on(box, money(stays));
}

function resultRow(row, figure, notes) {
  const [result] = row;
  const sum = (name) => row.reduce((total, one) => total + (one[name] ?? 0), 0);
  return element(
    "li",
    {
      "data-player": result.player,
      "data-kind": result.kind,
      "data-number": result.number,
      "data-result": result.result,
      "data-paid": sum("paid"),
      "data-returned": sum("returned"),
      "data-amount": result.amount ?? null,
      "data-off-and-on": Boolean(result.off_and_on),
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
