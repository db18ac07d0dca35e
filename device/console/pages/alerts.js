// The alerts: the list on the main screen, and the dialog in which one is acknowledged by name.

import { TEXT } from "./console_text.js";
import {
  act,
  button,
  byId,
  clockTime,
  draw,
  named,
  notice,
  plain,
  refusal,
  render,
  rulesRead,
  sentence,
  setAvailable,
  state,
} from "./console_state.js";
import { addDialog, closeAfter, closeOverlay, openOverlay } from "./dialogs.js";
import { waitingOpenings } from "./dice_words.js";
import { letterPad, tidied } from "./letter_pad.js";
import { isInSteps, isSettling, layoutNeed, resultsNeed } from "./main_screen.js";
import { askWhy, openingInQuestion } from "./reserve_question.js";
import { pageBy } from "./scrolling.js";
import { element } from "./terminal.js";
import { nameUsed, supervisorNames, usedNames } from "./used_names.js";

// Of the column's height, what alerts may take from what needs it too.
const SHARE = 0.35;

let chosen = null; // the alert that the dialog is about, as it was when it was touched
let enterName = () => {};
let countBelow = () => {}; // brings the button that turns the page up to date
let opened = null; // the roll for which the list was opened over what is to be collected and paid
let firstShown = null; // the id of the first alert on the list

const isRaised = (alert) => alert.can_acknowledge && !alert.acknowledged_by;
const words = ({ code, text }) => TEXT.alert_texts[code]?.(text) ?? sentence(named(text));
/** The dialog's alert as the terminal has it now; none once it was put right. */
const current = () => state.alerts.find(({ id }) => id === chosen.id);

/** The opening of the reserve that an alert is about, while it still waits for a reason. */
function openingOf({ id, code }) {
  const named = waitingOpenings().find(({ seq }) => id === `${code}:${seq}`);
  // The one that is left open has no number in its name: it is the one that is open.
  return named ?? (code === "reserve_left_open" ? waitingOpenings().find(({ closed }) => closed === null) : undefined);
}

/**
 * Whether something else on the screen says it already: the banner of a correction, the question about the lid; where a
 * correction is undone and settled, whose rows want the room, the puck's own line.
 */
function isSaidElsewhere({ code }) {
  if (code === "correcting") return state.correcting;
  if (code === "puck_misplaced") return isInSteps();
  if (code !== "reserve_open") return false;
  return openingInQuestion()?.closed === null || state.alerts.some((alert) => openingOf(alert)?.closed === null);
}

export function renderAlerts() {
  const told = state.alerts.filter((alert) => !isSaidElsewhere(alert));
  draw("alerts", [told, told.map((alert) => openingOf(alert)?.seq), rulesRead], () => {
    byId("alert-list").replaceChildren(...told.map(alertRow));
    // What is new and grave comes first, and is not to be missed by a list that was scrolled.
    if (firstShown !== (told[0]?.id ?? null)) byId("alert-list").scrollTop = 0;
    firstShown = told[0]?.id ?? null;
    fit();
  });
}

/**
 * What is to be collected and paid comes first: as long as its rows do not fit, the alerts take one line, then the line
 * of the question with it, and open at a touch. Where nothing is to be settled, the texts stand whole as far as there
 * is room; the first one always does, of the others as much as says what they are about. No row is cut through.
 */
function fit() {
  const list = byId("alert-list");
  const settling = isSettling();
  if (opened !== null && opened !== state?.last_roll?.seq) opened = null;
  const isOpened = settling && opened !== null && list.childElementCount > 0;
  byId("work").toggleAttribute("data-reading", isOpened);
  byId("asks").classList.remove("beside");
  const place = list.scrollTop;
  giveRows(settling && !isOpened);
  if (settling && !isOpened && isQuestioned() && byId("results").clientHeight < resultsNeed()) {
    byId("asks").classList.add("beside");
    giveRows(true);
  }
  list.scrollTop = place;
  countBelow();
  const rest = list.childElementCount - wholeRows(list);
  byId("alerts-all").hidden = !isOpened && !(settling && rest > 0);
  byId("alerts-all").textContent = isOpened ? TEXT.fold_alerts : TEXT.more_alerts(rest, list.childElementCount);
}

const isQuestioned = () => !byId("question").hidden && byId("alert-list").childElementCount > 0;
const endOf = (row) => row.offsetTop + row.offsetHeight;
const wholeRows = (list) =>
  [...list.children].filter((row) => row.checkVisibility() && endOf(row) <= list.scrollTop + list.clientHeight + 1)
    .length;

/** Gives the list its height; `few`: a line at least, and no more than the results leave. */
function giveRows(few) {
  const list = byId("alert-list");
  const first = list.firstElementChild;
  byId("alerts-more").hidden = true;
  list.classList.remove("cut");
  byId("alerts").classList.remove("folded");
  if (first === null) return;
  const giveHeight = (height) => byId("alerts").style.setProperty("max-height", `${height}px`);
  const room = Math.max(roomForAlerts(), 0);
  giveHeight(few ? room : Math.max(SHARE * byId("work").clientHeight, first.offsetHeight, room));
  const isBeside = byId("asks").classList.contains("beside");
  if (!isBeside && list.scrollHeight <= list.clientHeight + 1) return;
  // The button makes the rows narrower, and so higher.
  list.classList.add("cut");
  if (few) byId("alerts").classList.add("folded");
  else byId("alerts-more").hidden = false;
  byId("alerts-all").hidden = !few;
  if (isBeside) byId("alerts").style.removeProperty("max-height");
  else giveHeight([...list.children].map(endOf).findLast((end) => end <= list.clientHeight) ?? endOf(first));
}

/** What the rest of the column leaves, in px. */
function roomForAlerts() {
  const work = byId("work");
  const gap = parseFloat(getComputedStyle(work).rowGap);
  const question = byId("question");
  const others = [...work.children].filter((node) => node.id !== "asks" && node.checkVisibility());
  if (question.checkVisibility()) others.push(question);
  const need = (node) => (node.id === "results" ? resultsNeed() : (layoutNeed(node) ?? node.offsetHeight));
  const closed = byId("closed");
  // It takes all that is left to it; its words and buttons need less.
  const spare = closed.hidden ? 0 : closed.offsetHeight - parseFloat(getComputedStyle(closed).minHeight);
  return work.clientHeight + spare - others.reduce((sum, node) => sum + need(node) + gap, 0);
}

function alertRow(alert) {
  const said = words(alert);
  const mood = alert.acknowledged_by ? "quiet" : alert.can_acknowledge ? "alarm" : null;
  const about = { "data-code": alert.code, "data-alert": alert.id, "data-mood": mood, title: said };
  const since = clockTime(alert.since);
  if (mood !== "alarm") {
    const note = alert.acknowledged_by ? TEXT.acknowledged_by(alert.acknowledged_by) : null;
    return element("li", about, element("span", {}, said), note ? element("small", {}, note) : null);
  }
  const mark = openingOf(alert) ? element("em", {}, TEXT.say_why) : element("i", {}, "▸");
  const content = [element("span", {}, said), element("small", {}, since), mark];
  const touched = { type: "button", "data-testid": `alert-${alert.id}`, onclick: () => choose(alert) };
  return element("li", about, element("button", touched, ...content));
}

function choose(alert) {
  chosen = alert;
  openOverlay("acknowledge");
}

/** Opens the dialog for the first alert that still waits for a name. */
export function chooseFirstAlert() {
  const first = state?.alerts.find(isRaised);
  if (first) choose(first);
}

const enteredName = () => tidied(byId("acknowledge-name").value);

async function acknowledge() {
  const name = enteredName();
  const done = await act(
    "/api/acknowledge",
    { alert: chosen.id, raised: chosen.raised, name },
    TEXT.actions.acknowledge(name),
    { signed: chosen.needs_another },
  );
  if (done) nameUsed(name);
  else if (refusal === "same_name") notice(TEXT.supervisor_acknowledges(name), refusal);
  else if (refusal === "not_a_supervisor") notice(TEXT.not_a_supervisor(name), refusal);
  return done;
}

/** Whether it says something else than what was chosen: nobody acknowledges what they have not read. */
const changed = (alert) => alert !== undefined && alert.raised !== chosen.raised;

function renderAcknowledge() {
  const alert = current();
  const needsAnother = chosen.needs_another;
  draw("acknowledge", [alert, chosen, rulesRead], () => {
    const since = clockTime(chosen.since);
    const now = changed(alert)
      ? TEXT.alert_changed
      : alert?.acknowledged_by
        ? TEXT.acknowledged_by(alert.acknowledged_by)
        : alert
          ? null
          : TEXT.alert_gone;
    byId("acknowledge-says").replaceChildren(
      element("b", {}, TEXT.alerts[chosen.code] ?? sentence(plain(chosen.code))),
      element("strong", {}, words(alert ?? chosen)),
      element("small", {}, now ? sentence(now) : since ? TEXT.alert_since(since) : ""),
      alert && isRaised(alert) && needsAnother ? element("b", {}, TEXT.supervisor_must_acknowledge) : "",
    );
    byId("acknowledge-says").dataset.state = !alert ? "gone" : alert.acknowledged_by ? "acknowledged" : "raised";
  });
  byId("say-why").hidden = !alert || !openingOf(alert);
  const { boxman, witness } = state.dice.duty ?? {};
  const names = needsAnother ? supervisorNames([boxman, witness]) : usedNames();
  draw("acknowledge-names", names, () => {
    byId("acknowledge-names").replaceChildren(
      ...names.map((name) => button(`name-${name}`, name, () => enterName(name), { className: "named" })),
    );
  });
  setAvailable(
    byId("confirm-acknowledge"),
    Boolean(alert) && !changed(alert) && isRaised(alert) && enteredName() !== "",
  );
}

function sayWhy() {
  const opening = openingOf(chosen);
  closeOverlay();
  if (opening) askWhy(opening);
}

/** Opens the list over what is to be settled, until another roll; folds it again. */
function turnAll() {
  opened = opened === null ? state.last_roll.seq : null;
  byId("alert-list").scrollTop = 0;
  fit();
}

export function buildAlerts() {
  countBelow = pageBy(byId("alert-list"), byId("alerts-more"), undefined, { whole: true });
  // What stands beside and below has another height now.
  for (const id of ["work", "question"]) new ResizeObserver(fit).observe(byId(id));
  const results = new MutationObserver(fit);
  // Only what is listed: how it is laid out follows from the room that is left here.
  for (const list of document.querySelectorAll("#results ol")) results.observe(list, { childList: true });
  byId("alerts-all").addEventListener("click", turnAll);
  byId("say-why").addEventListener("click", sayWhy);
  enterName = letterPad(byId("letters"), "", byId("acknowledge-name"), render);
  byId("confirm-acknowledge").addEventListener("click", () => closeAfter(acknowledge()));
  addDialog("acknowledge", {
    begin: () => enterName(""),
    render: renderAcknowledge,
    confirm: () => byId("confirm-acknowledge").click(),
  });
}
