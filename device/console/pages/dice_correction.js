// The log put right after a count that differs: what the log says now, what was seen, and why it was wrong. Only what
// the count has seen is proposed.

import { TEXT } from "./console_text.js";
import { button } from "./console_state.js";
import { NOTE_MAX } from "./dice_asked.js";
import { addDicePage, drawPart, record, showDicePage, signers } from "./dice_dialog.js";
import { signedButton, whenNamed } from "./dice_duty.js";
import { askText } from "./dice_text_entry.js";
import { findSet } from "./dice_words.js";
import { element } from "./terminal.js";

// Where a correction can put a die. What lies before the shooter was offered to him: that is a deed of its own.
const PLACES = ["store", "reserve", "play", "floor", "inspection"];
const MISSING = "missing";
const IN_PLAY = 2;

let draft = null; // the set, and why its log was wrong

/** Begins with what the last count of this set saw elsewhere. */
export function beginCorrection(set) {
  if (draft?.set !== set.set) draft = { set: set.set, note: "" };
  showDicePage("correction");
}

const set = () => (draft === null ? null : findSet(draft.set));

/** One for each die that the count saw elsewhere: {die, log, seen}; nowhere is missing. */
function differing() {
  return set()
    .dice.filter(({ die }) => die in set().difference)
    .map(({ die, place }) => ({ die, log: place, seen: set().difference[die] ?? MISSING }));
}

const corrected = () => differing().filter(({ seen }) => PLACES.includes(seen));
const lost = () => differing().filter(({ log, seen }) => seen === MISSING && log !== MISSING);

function askNote() {
  askText({
    says: TEXT.dice.why_log_wrong,
    value: draft.note,
    offered: TEXT.dice.log_wrong_words,
    most: NOTE_MAX,
    letters: "sentence",
    tab: "count",
    done: (note) => {
      draft = { ...draft, note };
      showDicePage("correction");
    },
  });
}

/** Where the log will have a die, by the count or as it has it now. */
const placeThen = ({ die, place }) =>
  [...corrected(), ...lost()].find((one) => one.die === die)?.seen ?? place;
const inPlayThen = () => set().dice.filter((one) => placeThen(one) === "play").length;

const isReady = () => draft.note !== "" && corrected().length + lost().length > 0 && inPlayThen() <= IN_PLAY;

function signIt() {
  if (set() === null) return;
  if (draft.note === "") return askNote();
  if (isReady()) whenNamed(putRight);
}

/** First where dice were seen, then which were not: two deeds, and after a refusal what is left stands here still. */
async function putRight() {
  const { boxman, witness } = signers();
  const about = { set: draft.set, note: draft.note, done_by: boxman, seen_by: witness };
  const places = Object.fromEntries(corrected().map(({ die, seen }) => [die, seen]));
  const missing = lost().map(({ die }) => die);
  const count = set().last_count;
  let done = Object.keys(places).length === 0 || (await record({ correction: { ...about, places, count } }));
  if (done && missing.length > 0) done = await record({ missing: { ...about, dice: missing } });
  if (done) draft = null;
  showDicePage(done ? "count" : "correction");
}

/** How many dice are where: "In play: 2 · Reserve: 4". */
function sums(placeOf) {
  const counts = new Map();
  for (const die of set().dice) {
    const there = placeOf(die);
    counts.set(there, (counts.get(there) ?? 0) + 1);
  }
  return Object.keys(TEXT.dice.places)
    .filter((place) => counts.has(place))
    .map((place) => TEXT.dice.count_in(TEXT.dice.places[place], counts.get(place)))
    .join(" · ");
}

const cell = (words) => element("td", {}, words);

function row({ die, log, seen }) {
  const other = seen !== MISSING && !PLACES.includes(seen);
  const becomes = element("b", {}, other ? TEXT.dice.not_by_correction : TEXT.dice.places[seen]);
  const cells = [element("th", {}, die), cell(TEXT.dice.places[log]), cell("→"), cell(becomes)];
  return element("tr", { "data-die": die }, ...cells);
}

function renderCorrection() {
  if (set() === null) return;
  drawPart("correction", [draft, set(), signers()], () => {
    const number = corrected().length + lost().length;
    const head = [TEXT.dice.log_die, TEXT.dice.log_before, "", TEXT.dice.log_after];
    return [
      element("h2", {}, TEXT.dice.correct_log_of(draft.set), element("span", {}, TEXT.dice.correct_log_says)),
      element(
        "div",
        { class: "places" },
        element(
          "table",
          { class: "before-after", "data-testid": "before-after" },
          element("thead", {}, element("tr", {}, ...head.map((words) => element("th", {}, words)))),
          element("tbody", {}, ...differing().map(row)),
        ),
      ),
      element("p", { class: "sums", "data-testid": "sums-before" }, TEXT.dice.log_now(sums(({ place }) => place))),
      element("p", { class: "sums", "data-testid": "sums-after" }, TEXT.dice.log_then(sums(placeThen))),
      element(
        "div",
        { class: "deeds" },
        signedButton("correction"),
        button(
          "correction-note",
          element(
            "span",
            {},
            element("small", {}, TEXT.dice.why_log_wrong),
            draft.note ? element("b", {}, draft.note) : null,
          ),
          askNote,
          { className: draft.note ? "named signed" : "signed wanted" },
        ),
        button(
          "confirm-correction",
          inPlayThen() > IN_PLAY
            ? TEXT.dice.too_many_in_play(inPlayThen())
            : number === 0
              ? TEXT.dice.nothing_to_correct
              : TEXT.dice.sign_correction(TEXT.dice.dice_count(number)),
          signIt,
          { entry: true, available: isReady(), className: "primary" },
        ),
      ),
    ];
  });
}

export function buildCorrection() {
  addDicePage("correction", { tab: "count", render: renderCorrection, confirm: signIt });
}
