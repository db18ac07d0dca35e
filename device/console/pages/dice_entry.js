// Dice entry: two touches make a roll, on the main screen and in the correction of the last roll.

import { TEXT } from "./console_text.js";
import {
  act,
  busy,
  byId,
  command,
  draw,
  mayEnter,
  notice,
  refusal,
  render,
  setAvailable,
  state,
} from "./console_state.js";
import { addDialog, closeOverlay, overlay } from "./dialogs.js";
import { isCompared, showComparison } from "./roll_comparison.js";
import { drawDie, element } from "./terminal.js";

const FACES = [1, 2, 3, 4, 5, 6];
// A finger that trembles lands twice within this time; nobody enters a pair that fast.
const SAME_KEY_LOCK_MS = 120;
// After a roll the keys rest, so that a trembling second touch is not the first die of the next roll.
const AFTER_ROLL_LOCK_MS = 600;
// A die that was brushed by accident must not become half of the next roll.
const DIE_ONE_EXPIRES_MS = 15000;
// The dice keys give their first die up after this long (abandon_ms of the wiring).
const KEYED_DIE_EXPIRES_MS = 10000;
// A finger that was on its way to a dialog that a roll has closed must not key a die of the next roll.
const AFTER_CLOSING_LOCK_MS = 1000;

let dieOne = null;
let dieOneTimer = 0;
let lockedKey = null; // 1 to 6, or "all"
let rightDice = [];
let wanted = null; // whether the next dice are to correct the last roll, where the terminal is still to be told
let told = Promise.resolve(); // settles when the terminal has answered to that
let settled = false; // the open correction was done, or another roll came: there is nothing to call off

function setDieOne(value) {
  dieOne = value;
  clearTimeout(dieOneTimer);
  if (value !== null) {
    dieOneTimer = setTimeout(() => {
      setDieOne(null);
      notice(TEXT.die_one_expired, "die_one_expired");
    }, DIE_ONE_EXPIRES_MS);
  }
  renderEntry();
}

async function lockKeys(which, ms) {
  lockedKey = which;
  applyKeyLocks();
  await new Promise((resolve) => setTimeout(resolve, ms));
  if (lockedKey === which) lockedKey = null;
  applyKeyLocks();
}

export function keyDie(value) {
  if (!mayEnter() || !state.open || lockedKey === value || lockedKey === "all") return;
  const first = dieOne ?? state.pending_die;
  if (first === null) {
    setDieOne(value);
    lockKeys(value, SAME_KEY_LOCK_MS);
    return;
  }
  enterRoll([first, value]);
}

async function enterRoll(dice) {
  setDieOne(null);
  lockedKey = "all";
  // The dice keys can announce a correction (holding 1); then the two dice are the right ones, wherever they are touched.
  await command(state.correcting ? { correct: dice } : { roll: dice });
  lockKeys("all", AFTER_ROLL_LOCK_MS);
}

/** Lets the dice keys rest after a dialog went by itself. */
export function restKeys() {
  lockKeys("all", AFTER_CLOSING_LOCK_MS);
}

/** Asks the terminal to take the next two dice, wherever they come from, for the right ones of the last roll; or not. */
export function wantCorrecting(correcting) {
  wanted = correcting;
  tellWanted();
}

/** One action is under way at a time: what was wanted meanwhile is told as soon as the terminal is free. */
async function tellWanted() {
  if (wanted === null || !mayEnter()) return;
  const correcting = wanted;
  wanted = null;
  told = act("/api/take_back", { correcting }, TEXT.actions.take_back(correcting));
  await told;
  tellWanted();
}

/** Whether the terminal is still to hear from this page whether the next dice correct. */
export const telling = () => wanted !== null || busy?.path === "/api/take_back";

/** The last roll is another one now, or it is no longer to be corrected: an open correction has nothing left to do. */
export function endCorrection() {
  wanted = null;
  settled = true;
  if (overlay === "correct") closeOverlay();
  settled = false;
}

export function clearDieOne() {
  if (dieOne === null && state?.pending_die) notice(TEXT.hold_key_one, "hold_key_one");
  setDieOne(null);
}

/** A key that acts when a finger lands, also a second finger; a click without a pointer (a keyboard's) has detail 0. */
function diceKey(testId, value, onTouch) {
  const key = element(
    "button",
    { type: "button", "data-testid": testId, "data-die": value, "aria-label": value, class: "dice-key" },
    drawDie(value),
    element("b", {}, value),
  );
  key.addEventListener("pointerdown", (event) => {
    if (event.button === 0) onTouch(value);
  });
  key.addEventListener("click", (event) => {
    if (event.detail === 0) onTouch(value);
  });
  return key;
}

function fuseBar(ms) {
  const bar = element("i", { class: "fuse" });
  bar.style.animationDuration = `${ms}ms`;
  return bar;
}

/** Whether the puck was moved as after a roll, and nobody has entered one or said that there was none. */
const isRollMissing = () =>
  state?.alerts.some(({ code, acknowledged_by: name }) => code === "roll_missing" && !name) ?? false;

export function renderEntry() {
  tellWanted();
  const rolling = busy?.body.step?.roll ?? (overlay === null ? busy?.body.step?.correct : null) ?? null;
  const first = dieOne ?? state?.pending_die ?? null;
  const missing = isRollMissing();
  byId("entry").dataset.wanted = String(missing);
  draw("entry", [rolling, dieOne, first, state?.correcting, state?.open, missing], () => {
    const slot = byId("die-one");
    slot.dataset.value = first ?? "";
    slot.dataset.correcting = String(state?.correcting ?? false);
    slot.dataset.shows = rolling ? "roll" : first ? "die" : "nothing";
    const shown = rolling ?? (first ? [first] : []);
    const words = rolling
      ? TEXT.sending
      : dieOne
        ? TEXT.clear
        : first
          ? TEXT.from_keys
          : state?.correcting
            ? TEXT.die_one_right
            : missing
              ? TEXT.die_one_missing
              : state?.open === false
                ? TEXT.die_one_closed
                : TEXT.die_one;
    // What is half entered goes after a while; the bar shows how much of that is left.
    const fuse = rolling || !first ? null : dieOne ? DIE_ONE_EXPIRES_MS : KEYED_DIE_EXPIRES_MS;
    slot.replaceChildren(...shown.map(drawDie), element("small", {}, words), ...(fuse ? [fuseBar(fuse)] : []));
  });
  for (const key of document.querySelectorAll("#dice-keys .dice-key"))
    key.toggleAttribute("data-first", Number(key.dataset.die) === first);
  const noMoreBets = byId("button-no-more-bets");
  noMoreBets.dataset.out = String(state?.dice_out ?? false);
  noMoreBets.textContent = state?.dice_out ? TEXT.dice_out : TEXT.no_more_bets;
  setAvailable(noMoreBets, state !== null && state.open && !state.dice_out);
}

/** The bets are closed and the dice are on their way: said by who likes to, until the roll is entered. */
const sayNoMoreBets = () => act("/api/no_more_bets", {}, TEXT.actions.no_more_bets());

/** The keys follow the terminal, and rest for a moment after a touch. */
export function applyKeyLocks() {
  const open = mayEnter() && state.open;
  for (const key of document.querySelectorAll("#dice-keys .dice-key")) {
    key.disabled = !open || lockedKey === "all" || lockedKey === Number(key.dataset.die);
  }
  byId("dice-keys").classList.toggle("resting", !open || lockedKey === "all");
}

/** Forgets what was half entered: it belonged to the roll before. */
export function forgetDice() {
  rightDice = [];
  setDieOne(null);
}

/** The right dice as far as they are known: touched here, or the first of them on the dice keys. */
function knownDice() {
  return rightDice.length === 0 && state.pending_die ? [state.pending_die] : rightDice;
}

function keyRightDie(value) {
  if (value < 1 || value > 6) return;
  const known = knownDice();
  rightDice = known.length === 2 ? [value] : [...known, value];
  render();
}

async function confirmCorrection() {
  // A quick hand is here before the terminal has answered to the opening of the dialog.
  await told;
  if (await command({ correct: rightDice })) endCorrection();
  else if (refusal === "stale") forgetDice();
}

function renderCorrect() {
  const last = state.last_roll;
  if (last === null) return;
  const right = knownDice();
  draw("correct", [last.dice, last.number, right, state.correcting], () => {
    byId("correct-says").textContent = state.correcting ? TEXT.correct_armed(last.number) : TEXT.correct_here;
    byId("correct-says").dataset.armed = String(state.correcting);
    byId("correct-from").replaceChildren(
      element("p", {}, TEXT.correct_was(last.number)),
      element("div", { class: "dice" }, ...last.dice.map(drawDie), element("b", {}, last.total)),
    );
    const empty = Array.from({ length: 2 - right.length }, () => element("span", { class: "no-die" }));
    const total = right.length === 2 ? element("b", {}, right[0] + right[1]) : null;
    byId("correct-to").replaceChildren(
      element("p", {}, TEXT.correct_is),
      element("div", { class: "dice" }, ...right.map(drawDie), ...empty, ...[total].filter(Boolean)),
    );
    byId("confirm-correct").textContent =
      right.length === 2 ? TEXT.correct_confirm(last.dice.join("-"), right.join("-")) : TEXT.correct_touch;
  });
  showComparison(last, right);
  byId("confirm-correct").disabled = right.length < 2 || !isCompared() || !(mayEnter() || telling());
}

export function buildDiceEntry() {
  byId("dice-keys").append(...FACES.map((value) => diceKey(`die-${value}`, value, keyDie)));
  byId("right-dice").append(...FACES.map((value) => diceKey(`right-die-${value}`, value, keyRightDie)));
  byId("die-one").addEventListener("click", clearDieOne);
  byId("button-no-more-bets").addEventListener("click", sayNoMoreBets);
  byId("confirm-correct").addEventListener("click", confirmCorrection);
  addDialog("correct", {
    begin: () => {
      forgetDice();
      if (!state.correcting || telling()) wantCorrecting(true);
    },
    end: () => {
      forgetDice();
      if (!settled) wantCorrecting(false);
    },
    render: renderCorrect,
    confirm: () => byId("confirm-correct").click(),
    digit: keyRightDie,
  });
}
