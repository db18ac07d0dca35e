// A pad of digits for amounts: a touch screen has no keyboard.

import { TEXT } from "./console_text.js";
import { button } from "./console_state.js";

export const AMOUNT_DIGITS_MAX = 9;

/** Ten digits and C; onDigit(0 to 9), or onDigit(null) for C. The test ids begin with `prefix`. */
export function digitPad(home, prefix, onDigit) {
  const key = (digit) => button(`${prefix}digit-${digit}`, String(digit), () => onDigit(digit));
  const clear = button(`${prefix}digit-clear`, TEXT.digit_clear, () => onDigit(null), { className: "clear" });
  home.append(...[1, 2, 3, 4, 5, 6, 7, 8, 9].map(key), clear, key(0));
}
