// Dice entry: two touches make a roll, on the main screen and in the correction of the last roll.

import { TEXT } from "./console_text.js";
import { busy, byId, command, draw, mayEnter, notice, render, setAvailable, state } from "./console_state.js";
import { addDialog, closeAfter, overlay } from "./dialogs.js";
import { drawDie, element } from "./terminal.js";

const FACES = [1, 2, 3, 4, 5, 6];
// A finger that trembles lands twice within this time; nobody enters a pair that fast.
const SAME_KEY_LOCK_MS = 120;
// After a roll the keys rest, so that a trembling second touch is not the first die of the next roll.
const AFTER_ROLL_LOCK_MS = 600;
// A die that was brushed by accident must not become half of the next roll.
const DIE_ONE_EXPIRES_MS = 15000;

let dieOne = null;
let dieOneTimer = 0;
let lockedKey = null; // 1 to 6, or "all"
let rightDice = [];

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
  if (!mayEnter() || lockedKey === value || lockedKey === "all") return;
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

export function renderEntry() {
  const rolling = busy?.body.step?.roll ?? (overlay === null ? busy?.body.step?.correct : null) ?? null;
  const first = dieOne ?? state?.pending_die ?? null;
  draw("entry", [rolling, dieOne, first, state?.correcting], () => {
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
            : TEXT.die_one;
    slot.replaceChildren(...shown.map(drawDie), element("small", {}, words));
  });
  for (const key of document.querySelectorAll("#dice-keys .dice-key"))
    key.toggleAttribute("data-first", Number(key.dataset.die) === first);
}

/** The keys follow the terminal, and rest for a moment after a touch. */
export function applyKeyLocks() {
  const open = mayEnter();
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

function keyRightDie(value) {
  if (value < 1 || value > 6) return;
  rightDice = rightDice.length === 2 ? [value] : [...rightDice, value];
  render();
}

function renderCorrect() {
  const last = state.last_roll;
  if (last === null) return;
  draw("correct", [last.dice, last.number, rightDice], () => {
    byId("correct-from").replaceChildren(
      element("p", {}, TEXT.correct_was(last.number)),
      element("div", { class: "dice" }, ...last.dice.map(drawDie), element("b", {}, last.total)),
    );
    const empty = Array.from({ length: 2 - rightDice.length }, () => element("span", { class: "no-die" }));
    const total = rightDice.length === 2 ? element("b", {}, rightDice[0] + rightDice[1]) : null;
    byId("correct-to").replaceChildren(
      element("p", {}, TEXT.correct_is),
      element("div", { class: "dice" }, ...rightDice.map(drawDie), ...empty, ...[total].filter(Boolean)),
    );
    byId("confirm-correct").textContent =
      rightDice.length === 2 ? TEXT.correct_confirm(last.dice.join("-"), rightDice.join("-")) : TEXT.correct_touch;
    setAvailable(byId("confirm-correct"), rightDice.length === 2);
  });
}

export function buildDiceEntry() {
  byId("dice-keys").append(...FACES.map((value) => diceKey(`die-${value}`, value, keyDie)));
  byId("right-dice").append(...FACES.map((value) => diceKey(`right-die-${value}`, value, keyRightDie)));
  byId("die-one").addEventListener("click", clearDieOne);
  byId("confirm-correct").addEventListener("click", () => closeAfter(command({ correct: rightDice })));
  addDialog("correct", {
    begin: forgetDice,
    render: renderCorrect,
    confirm: () => byId("confirm-correct").click(),
    digit: keyRightDie,
  });
}
