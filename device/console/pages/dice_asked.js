// Who asked for a change of dice, and a note: what is said with the next change, offer or reason of an opening.

import { TEXT } from "./console_text.js";
import { button, render } from "./console_state.js";
import { addDicePage, drawPart, showDicePage } from "./dice_dialog.js";
import { askText } from "./dice_text_entry.js";
import { element } from "./terminal.js";
import { usedNames } from "./used_names.js";

export const NOTE_MAX = 200;
const ASKERS = ["shooter", "player", "inspector", "supervisor", "boxman"];
const NOTHING = { asked_by: null, asked_by_name: "", note: "" };

// Reasons that name who asked; for any other it has to be said.
const ASKER_OF = {
  shooter_request: "shooter",
  player_request: "player",
  inspector_request: "inspector",
  boxman_order: "boxman",
};

let said = NOTHING;
let after = null; // what waits for it to be said who asked

export function forgetAsked() {
  said = NOTHING;
}

/** The note as a part of an action, where there is one. */
export const askedNote = () => (said.note ? { note: said.note } : {});

/** Whether it is not known who asks for a change of dice for this reason. */
export const isAskerMissing = (reason) => !said.asked_by && !(reason in ASKER_OF);

/** Does it now if it is known who asks for a change for this reason, otherwise as soon as that was touched. */
export function whenAsked(reason, go) {
  if (!isAskerMissing(reason)) return go();
  after = go;
  showDicePage("asked");
}

/** The parts of a swap, a change or an offer: who asked as it was said, or as the reason has it. */
export function askedParts() {
  const parts = askedNote();
  if (said.asked_by) parts.asked_by = said.asked_by;
  if (said.asked_by_name) parts.asked_by_name = said.asked_by_name;
  return parts;
}

/** The button that shows what will be said, and leads to the page where it is entered. */
export function askedButton(reason) {
  const words = [TEXT.dice.askers[said.asked_by], said.asked_by_name, said.note].filter(Boolean).join(" · ");
  const go = () => {
    after = null;
    showDicePage("asked");
  };
  return button("asked", words || TEXT.dice.who_asked, go, {
    className: reason !== null && isAskerMissing(reason) ? "named signed wanted" : "named signed",
  });
}

/** What the button shows, so that it is drawn anew. */
export const askedShown = () => said;

function change(part) {
  said = { ...said, ...part };
  render();
}

function ask(part, question) {
  askText({
    value: said[part],
    optional: true,
    tab: "change",
    ...question,
    done: (text) => {
      change({ [part]: text });
      showDicePage("asked");
    },
  });
}

const askName = () => ask("asked_by_name", { says: TEXT.dice.asked_name, offered: usedNames() });
const askNote = () => ask("note", { says: TEXT.dice.note_says, most: NOTE_MAX, letters: "sentence" });

function field(name, label, value, go) {
  const content = element("span", {}, element("small", {}, label), element("b", {}, value || "…"));
  return button(name, content, go, { className: "named" });
}

function renderAsked() {
  drawPart("asked", [said], () => [
    element("h2", {}, TEXT.dice.who_asked_title, element("span", {}, TEXT.dice.who_asked_says)),
    element(
      "div",
      { class: "fields" },
      ...ASKERS.map((asker) =>
        button(
          `asked-by-${asker}`,
          TEXT.dice.askers[asker],
          () => touchAsker(asker),
          { pressed: said.asked_by === asker },
        ),
      ),
    ),
    element(
      "div",
      { class: "fields" },
      field("asked-name", TEXT.dice.asked_name, said.asked_by_name, askName),
      field("asked-note", TEXT.dice.note, said.note, askNote),
    ),
    element("div", { class: "room" }),
    element("div", { class: "deeds" }, button("asked-done", TEXT.dice.ok, done, { className: "primary" })),
  ]);
}

function touchAsker(asker) {
  const waiting = after;
  after = null;
  change({ asked_by: said.asked_by === asker ? null : asker });
  if (waiting === null) return;
  showDicePage("change");
  waiting();
}

const done = () => showDicePage("change");

export function buildAsked() {
  addDicePage("asked", {
    tab: "change",
    render: renderAsked,
    confirm: done,
    digit: (digit) => {
      if (ASKERS[digit - 1]) touchAsker(ASKERS[digit - 1]);
    },
  });
}
