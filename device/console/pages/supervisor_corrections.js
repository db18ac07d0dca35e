// Correcting an earlier roll: which one, the right dice, what becomes of it, why; and then it is confirmed.

import { act, button, byId, draw, notice, refusal, state } from "./console_state.js";
import { askAdjustment, renderAdjustment, sendAdjustment } from "./supervisor_adjustment.js";
import { ask } from "./supervisor_ask.js";
import { comparison } from "./supervisor_comparison.js";
import { TEXT } from "./supervisor_text.js";
import { drawDie, element, get, send } from "./terminal.js";

const ASK_AGAIN_MS = 1000;

let rolls = null; // what the terminal says of the rolls that may be corrected
let rollsOf = null; // the last roll when they were asked for; null: they are to be asked for
let chosen = null; // the roll
let dice = []; // the right dice, as far as they were touched
let look = null; // what would change
let reason = null;
let adjusting = false;
let redraw = () => {};

const lastRoll = () => `${state?.session_number}/${state?.roll_number}/${state?.last_roll?.dice}`;

export async function readRolls() {
  rollsOf = lastRoll();
  try {
    rolls = await get("/api/rolls");
  } catch {
    rolls = null;
    // The next look after that asks again.
    setTimeout(() => {
      rollsOf = null;
    }, ASK_AGAIN_MS);
  }
  redraw();
}

export function forgetCorrection() {
  chosen = look = reason = null;
  dice = [];
  adjusting = false;
}

function choose(roll) {
  forgetCorrection();
  chosen = roll;
  redraw();
}

async function touchDie(place, value) {
  dice[place] = value;
  look = null;
  redraw();
  if (dice[0] && dice[1]) await lookAt();
}

async function lookAt() {
  const asked = [...dice];
  const answer = await send("/api/correction/look", { number: chosen.number, dice: asked }, { once: true, signed: true });
  if (String(asked) !== String(dice)) return;
  if (answer.outcome === "done") look = answer.body;
  else notice(answer.body?.message ?? TEXT.unreachable, answer.body?.refused ?? "look");
  redraw();
}

async function confirm() {
  const { number } = chosen;
  const sent = { number, dice, reason, at: look.at };
  if (await act("/api/correction", sent, TEXT.actions.correct(number), { signed: true })) {
    forgetCorrection();
    notice(TEXT.done_correction(number), "done");
    await readRolls();
  } else if (refusal === "stale") await lookAt();
  redraw();
}

async function confirmAdjustment() {
  const { number } = chosen;
  if (await sendAdjustment(number, reason, rolls.at)) {
    forgetCorrection();
    notice(TEXT.done_adjustment(number), "done");
  }
  await readRolls();
}

function adjust(adjustments) {
  adjusting = true;
  askAdjustment(adjustments);
  redraw();
}

export function renderCorrections() {
  // Another roll, or one that was corrected on the boxman's screen.
  if (lastRoll() !== rollsOf) readRolls();
  draw("correction", [rolls, chosen, dice, look, reason, adjusting, adjusting && renderAdjustment.shows()], () => {
    const page = chosen === null ? rollList() : adjusting ? adjustmentPage() : dice[0] && dice[1] && look ? comparisonPage() : dicePage();
    byId("correction").replaceChildren(...page);
  });
}

function rollList() {
  const found = rolls?.rolls ?? [];
  return [
    element("h2", {}, found.length ? TEXT.choose_roll : TEXT.no_rolls),
    element(
      "ol",
      { class: "rolls" },
      ...found.map((roll) =>
        element(
          "li",
          {},
          button(
            `roll-${roll.number}`,
            element("span", {}, element("small", {}, `#${roll.number}`), ...roll.dice.map(drawDie), element("b", {}, roll.dice[0] + roll.dice[1])),
            () => choose(roll),
          ),
        ),
      ),
    ),
    element("p", { class: "note" }, rolls ? TEXT.kept(rolls.most) : ""),
  ];
}

const back = () => button("correction-back", TEXT.back, () => choose(null));
const heading = (...more) =>
  element("header", {}, back(), element("h2", {}, TEXT.roll_number(chosen.number), " ", ...chosen.dice.map(drawDie)), ...more);

function dicePage() {
  const row = (place, words) =>
    element(
      "div",
      { class: "dice-row" },
      element("h3", {}, words),
      ...[1, 2, 3, 4, 5, 6].map((value) =>
        button(`right-${place + 1}-${value}`, drawDie(value), () => touchDie(place, value), { pressed: dice[place] === value }),
      ),
    );
  return [
    heading(button("adjust", TEXT.adjust, () => adjust([]))),
    row(0, TEXT.first_die),
    row(1, TEXT.second_die),
  ];
}

function reasonRow(codes) {
  const own = reason !== null && !codes.some((code) => TEXT.reasons[code] === reason);
  return element(
    "div",
    { class: "reasons" },
    element("h3", {}, TEXT.reason),
    ...codes.map((code) =>
      button(`reason-${code}`, TEXT.reasons[code], () => setReason(TEXT.reasons[code]), { pressed: reason === TEXT.reasons[code] }),
    ),
    button(
      "reason-other",
      own ? reason : TEXT.other_reason,
      () => ask({ title: TEXT.reason, kind: "sentence", value: own ? reason : "", length: 200 }, setReason),
      { pressed: own, className: "named" },
    ),
  );
}

function setReason(text) {
  reason = text || null;
  redraw();
}

function comparisonPage() {
  const blocked = look.blocked !== null;
  const deed = blocked
    ? button("adjust-instead", TEXT.adjust_instead, () => adjust(look.adjustments), { className: "primary" })
    : button("confirm-correction", TEXT.confirm_correction, confirm, { entry: true, available: reason !== null, className: "primary" });
  return [
    heading(element("h2", {}, "→ ", ...dice.map(drawDie)), button("other-dice", TEXT.right_dice, () => changeDice())),
    element("div", { class: "compared" }, ...comparison(look)),
    element("footer", {}, blocked ? element("p", { class: "note" }, TEXT.blocked_means) : reasonRow(["camera", "misread", "keyed"]), deed),
  ];
}

function changeDice() {
  dice = [];
  look = null;
  redraw();
}

function adjustmentPage() {
  const ready = reason !== null && renderAdjustment.isReady();
  return [
    heading(),
    ...renderAdjustment(redraw),
    element(
      "footer",
      {},
      reasonRow(["camera", "paid"]),
      button("confirm-adjustment", TEXT.confirm_adjustment, confirmAdjustment, { entry: true, available: ready, className: "primary" }),
    ),
  ];
}

export function buildCorrections(render) {
  redraw = render;
}

/** Escape goes back by a step. */
export function keyInCorrections(event) {
  if (event.key !== "Escape" || chosen === null) return false;
  choose(null);
  return true;
}
