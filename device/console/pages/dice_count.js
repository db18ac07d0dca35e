// A count of the dice: place by place as they are seen, with what differs from the log named before anybody signs. A
// die that was picked up has to be put somewhere first.

import { TEXT } from "./console_text.js";
import { act, button, render, state } from "./console_state.js";
import { closeAfter } from "./dialogs.js";
import { addDicePage, drawPart, openDice, record, showDicePage, signers } from "./dice_dialog.js";
import { signedButton, whenNamed } from "./dice_duty.js";
import { askText } from "./dice_text_entry.js";
import { beginCorrection } from "./dice_correction.js";
import { dieTile, findSet, setsAtTable } from "./dice_words.js";
import { pendingNote } from "./reserve_question.js";
import { onSecondTouch } from "./second_touch.js";
import { element } from "./terminal.js";

const COUNTS = ["opening", "closing", "check"];
// Always counted; the other places only while a die is there.
const MAIN_PLACES = ["play", "reserve"];
const OTHER_PLACES = ["offered", "inspection", "floor", "store"];
const NOWHERE = "nowhere";

let chosenSet = null;
let kind = null; // which count, once it was touched
let moved = {}; // dice that are seen elsewhere than the log has them; also dice that are not of the set
let die = null; // the die that the next place is for
let closing = false; // whether the table is closed once the dice are counted
let counted = []; // the sets whose closing count was signed here, each as "session set"

const set = () => findSet(chosenSet) ?? setsAtTable()[0] ?? null;
const count = () => kind ?? (state.dice.counts.opening === undefined ? "opening" : state.open ? "check" : "closing");

const inSession = (name) => `${state.session_number} ${name}`;

/** The sets at the table without a closing count of this session, as far as this page can know. */
function uncounted() {
  const { session, closing: last } = state.dice.counts;
  return setsAtTable().filter(
    ({ set: name, last_count: seq }) =>
      !counted.includes(inSession(name)) && !(session === state.session_number && last !== undefined && seq === last),
  );
}

/** Whether dice are at the table that are to be counted before it is closed. */
export const isCountMissing = () => uncounted().length > 0;

const closeTable = () => closeAfter(act("/api/close", {}, TEXT.actions.close_table()));

/** The closing count of what is at the table; the table is closed after it. */
export function countAndClose() {
  openDice("count");
  closing = true;
  choose({ kind: "closing", set: uncounted()[0].set });
}

/** Where the log has a die, as a count sees it: what is missing is nowhere. */
const logged = (name) => {
  const place = set().dice.find((one) => one.die === name)?.place ?? null;
  return [...MAIN_PLACES, ...OTHER_PLACES].includes(place) ? place : NOWHERE;
};
const names = () => [
  ...set().dice.map((one) => one.die),
  ...Object.keys(moved).filter((name) => !set().dice.some((one) => one.die === name)),
];
const seenAt = (name) => moved[name] ?? logged(name);

function differences() {
  return names()
    .filter((name) => seenAt(name) !== logged(name))
    .map((name) => {
      const seen = TEXT.dice.seen_at[seenAt(name)];
      return set().dice.some((one) => one.die === name)
        ? TEXT.dice.differs(name, TEXT.dice.seen_at[logged(name)], seen)
        : TEXT.dice.not_of_set(name, seen);
    });
}

function touchDie(name) {
  die = die === name ? null : name;
  render();
}

function touchPlace(place) {
  if (die !== null) {
    const { [die]: _before, ...others } = moved;
    moved = place === logged(die) ? others : { ...others, [die]: place };
    die = null;
    render();
    return;
  }
  if (place === NOWHERE) return;
  // Without a die in hand: one that is not of this set lies there.
  askText({
    says: TEXT.dice.another_die(TEXT.dice.seen_at[place]),
    letters: "capitals",
    tab: "count",
    done: (name) => {
      moved = { ...moved, [name]: place };
      showDicePage("count");
    },
  });
}

function choose(part) {
  kind = part.kind ?? kind;
  if (kind !== "closing") closing = false;
  chosenSet = part.set ?? chosenSet;
  if (part.set) moved = {};
  die = null;
  render();
}

function signIt() {
  if (die !== null) return;
  const seen = Object.fromEntries(MAIN_PLACES.map((place) => [place, []]));
  for (const name of names()) {
    const place = seenAt(name);
    if (place !== NOWHERE) (seen[place] ??= []).push(name);
  }
  const name = set().set;
  const signed = count();
  const closes = closing;
  whenNamed(async () => {
    const done = await record({ count: { set: name, count: signed, seen } });
    if (done) {
      moved = {};
      kind = null;
      if (signed === "closing") counted = [...counted, inSession(name)];
      if (closes && !isCountMissing()) {
        await closeTable();
        return;
      }
    }
    showDicePage("count");
    if (closes && isCountMissing()) {
      closing = true;
      choose({ kind: "closing", ...(done ? { set: uncounted()[0].set } : {}) });
    }
  });
}

/** Closing without the count is done at the second touch, which says what it means. */
function uncountedButton() {
  const node = button("close-uncounted", "", null, { entry: true });
  onSecondTouch(node, {
    subject: () => state.session_number,
    words: () => TEXT.dice.close_uncounted,
    ask: () => TEXT.dice.close_uncounted_again,
    act: closeTable,
  });
  return node;
}

function placeRow(place) {
  const there = names().filter((name) => seenAt(name) === place);
  const tiles = there.map((name) =>
    dieTile(`count-${name}`, name, () => touchDie(name), {
      pressed: name === die,
      mark: name in moved ? TEXT.dice.moved_mark : null,
    }),
  );
  const label = element(
    "span",
    {},
    element("b", {}, TEXT.dice.seen_at[place]),
    element("small", {}, TEXT.dice.dice_count(there.length)),
  );
  return element(
    "div",
    { class: "place", "data-place": place },
    button(`place-${place}`, label, () => touchPlace(place), { className: die !== null ? "wanted" : null }),
    element("div", {}, ...tiles),
  );
}

function renderCount() {
  const there = setsAtTable();
  const { counts, openings } = state.dice;
  drawPart("count", [there, chosenSet, count(), moved, die, counts, openings, closing, signers()], () => {
    if (set() === null) return [element("p", { class: "empty" }, TEXT.dice.no_set_at_table)];
    const places = [
      ...MAIN_PLACES,
      ...OTHER_PLACES.filter((place) => names().some((name) => [seenAt(name), logged(name)].includes(place))),
      NOWHERE,
    ];
    const differing = differences();
    const isPutRight = Object.keys(set().difference).length === 0 || Object.keys(moved).length > 0 || die !== null;
    return [
      pendingNote("count", TEXT.dice.todo_count),
      element(
        "div",
        { class: "fields" },
        ...COUNTS.map((name) =>
          button(
            `count-${name}`,
            element(
              "span",
              {},
              TEXT.dice.counts[name],
              name in state.dice.counts ? element("small", {}, TEXT.dice.counted) : null,
            ),
            () => choose({ kind: name }),
            { pressed: name === count() },
          ),
        ),
        ...(there.length > 1
          ? there.map(({ set: name }) =>
              button(`count-set-${name}`, TEXT.dice.set_named(name), () => choose({ set: name }), {
                pressed: name === set().set,
                className: "named",
              }),
            )
          : []),
      ),
      closing ? element("p", { class: "pending", "data-testid": "count-closes" }, TEXT.dice.count_closes) : null,
      // What differs says more, and needs the room.
      differing.length > 0 || closing
        ? null
        : element("p", { class: "hint" }, die === null ? TEXT.dice.count_hint : TEXT.dice.count_where(die)),
      element("div", { class: "places" }, ...places.map(placeRow)),
      element(
        "ul",
        { class: "needs differences", "data-testid": "differences" },
        ...differing.map((text) => element("li", {}, text)),
      ),
      element(
        "div",
        { class: "deeds" },
        signedButton("count"),
        isPutRight ? null : button("correct-log", TEXT.dice.correct_log, () => beginCorrection(set())),
        closing ? uncountedButton() : null,
        button(
          "confirm-count",
          die === null
            ? [
                TEXT.dice.sign_count(TEXT.dice.counts[count()], differing.length),
                closing && uncounted().length < 2 ? TEXT.dice.then_close : "",
              ].join("")
            : TEXT.dice.count_where(die),
          signIt,
          { entry: true, available: die === null, className: "primary" },
        ),
      ),
    ];
  });
}

export function buildCount() {
  addDicePage("count", {
    enter: () => {
      // A die that was in the hand when somebody looked elsewhere lies where it lay.
      die = null;
    },
    leave: () => {
      closing = false;
    },
    render: renderCount,
    confirm: () => set() !== null && signIt(),
  });
}
