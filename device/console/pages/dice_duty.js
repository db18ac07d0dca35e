// Who is on duty: the boxman and the witness whose names stand under what is done with the dice.

import { TEXT } from "./console_text.js";
import { button, render, state } from "./console_state.js";
import { closeOverlay } from "./dialogs.js";
import { addDicePage, drawPart, openDice, record, showDicePage, signers, signNextBy } from "./dice_dialog.js";
import { askText } from "./dice_text_entry.js";
import { element } from "./terminal.js";
import { usedNames } from "./used_names.js";

const ROLES = ["boxman", "witness"];

let draft = null;
let after = null; // what waits for the names

/** Does it now if names stand for it, otherwise once they are known. */
export function whenNamed(go) {
  if (signers() !== null) return go();
  askNames(go);
}

function askNames(go) {
  openDice("duty");
  after = go;
  render();
}

/** The button that shows who signs, and changes the names; then the dialog is back at `page`. */
export function signedButton(page) {
  const signing = signers();
  const words = signing ? TEXT.dice.signed(signing.boxman, signing.witness) : TEXT.dice.who_is_on_duty;
  const change = () => {
    showDicePage("duty");
    after = () => showDicePage(page);
    render();
  };
  return button(`signed-${page}`, words, change, { className: signing ? "named signed" : "signed wanted" });
}

/** Those of the session before are on duty in this one too; answers whether it was recorded. */
export const stayOnDuty = () => record({ on_duty: { ...state.dice.duty_before } });

function ask(role) {
  askText({
    says: TEXT.dice.roles[role],
    value: draft[role],
    offered: usedNames().filter((name) => ROLES.every((other) => draft[other] !== name)),
    tab: "duty",
    done: (name) => {
      draft = { ...draft, [role]: name };
      const missing = ROLES.find((other) => !draft[other]);
      if (missing) ask(missing);
      else {
        const waits = after;
        showDicePage("duty");
        after = waits;
        render();
      }
    },
  });
}

/** Whether the names are still those of the session before. */
const isAsBefore = () => {
  const { duty_before: before } = state.dice;
  return before !== null && ROLES.every((role) => draft[role] === before[role]);
};
const complete = () => ROLES.every((role) => draft[role]);

function goOn() {
  const waiting = after;
  after = null;
  draft = null;
  if (waiting) waiting();
  else closeOverlay();
}

async function beOnDuty() {
  if (!complete()) return ask(ROLES.find((role) => !draft[role]));
  if (await record({ on_duty: { ...draft } })) goOn();
}

function forThisEntry() {
  signNextBy(draft.boxman, draft.witness);
  goOn();
}

function renderDuty() {
  const { duty } = state.dice;
  // The names are given, and what waited for them is under way.
  if (draft === null) return;
  drawPart("duty", [draft, duty, after === null, signers()], () => [
    element("p", {}, duty ? TEXT.dice.on_duty_now(duty.boxman, duty.witness) : TEXT.dice.nobody_on_duty),
    !duty && isAsBefore() ? element("p", { class: "hint" }, TEXT.dice.same_two) : null,
    element(
      "div",
      { class: "fields" },
      ...ROLES.map((role) =>
        button(
          `duty-${role}`,
          element("span", {}, element("small", {}, TEXT.dice.roles[role]), element("b", {}, draft[role] || "…")),
          () => ask(role),
          { className: "named" },
        ),
      ),
    ),
    element("div", { class: "room" }),
    element(
      "div",
      { class: "deeds" },
      after && duty
        ? button("duty-once", TEXT.dice.this_entry_only, forThisEntry, { entry: true, available: complete() })
        : null,
      button("duty-confirm", TEXT.dice.on_duty_from_now, beOnDuty, { entry: true, className: "primary" }),
    ),
  ]);
}

export function buildDuty() {
  addDicePage("duty", {
    enter: () => {
      after = null;
      const begun = draft !== null && ROLES.some((role) => draft[role]);
      if (!begun) draft = { boxman: "", witness: "", ...(signers() ?? state.dice.duty_before) };
    },
    render: renderDuty,
    confirm: beOnDuty,
    digit: (digit) => {
      if (digit === 1 || digit === 2) ask(ROLES[digit - 1]);
    },
  });
}
