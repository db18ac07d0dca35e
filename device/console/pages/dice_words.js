// The dice as words and tiles: sets at the table, where each die is, what the rules say of a reason.

import { TEXT } from "./console_text.js";
import { button, plain, state } from "./console_state.js";
import { element } from "./terminal.js";

const AT_TABLE = ["play", "offered", "reserve", "inspection", "floor"];

/** The sets of which a die is at the table: the one in play first. */
export function setsAtTable() {
  const there = state.dice.sets.filter((set) => set.dice.some(({ place }) => AT_TABLE.includes(place)));
  return there.sort((a, b) => diceAt(b, "play").length - diceAt(a, "play").length);
}

export const findSet = (name) => state.dice.sets.find(({ set }) => set === name) ?? null;

/** The names of a set's dice in these places, in the set's order. */
export const diceAt = (set, ...places) => set.dice.filter(({ place }) => places.includes(place)).map(({ die }) => die);

/** Numbers of dice as far as they tell the dice of their set from each other: 11 and 12 of 004711 and 004712. */
export function shortDice(set, dice) {
  const all = set.dice.map(({ die }) => die);
  let shared = 0;
  while (all.every((die) => shared < die.length - 2 && die[shared] === all[0][shared])) shared += 1;
  return dice.map((die) => die.slice(shared));
}

/** "3", "3 and 5", "1, 3 and 5". */
export function listed(dice) {
  return dice.length < 2 ? (dice[0] ?? "") : `${dice.slice(0, -1).join(", ")} ${TEXT.dice.and} ${dice.at(-1)}`;
}

/** An article as a button has room for it: without the regulation's name and what is said about it. */
export function shortArticle(article) {
  const short = article
    .replace(/ \(.*\)$/s, "")
    .split(":")[0]
    .split(", ")
    .at(-1);
  return short === "house" ? TEXT.dice.of_the_house : short;
}

/** A length in millimetres with up to two decimals, in hundredths: 2050 of "20.5" and "20,50"; null for another text. */
export function hundredthsOf(text) {
  const [, whole, part = ""] = /^(\d{1,2})(?:[.,](\d{1,2}))?$/.exec(text) ?? [];
  return whole === undefined ? null : Number(whole) * 100 + Number(part.padEnd(2, "0"));
}

/** The reasons to open the reserve, those that the rules allow now first. */
export function reasonsNow() {
  const { reasons } = state.dice;
  return [...reasons.filter(({ allowed }) => allowed), ...reasons.filter(({ allowed }) => !allowed)];
}

/** A reason's words, and under them the article that forbids a change for it now. */
export function reasonLabel({ reason, allowed, article }) {
  const words = TEXT.dice.reasons[reason] ?? plain(reason);
  if (allowed) return element("span", {}, words);
  return element("span", { title: article }, words, element("small", {}, TEXT.dice.against(shortArticle(article))));
}

/** The openings that wait for a reason, in their order. */
export const waitingOpenings = () => state.dice.openings.filter(({ reason, late }) => reason === null || late);

/** The one of them that is asked about: the last; null if none waits. */
export const waitingOpening = () => waitingOpenings().at(-1) ?? null;

/** A die as a touch target; `hint` is the digit of the keyboard that touches it. */
export function dieTile(testId, die, onclick, { pressed = null, hint = null, mark = null } = {}) {
  const content = element(
    "span",
    {},
    element("b", {}, die),
    mark === null ? null : element("small", {}, mark),
    hint === null ? null : element("i", {}, hint),
  );
  return button(testId, content, onclick, { pressed, className: "die-tile" });
}
