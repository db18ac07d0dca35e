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
import { resultsNeed } from "./main_screen.js";
import { askWhy, openingInQuestion } from "./reserve_question.js";
import { pageBy } from "./scrolling.js";
import { element } from "./terminal.js";
import { nameUsed, usedNames } from "./used_names.js";

// Of the column's height, what alerts may take from what needs it too.
const SHARE = 0.35;
// Alerts that say of the open reserve what its question asks about.
const RESERVE_OPEN = ["reserve_left_open", "reserve_open_during_roll", "reserve_open_while_closed"];

// Alerts about dice, which nobody whom they are about may put away (alert_book.py).
export const ANOTHER_PERSON = [
  "against_rule",
  "count_differs",
  "no_opening_count",
  "no_closing_count",
  "slots_changed_shut",
  "reserve_unexplained",
  "reserve_left_open",
  "reserve_open_during_roll",
  "reserve_open_while_closed",
  "slots_disagree",
  "dice_in_play",
  "dice_missing",
  "set_to_replace",
  "set_served_before",
];

let chosen = null; // the alert that the dialog is about, as it was when it was touched
let enterName = () => {};
let countBelow = () => {}; // brings the button that turns the page up to date

const isRaised = (alert) => alert.can_acknowledge && !alert.acknowledged_by;
const words = ({ code, text }) => TEXT.alert_texts[code]?.(text) ?? sentence(named(text));
/** The dialog's alert as the terminal has it now; none once it was put right. */
const current = () => state.alerts.find(({ id }) => id === chosen.id);

/** The opening of the reserve that an alert is about, while it still waits for a reason. */
function openingOf({ id, code }) {
  if (code === "reserve_unexplained") return waitingOpenings().find(({ seq }) => id === `${code}:${seq}`);
  return RESERVE_OPEN.includes(code) ? waitingOpenings().find(({ closed }) => closed === null) : undefined;
}

/** Whether something else on the screen says it already: the banner of a correction, the question about the lid. */
function isSaidElsewhere({ code }) {
  if (code === "correcting") return state.correcting;
  return code === "reserve_open" && openingInQuestion()?.closed === null;
}

export function renderAlerts() {
  const told = state.alerts.filter((alert) => !isSaidElsewhere(alert));
  draw("alerts", [told, told.map((alert) => openingOf(alert)?.seq), rulesRead], () => {
    byId("alert-list").replaceChildren(...told.map(alertRow));
    fit();
  });
}

/**
 * The texts stand whole as long as what is below them has the room that it needs. Where they do not fit, the first one
 * still stands whole, of the others as much as says what they are about, and no row is cut through.
 */
function fit() {
  const list = byId("alert-list");
  const first = list.firstElementChild;
  if (first === null) return;
  const place = list.scrollTop;
  byId("alerts-more").hidden = true;
  list.classList.remove("cut");
  const giveHeight = (height) => byId("alerts").style.setProperty("max-height", `${height}px`);
  giveHeight(Math.max(SHARE * byId("work").clientHeight, first.offsetHeight, roomForAlerts()));
  if (list.scrollHeight > list.clientHeight + 1) {
    list.classList.add("cut");
    // It makes the rows narrower, and so higher.
    byId("alerts-more").hidden = false;
    const ends = [...list.children].map((row) => row.offsetTop + row.offsetHeight);
    giveHeight(ends.findLast((end) => end <= list.clientHeight) ?? ends[0]);
  }
  list.scrollTop = place;
  countBelow();
}

/** What the rest of the column leaves, in px. */
function roomForAlerts() {
  const work = byId("work");
  const gap = parseFloat(getComputedStyle(work).rowGap);
  const others = [...work.children].filter((node) => node.id !== "alerts" && node.checkVisibility());
  const need = (node) => (node.id === "results" ? resultsNeed() : node.offsetHeight);
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
  );
  if (done) nameUsed(name);
  else if (refusal === "same_name") notice(TEXT.supervisor_acknowledges(name), refusal);
  return done;
}

/** Whether it says something else than what was chosen: nobody acknowledges what they have not read. */
const changed = (alert) => alert !== undefined && alert.raised !== chosen.raised;

function renderAcknowledge() {
  const alert = current();
  const needsAnother = ANOTHER_PERSON.includes(chosen.code);
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
  const names = usedNames().filter((name) => !needsAnother || ![boxman, witness].includes(name));
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

export function buildAlerts() {
  countBelow = pageBy(byId("alert-list"), byId("alerts-more"));
  // What stands beside and below has another height now.
  for (const id of ["work", "question"]) new ResizeObserver(fit).observe(byId(id));
  const results = new MutationObserver(fit);
  // Only what is listed: how it is laid out follows from the room that is left here.
  for (const list of document.querySelectorAll("#results ol")) results.observe(list, { childList: true });
  byId("say-why").addEventListener("click", sayWhy);
  enterName = letterPad(byId("letters"), "", byId("acknowledge-name"), render);
  byId("confirm-acknowledge").addEventListener("click", () => closeAfter(acknowledge()));
  addDialog("acknowledge", {
    begin: () => enterName(""),
    render: renderAcknowledge,
    confirm: () => byId("confirm-acknowledge").click(),
  });
}
