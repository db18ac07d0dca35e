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

let said = NOTHING;

export function forgetAsked() {
  said = NOTHING;
}

/** The note as a part of an action, where there is one. */
export const askedNote = () => (said.note ? { note: said.note } : {});

/** The parts of a swap, a change or an offer. What is not said follows from the reason. */
export function askedParts() {
  const parts = askedNote();
  if (said.asked_by) parts.asked_by = said.asked_by;
  if (said.asked_by_name) parts.asked_by_name = said.asked_by_name;
  return parts;
}

/** The button that shows what will be said, and leads to the page where it is entered. */
export function askedButton() {
  const words = [TEXT.dice.askers[said.asked_by], said.asked_by_name, said.note].filter(Boolean).join(" · ");
  return button("asked", words || TEXT.dice.who_asked, () => showDicePage("asked"), { className: "named signed" });
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
          () => change({ asked_by: said.asked_by === asker ? null : asker }),
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

const done = () => showDicePage("change");

export function buildAsked() {
  addDicePage("asked", {
    tab: "change",
    render: renderAsked,
    confirm: done,
    digit: (digit) => {
      if (ASKERS[digit - 1]) change({ asked_by: ASKERS[digit - 1] });
    },
  });
}
