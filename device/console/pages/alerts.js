// The alerts: the list on the main screen, and the dialog in which one is acknowledged by name.

import { TEXT } from "./console_text.js";
import {
  act,
  button,
  byId,
  clockTime,
  draw,
  named,
  render,
  rulesRead,
  sentence,
  setAvailable,
  state,
} from "./console_state.js";
import { addDialog, closeAfter, openOverlay } from "./dialogs.js";
import { letterPad, tidied, withLetter } from "./letter_pad.js";
import { pageBy } from "./scrolling.js";
import { element } from "./terminal.js";

// How many of the names that acknowledged before are offered to be touched.
const NAMES_MAX = 4;

let chosen = null; // the alert that the dialog is about, as it was when it was touched
let names = []; // who acknowledged on this page, the last one first

const isRaised = (alert) => alert.can_acknowledge && !alert.acknowledged_by;
const words = ({ code, text }) => TEXT.alerts[code]?.(text) ?? sentence(named(text));
/** The dialog's alert as the terminal has it now; none once it was put right. */
const current = () => state.alerts.find(({ id }) => id === chosen.id);

export function renderAlerts() {
  draw("alerts", [state.alerts, state.correcting, rulesRead], () => {
    // The banner over everything says it of a correction.
    const told = state.alerts.filter(({ code }) => code !== "correcting" || !state.correcting);
    byId("alert-list").replaceChildren(...told.map(alertRow));
  });
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
  const content = [element("span", {}, said), element("small", {}, since), element("i", {}, "▸")];
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

function enterName(name) {
  const field = byId("acknowledge-name");
  field.value = name.slice(0, field.maxLength);
  // The keyboard goes on where the fingers left off.
  field.focus();
  render();
}

async function acknowledge() {
  const name = enteredName();
  const done = await act(
    "/api/acknowledge",
    { alert: chosen.id, raised: chosen.raised, name },
    TEXT.actions.acknowledge(name),
  );
  if (done) names = [name, ...names.filter((other) => other !== name)].slice(0, NAMES_MAX);
  return done;
}

/** Whether it says something else than what was chosen: nobody acknowledges what they have not read. */
const changed = (alert) => alert !== undefined && alert.raised !== chosen.raised;

function renderAcknowledge() {
  const alert = current();
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
      element("strong", {}, words(alert ?? chosen)),
      element("small", {}, now ? sentence(now) : since ? TEXT.alert_since(since) : ""),
    );
    byId("acknowledge-says").dataset.state = !alert ? "gone" : alert.acknowledged_by ? "acknowledged" : "raised";
  });
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

export function buildAlerts() {
  pageBy(byId("alert-list"), byId("alerts-more"));
  letterPad(byId("letters"), "", (letter) => enterName(withLetter(byId("acknowledge-name").value, letter)));
  byId("acknowledge-name").addEventListener("input", render);
  byId("confirm-acknowledge").addEventListener("click", () => closeAfter(acknowledge()));
  addDialog("acknowledge", {
    begin: () => {
      byId("acknowledge-name").value = "";
    },
    render: renderAcknowledge,
    confirm: () => byId("confirm-acknowledge").click(),
  });
}
