// The main screen: status line, phase and point, the last roll, and the work: the layout, or what to collect and to pay.

import { TEXT } from "./console_text.js";
import {
  button,
  byId,
  clockTime,
  currentSet,
  draw,
  isWired,
  money,
  reasonWords,
  rulesRead,
  setAvailable,
  state,
} from "./console_state.js";
import { diceAt, setsAtTable, shortDice } from "./dice_words.js";
import { buildLayout, renderLayout } from "./layout.js";
import { isTaken } from "./layout_places.js";
import { buildResults, hasResults, isSettledAnew, isVoided, renderResults, showsResults, turnResults } from "./results.js";
import { drawDie, element } from "./terminal.js";

// What says that the hardware is not as it should be.
const HARDWARE_ALERTS = ["node_offline", "input_unavailable", "input_stuck", "line_noisy"];

export { layoutNeed } from "./layout.js";
export { isInSteps, isSettling, resultsNeed } from "./results.js";

export function renderMainScreen() {
  renderStatus();
  renderGame();
  byId("closed").hidden = state.open;
  renderResults();
  renderLayout();
  renderTurn();
}

export function buildMainScreen() {
  buildResults();
  byId("last-roll").addEventListener("click", turnResults);
  buildLayout();
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
  byId("point").replaceChildren(...(point === null ? [] : [element("b", {}, point)]));
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
  byId("taken-now").textContent = !state.open ? "" : state.dice_out ? TEXT.dice_out_now : TEXT.taken_now(takenNow());
  byId("taken-now").dataset.out = String(state.open && state.dice_out);
  byId("dice-pass-rule").textContent = state.table.dice_pass.come_out_craps ? TEXT.pass_on_craps : TEXT.pass_on_seven_out;
  byId("button-new-shooter").classList.toggle("wanted", shooterWanted);
  setAvailable(byId("button-correct"), last !== null && state.open);
  setAvailable(byId("button-no-roll"), state.open);
  setAvailable(byId("button-new-shooter"), state.open);

  draw("last", [last, noRoll, rulesRead], () => {
    const voided = isVoided();
    byId("last-roll").dataset.dice = last ? last.dice.join("-") : "";
    byId("last-roll").dataset.corrected = String(last?.corrected ?? false);
    byId("last-roll").classList.toggle("voided", voided);
    byId("last-roll").classList.toggle("settled-anew", isSettledAnew());
    byId("last-dice").replaceChildren(...(last ? [...last.dice.map(drawDie), element("b", {}, last.total)] : []));
    const words = last
      ? [TEXT.roll_number(last.number), outcome(last), last.corrected ? TEXT.corrected : null]
      : [TEXT.no_roll_yet];
    if (isSettledAnew()) words.splice(1, words.length, TEXT.nothing_to_do);
    if (voided) words.splice(0, words.length, TEXT.no_roll_said(reasonWords(noRoll.reason).words));
    byId("last-words").textContent = words.filter(Boolean).join(" · ");
  });
  draw("recent", state.recent_rolls, () => {
    byId("recent").replaceChildren(
      ...state.recent_rolls.map(([one, two]) => element("li", { title: `${one}-${two}` }, one + two)),
    );
  });
}

/** The line bets that the phase takes, by name, and odds where there is a bet that may have them. */
function takenNow() {
  const bets = currentSet()?.bets ?? [];
  const lines = bets.filter(({ kind, stage }) => stage === "line" && isTaken(kind));
  const odds = bets.some(({ kind, stage }) => stage === "odds" && isTaken(kind));
  return [...lines.map(({ name }) => name), ...(odds ? [TEXT.odds] : [])].join(", ");
}

/** What a touch on the last roll leads to: its results, or back to the layout. */
function renderTurn() {
  const offers = state.open && hasResults();
  byId("last-roll").disabled = !offers;
  byId("last-turn").textContent = !offers ? "" : showsResults() ? TEXT.turn_to_layout : TEXT.turn_to_results;
}

function outcome({ total, point_before: before, point }) {
  if (before !== null && total === 7) return TEXT.seven_out;
  if (before !== null && total === before) return TEXT.point_made;
  if (before === null && point !== null) return TEXT.point_is(point);
  if (before === null) return [7, 11].includes(total) ? TEXT.natural : TEXT.craps;
  return null;
}
