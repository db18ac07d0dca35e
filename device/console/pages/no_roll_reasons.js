// The reasons of a void throw, each a button: in their dialog, and on the layout while the dice are out.

import { TEXT } from "./console_text.js";
import { button, command, currentSet, reasonWords, state } from "./console_state.js";
import { onSecondTouch } from "./second_touch.js";
import { element } from "./terminal.js";

/** The reasons that the rules in force know: { reason, words, counts, source }. */
export const noRollReasons = () =>
  Object.keys(currentSet()?.no_roll ?? {}).map((reason) => ({ reason, ...reasonWords(reason) }));

/** The button of a reason, named `<prefix>-<reason>`; `after(done)` is told what is under way. */
export function reasonButton(prefix, { reason, words, counts, source }, after) {
  const choose = () => after(command({ no_roll: reason }));
  if (!counts) return button(`${prefix}-${reason}`, words, choose, { entry: true });
  // The rules read such dice all the same: that it is to void the throw is asked once more.
  const node = button(`${prefix}-${reason}`, "", null, { entry: true, className: "counts" });
  onSecondTouch(node, {
    subject: () => state.roll_number,
    words: () => element("span", {}, words, element("small", {}, source)),
    ask: () => TEXT.reason_again,
    act: choose,
  });
  return node;
}
