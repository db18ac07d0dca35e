// A pad of letters for names and other words: a touch screen has no keyboard. Each key shows the letter that it enters.

import { TEXT } from "./console_text.js";
import { button } from "./console_state.js";

const ROWS = ["1234567890", "QWERTYUIOP-", "ASDFGHJKLÑ.", "ZXCVBNM"];

/** Where the pad has great letters by itself: at the beginning of each word, or of the text. */
const GREAT = {
  names: (text) => !/\p{L}$/u.test(text),
  sentence: (text) => text.trim() === "",
};

/**
 * Letters, digits, a space, a key for great letters and one that takes a letter away, for one field. changed() follows
 * each change of it, by the pad or a keyboard. The test ids begin with `prefix`. Answers enter(text, letters): the
 * field holds this text now; `letters` is one of GREAT or "capitals" (all are great), and stays if left out.
 */
export function letterPad(home, prefix, field, changed) {
  let letters = "names";
  let locked = false; // whether all letters are great until the key is touched again
  const look = () => {
    const great = locked || GREAT[letters](field.value);
    for (const [letter, key] of keys) key.textContent = great ? letter : letter.toLowerCase();
    shift.setAttribute("aria-pressed", String(locked));
  };
  const enter = (text, wanted = null) => {
    if (wanted !== null) {
      locked = wanted === "capitals";
      letters = locked ? "sentence" : wanted;
    }
    field.value = text.slice(0, field.maxLength);
    look();
    // The keyboard goes on where the fingers left off.
    field.focus();
    changed();
  };
  const key = (letter) => [
    letter,
    button(`${prefix}letter-${letter.toLowerCase()}`, letter, (event) =>
      enter(field.value + event.currentTarget.textContent),
    ),
  ];
  const rows = ROWS.map((row) => [...row].map(key));
  const keys = rows.flat();
  const space = button(`${prefix}letter-space`, TEXT.space, () => enter(`${field.value} `), { className: "space" });
  const back = button(`${prefix}letter-back`, TEXT.letter_back, () => enter([...field.value].slice(0, -1).join("")));
  const shift = button(`${prefix}letter-shift`, TEXT.letter_shift, () => {
    locked = !locked;
    enter(field.value);
  });
  const [digits, ...others] = rows.map((row) => row.map(([, node]) => node));
  home.append(...digits, back, ...others.flat(), shift, space);
  field.addEventListener("input", () => {
    look();
    changed();
  });
  return enter;
}

/** What was entered as it is sent: no space at its ends, one between its words. */
export const tidied = (value) => value.trim().replace(/\s+/g, " ");
