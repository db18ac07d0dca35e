// The question on the main screen: why the reserve was opened, which die a void throw was about, and who is on duty in
// a new session. The dice keys stay free meanwhile.

import { TEXT } from "./console_text.js";
import { button, clockTime, draw, byId, reasonWords, render, state } from "./console_state.js";
import { closeAfter } from "./dialogs.js";
import { openChange } from "./dice_change.js";
import { openDice, record } from "./dice_dialog.js";
import { askedNote, forgetAsked, NOTE_MAX } from "./dice_asked.js";
import { stayOnDuty, whenNamed } from "./dice_duty.js";
import { askText } from "./dice_text_entry.js";
import {
  diceAt,
  listed,
  reasonLabel,
  reasonsNow,
  setsAtTable,
  waitingOpening,
  waitingOpenings,
} from "./dice_words.js";
import { onSecondTouch } from "./second_touch.js";
import { element } from "./terminal.js";
import { supervisorNames } from "./used_names.js";

// The reasons of a void throw that are about one die, or both.
const ABOUT_A_DIE = ["off_table", "in_dice_cup", "on_chips", "on_rail", "broken"];
// A reason for which no die changes its place: one touch says all.
const CLOSING = "closing";
const COUNTS = ["opening", "closing", "check"];

let touched = { subject: null, folded: false }; // what was folded away or unfolded by a touch
let passedOver = null; // seq of the void throw of which the boxman does not want to name a die
let wanted = null; // seq of the opening that somebody wants to explain before all else
let begun = { seq: null, reason: null }; // the reason that was touched for an opening, and that is not recorded yet

async function recordReason(explained) {
  const done = await record({ explain: explained });
  if (done) forgetAsked();
  return done;
}

/** Explains an opening of the reserve for which no die was moved; a late one by a supervisor, who signs. */
export function explain(opening, reason) {
  const about = { opening: opening.seq, reason, ...askedNote() };
  if (!opening.late) {
    whenNamed(() => closeAfter(recordReason({ ...about, as: "boxman" })));
    return;
  }
  const sign = (name, note) => closeAfter(recordReason({ ...about, ...note, as: "supervisor", done_by: name }));
  const { boxman, witness } = state.dice.duty ?? {};
  openDice("change");
  askText({
    says: TEXT.dice.supervisor_signs(
      TEXT.dice.reasons[reason],
      TEXT.dice.opening_of(opening.roll_number, opening.shooter),
    ),
    offered: supervisorNames([boxman, witness, ...opening.duty]),
    words: TEXT.dice.explain,
    ways: [{ name: "note", words: TEXT.dice.with_note, go: (name) => askNote((note) => sign(name, { note })) }],
    done: (name) => sign(name, {}),
  });
}

function askNote(done) {
  askText({
    says: TEXT.dice.note_says,
    most: NOTE_MAX,
    letters: "sentence",
    words: TEXT.dice.explain,
    done,
  });
}

/** On a page that a reason has led to: that it does not count yet, and what makes it count; null if it does. */
export function pendingNote(reason, todo) {
  const opening = waitingOpening();
  if (opening === null || opening.late || reason === null) return null;
  const words = TEXT.dice.pending(TEXT.dice.reasons[reason], todo);
  return element("p", { class: "pending", "data-testid": "pending" }, words);
}

function answer(opening, reason) {
  begun = { seq: opening.seq, reason };
  // What was counted since is the reason's proof; the count is the answer where nobody is late with it.
  const uncounted = reason === "count" && !COUNTS.some((count) => state.dice.counts[count] > opening.seq);
  if (uncounted && setsAtTable().length > 0) openDice("count");
  else if (opening.late || reason === "count" || reason === CLOSING || setsAtTable().length === 0)
    explain(opening, reason);
  else if (reason === "new_set") openDice("sets");
  else openChange(reason);
}

/** The reason that was touched for this opening, and that does not count yet. */
const begunReason = (opening) => (opening !== null && opening.seq === begun.seq && !opening.late ? begun.reason : null);

function voidThrow() {
  const { last_no_roll: void_, last_roll: last, dice } = state;
  if (void_ === null || (last !== null && last.seq > void_.seq)) return null;
  if (!ABOUT_A_DIE.includes(void_.reason) || void_.seq === dice.last_void_throw || void_.seq === passedOver)
    return null;
  const set = setsAtTable()[0];
  const inPlay = set ? diceAt(set, "play") : [];
  return inPlay.length === 0 ? null : { seq: void_.seq, reason: void_.reason, set: set.set, dice: inPlay };
}

function voidThrowTiles(about) {
  const say = (dice) =>
    whenNamed(() => closeAfter(record({ void_throw: { set: about.set, no_roll: about.seq, dice } })));
  const tile = (name, words, dice) => button(name, words, () => say(dice), { entry: true });
  const passOver = () => {
    passedOver = about.seq;
    render();
  };
  return [
    ...about.dice.map((die) => tile(`void-die-${die}`, TEXT.dice.die(die), [die])),
    about.dice.length > 1 ? tile("void-both", TEXT.dice.dice(listed(about.dice)), about.dice) : null,
    button("void-none", TEXT.dice.no_die_named, passOver),
  ].filter(Boolean);
}

function openingTiles(opening) {
  return reasonsNow().map((said) =>
    button(`reason-of-opening-${said.reason}`, reasonLabel(said), () => answer(opening, said.reason), {
      entry: true,
      className: begunReason(opening) === said.reason ? "begun" : said.allowed ? null : "forbidden",
    }),
  );
}

function openingWords(opening) {
  const others = waitingOpenings().length - 1;
  const open = opening.closed === null;
  const why = opening.late ? TEXT.dice.supervisor_why : open ? TEXT.dice.why_open : TEXT.dice.why_opened;
  return [
    element("b", {}, begunReason(opening) === null ? why : TEXT.dice.not_recorded),
    element(
      "small",
      {},
      open ? TEXT.dice.since(clockTime(state.reserve.since)) : TEXT.dice.after_roll(opening.roll_number),
    ),
    others > 0 ? element("small", {}, TEXT.dice.more_openings(others)) : null,
  ].filter(Boolean);
}

/**
 * Whether the answers leave their room to what else is to be done: as it was touched, otherwise during a correction and
 * while a roll that came after the question is still to be collected and paid.
 */
function isFolded(subject) {
  if (touched.subject === subject) return touched.folded;
  const last = state.last_roll;
  const since = typeof subject === "number" ? subject : 0;
  return state.correcting || Boolean(last?.undone?.length) || Boolean(last?.results?.length && last.seq > since);
}

/** The question itself; a touch folds the answers away, and unfolds them. */
function title(subject, words) {
  const fold = () => {
    touched = { subject, folded: !isFolded(subject) };
    render();
  };
  const mark = element("i", {}, isFolded(subject) ? TEXT.dice.unfold : TEXT.dice.fold);
  return button("question-fold", element("span", {}, ...words, mark), fold);
}

const wantedOpening = () => waitingOpenings().find(({ seq }) => seq === wanted) ?? null;
const voidThrowInQuestion = () => (wantedOpening() === null ? voidThrow() : null);

/** The opening that the question is about; null where it is about a throw, or there is none. */
export const openingInQuestion = () =>
  voidThrowInQuestion() === null ? (wantedOpening() ?? waitingOpening()) : null;

/** Asks about this opening first, with the answers in sight. */
export function askWhy(opening) {
  wanted = opening.seq;
  touched = { subject: opening.seq, folded: false };
  render();
  byId("question").querySelector(".answers button")?.focus();
}

/** Who is on duty in a new session: the same two as before, at the second touch, or others. */
function dutyTiles({ boxman, witness }) {
  const same = button("duty-same", "", null, { entry: true });
  onSecondTouch(same, {
    subject: () => [boxman, witness],
    words: () => TEXT.dice.signed(boxman, witness),
    ask: () => TEXT.dice.duty_again(boxman, witness),
    act: stayOnDuty,
  });
  same.classList.add("named");
  return [same, button("duty-others", TEXT.dice.duty_others, () => openDice("duty"))];
}

/** The session whose people are asked for: "session 2"; null where they are known, or nobody ever was on duty. */
const dutyInQuestion = () => (state.open && state.dice.duty_before !== null ? `session ${state.session_number}` : null);

function show(kind, subject, words, className, tiles) {
  const home = byId("question");
  home.hidden = kind === "";
  home.classList.toggle("folded", isFolded(subject));
  home.dataset.about = kind;
  home.replaceChildren(title(subject, words), element("div", { class: className }, ...tiles));
}

export function renderQuestion() {
  const about = voidThrowInQuestion();
  const opening = openingInQuestion();
  const duty = about || opening ? null : dutyInQuestion();
  const subject = about?.seq ?? opening?.seq ?? duty;
  const { openings, reasons, sets, duty_before: before } = state.dice;
  const knows = [about, openings, reasons, sets.length, setsAtTable().length, state.reserve.since, before, begun];
  draw("question", [subject, isFolded(subject), knows], () => {
    if (about) {
      const said = [element("b", {}, TEXT.dice.which_die), element("small", {}, reasonWords(about.reason).words)];
      show("void_throw", subject, said, "answers few", voidThrowTiles(about));
    } else if (opening) {
      show(opening.late ? "late" : "opening", subject, openingWords(opening), "answers", openingTiles(opening));
    } else if (duty) {
      const said = [element("b", {}, TEXT.dice.who_is_on_duty), element("small", {}, TEXT.dice.new_session)];
      show("duty", subject, said, "answers few", dutyTiles(before));
    } else {
      show("", null, [], "answers", []);
    }
  });
}
