// One line of text, asked for by another page of the dice dialog: a name, a serial number, what an instrument showed.

import { TEXT } from "./console_text.js";
import { byId, button, draw, render, setAvailable } from "./console_state.js";
import { addDicePage, showDicePage } from "./dice_dialog.js";
import { letterPad, tidied } from "./letter_pad.js";

let asked = null;
let turn = 0; // so that what is asked next is drawn anew
let enter = () => {};

/**
 * Asks for a text. `says` stands above it, `offered` are texts to be touched, `tab` is the tab that is lit, if any. done(text)
 * goes on; `ways` are other ways on, {name, words, go(text), empty: whether they need no text}. Nothing may be entered
 * where `optional`. `letters` are those of the pad. wrong(text) says why a text cannot be what it is given for.
 */
export function askText(question) {
  asked = {
    value: "",
    offered: [],
    most: 40,
    optional: false,
    letters: "names",
    ways: [],
    words: TEXT.dice.ok,
    wrong: () => null,
    ...question,
  };
  turn += 1;
  showDicePage("text");
}

const entered = () => tidied(byId("dice-text-field").value);
const isEntered = () => asked.optional || entered() !== "";

function renderText() {
  draw("dice-text", [turn], () => {
    byId("dice-text-says").textContent = asked.says;
    byId("dice-text-done").textContent = asked.words;
    byId("dice-text-ways").replaceChildren(
      ...asked.ways.map(({ name, words, go }) =>
        button(`dice-text-${name}`, words, () => go(entered()), { entry: true }),
      ),
    );
    byId("dice-text-offered").replaceChildren(
      ...asked.offered.map((text) => button(`offered-${text}`, text, () => enter(text), { className: "named" })),
    );
  });
  const wrong = asked.wrong(entered());
  byId("dice-text-wrong").textContent = wrong ?? "";
  setAvailable(byId("dice-text-done"), isEntered() && wrong === null);
  asked.ways.forEach(({ empty }, index) =>
    setAvailable(byId("dice-text-ways").children[index], Boolean(empty) || isEntered()),
  );
}

export function buildTextEntry() {
  const field = byId("dice-text-field");
  enter = letterPad(byId("dice-letters"), "dice-", field, render);
  byId("dice-text-done").addEventListener("click", () => asked.done(entered()));
  addDicePage("text", {
    get tab() {
      return asked.tab;
    },
    enter: () => {
      field.maxLength = asked.most;
      enter(asked.value, asked.letters);
    },
    render: renderText,
    confirm: () => byId("dice-text-done").click(),
  });
}
