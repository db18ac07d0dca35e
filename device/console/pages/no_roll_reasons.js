// The reasons of a void throw, each a button: the common ones beside the dice keys, all of them in their dialog, and on the
// layout while the dice are out.

import { TEXT } from "./console_text.js";
import {
  button,
  byId,
  command,
  currentSet,
  draw,
  reasonWords,
  render,
  rulesRead,
  setAvailable,
  state,
} from "./console_state.js";
import { forgetDice } from "./dice_entry.js";
import { onSecondTouch } from "./second_touch.js";
import { element } from "./terminal.js";

// What a throw is void for most often, under any rules.
const COMMON = ["off_table", "on_rail", "short"];
// A second touch of a finger that trembles says nothing of another throw: that one takes longer.
const REST_MS = 2000;

let resting = false;

/** The reasons that the rules in force know: { reason, words, counts, source }. */
export const noRollReasons = () =>
  Object.keys(currentSet()?.no_roll ?? {}).map((reason) => ({ reason, ...reasonWords(reason) }));

/** The button of a reason, named `<prefix>-<reason>`; `after(done)` is told what is under way. */
export function reasonButton(prefix, { reason, words, counts, source }, after) {
  const choose = async () => {
    const done = command({ no_roll: reason });
    after(done);
    if (!(await done)) return;
    forgetDice();
    rest();
  };
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

function rest() {
  resting = true;
  render();
  setTimeout(() => {
    resting = false;
    render();
  }, REST_MS);
}

/** The common reasons, one touch each whenever a roll may be entered. What is said by mistake is a record and moves no chip. */
export function renderCommonReasons() {
  draw("common-reasons", [state.table.rules, rulesRead], () => {
    const common = noRollReasons().filter(({ reason }) => COMMON.includes(reason));
    const named = (words) => element("span", {}, element("small", {}, TEXT.no_roll), words);
    byId("no-rolls").replaceChildren(
      ...common.map((said) => reasonButton("no-roll", { ...said, words: named(said.words) }, () => {})),
    );
  });
  for (const node of byId("no-rolls").children) setAvailable(node, state.open && !resting);
}
