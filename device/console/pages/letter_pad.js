// A pad of letters for names and other words: a touch screen has no keyboard.

import { TEXT } from "./console_text.js";
import { button } from "./console_state.js";

const ROWS = ["1234567890", "QWERTYUIOP-", "ASDFGHJKLÑ.", "ZXCVBNM"];

/**
 * Letters, digits, a space and a key that takes one away; onLetter("A", " ", ...), or onLetter(null) for that key. The
 * test ids begin with `prefix`.
 */
export function letterPad(home, prefix, onLetter) {
  const key = (letter) => button(`${prefix}letter-${letter.toLowerCase()}`, letter, () => onLetter(letter));
  const space = button(`${prefix}letter-space`, TEXT.space, () => onLetter(" "), { className: "space" });
  const back = button(`${prefix}letter-back`, TEXT.letter_back, () => onLetter(null));
  const [digits, ...letters] = ROWS.map((row) => [...row].map(key));
  home.append(...digits, back, ...letters.flat(), space);
}

/** `value` after a letter of the pad: great at the beginning of a word, else small; null takes the last one away. */
export function withLetter(value, letter) {
  if (letter === null) return [...value].slice(0, -1).join("");
  return value + (/\p{L}$/u.test(value) ? letter.toLowerCase() : letter);
}

/** What was entered as it is sent: no space at its ends, one between its words. */
export const tidied = (value) => value.trim().replace(/\s+/g, " ");
