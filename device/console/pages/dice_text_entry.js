// One line of text, asked for by another page of the dice dialog: a name, a serial number, what an instrument showed.

import { TEXT } from "./console_text.js";
import { byId, button, draw, render, setAvailable } from "./console_state.js";
import { addDicePage, showDicePage } from "./dice_dialog.js";
import { letterPad, tidied, withLetter } from "./letter_pad.js";

let asked = null;
let turn = 0; // so that what is asked next is drawn anew

/**
 * Asks for a text. `says` stands above it, `offered` are texts to be touched, `tab` is the page that asks. done(text)
 * goes on; `other` is a second way out, {words, go(text)}. Nothing may be entered where `optional`. `capitals`: the pad
 * has great letters only.
 */
export function askText(question) {
  asked = {
    value: "",
    offered: [],
    most: 40,
    optional: false,
    capitals: false,
    other: null,
    words: TEXT.dice.ok,
    ...question,
  };
  turn += 1;
  showDicePage("text");
}

function enter(text) {
  const field = byId("dice-text-field");
  field.value = text.slice(0, field.maxLength);
  field.focus();
  render();
}

const entered = () => tidied(byId("dice-text-field").value);

function renderText() {
  draw("dice-text", [turn], () => {
    byId("dice-text-says").textContent = asked.says;
    byId("dice-text-done").textContent = asked.words;
    byId("dice-text-other").hidden = asked.other === null;
    byId("dice-text-other").textContent = asked.other?.words ?? "";
    byId("dice-text-offered").replaceChildren(
      ...asked.offered.map((text) => button(`offered-${text}`, text, () => enter(text), { className: "named" })),
    );
  });
  setAvailable(byId("dice-text-done"), asked.optional || entered() !== "");
  setAvailable(byId("dice-text-other"), asked.optional || entered() !== "");
}

export function buildTextEntry() {
  letterPad(byId("dice-letters"), "dice-", (letter) => {
    const { value } = byId("dice-text-field");
    enter(asked.capitals && letter !== null ? value + letter : withLetter(value, letter));
  });
  byId("dice-text-field").addEventListener("input", render);
  byId("dice-text-done").addEventListener("click", () => asked.done(entered()));
  byId("dice-text-other").addEventListener("click", () => asked.other.go(entered()));
  addDicePage("text", {
    get tab() {
      return asked.tab;
    },
    enter: () => {
      byId("dice-text-field").maxLength = asked.most;
      enter(asked.value);
    },
    render: renderText,
    confirm: () => byId("dice-text-done").click(),
  });
}
