// One line of text or a number, asked for over the page with a pad that a finger hits.

import { button, byId, render } from "./console_state.js";
import { digitPad } from "./digit_pad.js";
import { letterPad, tidied } from "./letter_pad.js";
import { TEXT } from "./supervisor_text.js";

const DIGITS_MAX = 12;
let then = null;
let enter = () => {};
let numeric = false;

export const isAsking = () => !byId("ask").hidden;

/** Asks for a text (`kind` "names" or "sentence") or a number ("number"); done(text) gets it, "" where it was emptied. */
export function ask({ title, kind, value = "", length = 40 }, done) {
  then = done;
  numeric = kind === "number";
  byId("ask-title").textContent = title;
  byId("ask-field").maxLength = numeric ? DIGITS_MAX : length;
  byId("ask-letters").hidden = numeric;
  byId("ask-digits").hidden = !numeric;
  byId("ask").hidden = false;
  byId("page").inert = true;
  enter(String(value), numeric ? null : kind);
  byId("ask-field").focus();
}

function close(answer) {
  if (!isAsking()) return;
  byId("ask").hidden = true;
  byId("page").inert = false;
  if (answer !== null) then(answer);
  render();
}

const answer = () => {
  const text = tidied(byId("ask-field").value);
  close(numeric ? text.replace(/\D/g, "") : text);
};

export function buildAsk() {
  const field = byId("ask-field");
  enter = letterPad(byId("ask-letters"), "ask-", field, () => {});
  digitPad(byId("ask-digits"), "ask-", (digit) => {
    field.value = digit === null ? "" : (field.value + digit).slice(0, DIGITS_MAX);
  });
  byId("ask-deeds").append(
    button("ask-cancel", TEXT.back, () => close(null)),
    button("ask-ok", TEXT.ok, answer, { className: "primary" }),
  );
}

/** Answers the keyboard while it asks; whether it took the key. */
export function keyInAsk(event) {
  if (!isAsking()) return false;
  if (event.key === "Enter") answer();
  else if (event.key === "Escape") close(null);
  else return true;
  event.preventDefault();
  return true;
}
