// Changing dice: why, which die goes out and which comes in; the dice change, of which the shooter takes two; and what
// lies on the floor, is under inspection or missing.

import { TEXT } from "./console_text.js";
import { button, render, state } from "./console_state.js";
import { closeAfter } from "./dialogs.js";
import {
  askedButton,
  askedNote,
  askedParts,
  askedShown,
  forgetAsked,
  isAskerMissing,
  whenAsked,
} from "./dice_asked.js";
import { addDicePage, drawPart, openDice, record, showDicePage, signers } from "./dice_dialog.js";
import { signedButton, whenNamed } from "./dice_duty.js";
import { beginInspection } from "./dice_inspection.js";
import {
  diceAt,
  dieTile,
  findSet,
  listed,
  reasonLabel,
  reasonsNow,
  setsAtTable,
  waitingOpening,
} from "./dice_words.js";
import { explain, pendingNote } from "./reserve_question.js";
import { element } from "./terminal.js";
import { supervisorNames } from "./used_names.js";

const IN_PLAY = 2;
// What the reserve is opened for without a change of dice has pages of its own.
const NO_CHANGE = ["count", "closing"];
// Where a die goes that is swapped for this; otherwise into the reserve.
const GOES_TO = { die_off_table: "floor", damage: "inspection" };
const NOTHING = { set: null, reason: null, out: [], in: [], taken: [] };

let chosen = NOTHING;

/** The dialog with a reason that was touched elsewhere. */
export function openChange(reason = null) {
  forgetChange();
  openDice("change");
  choose({ reason });
}

function choose(part) {
  chosen = { ...chosen, ...part };
  render();
}

const set = () => findSet(chosen.set) ?? setsAtTable()[0] ?? null;
const reasons = () => reasonsNow().filter(({ reason }) => !NO_CHANGE.includes(reason));
/** Whether dice lie before the shooter, or are to: he takes two of all. */
const offering = () => chosen.reason === "offered_to_shooter" || diceAt(set(), "offered").length > 0;

/** Touched once it is chosen, twice it is not; no more than two. */
function toggle(list, die) {
  return list.includes(die) ? list.filter((other) => other !== die) : [...list, die].slice(-IN_PLAY);
}

const selectable = () =>
  offering()
    ? [["taken", diceAt(set(), "play", "offered", "reserve")]]
    : [
        ["out", diceAt(set(), "play")],
        ["in", diceAt(set(), "reserve")],
      ];

/** What the next digit of the keyboard chooses among: the reason, the dice that go out, or those that come in. */
function stage() {
  if (chosen.reason === null && !offering()) return "reason";
  if (offering()) return "taken";
  return diceAt(set(), "play").length - chosen.out.length === IN_PLAY ? "out" : "in";
}

function keyDigit(digit) {
  if (digit === 0 || set() === null) return;
  const now = stage();
  if (now === "reason") {
    const reason = reasons()[digit - 1]?.reason;
    if (reason) chooseReason(reason);
    return;
  }
  const die = selectable().find(([name]) => name === now)[1][digit - 1];
  if (die !== undefined) choose({ [now]: toggle(chosen[now], die) });
}

/** Takes the last choice back: the die that comes in, then the one that goes out, then the reason. */
function unchoose() {
  const last = ["taken", "in", "out"].find((name) => chosen[name].length > 0);
  if (last) choose({ [last]: chosen[last].slice(0, -1) });
  else choose({ reason: null });
}

function chooseReason(reason) {
  if (reason === "new_set") {
    choose({ reason });
    showDicePage("sets");
    return;
  }
  // What was chosen to go out still does, whatever the reason; the dice that a shooter takes are another choice.
  choose({ reason, taken: [], ...(reason === "offered_to_shooter" ? { out: [], in: [] } : {}) });
}

/** Why a die is wanted where one is away and less than two are in play. */
function reasonOfDice() {
  if (set() === null || diceAt(set(), "play").length >= IN_PLAY) return null;
  return diceAt(set(), "floor", "missing").length > 0 ? "die_off_table" : null;
}

/** Why the dice are changed; the shooter who takes two of all needs no other reason. */
const why = () => chosen.reason ?? "offered_to_shooter";

/** What the green button would do: its words, and the action, null while something is missing. */
function deed() {
  if (set() === null) return { words: TEXT.dice.no_set_at_table, action: null };
  const { out, in: coming, taken, reason } = chosen;
  const name = set().set;
  if (offering()) {
    if (taken.length < IN_PLAY) return { words: TEXT.dice.touch_taken, action: null };
    return {
      words: TEXT.dice.takes(listed(taken)),
      action: { change: { set: name, taken, reason: why(), ...askedParts() } },
    };
  }
  if (reason === null) return { words: TEXT.dice.touch_reason, action: null };
  const left = diceAt(set(), "play").length - out.length;
  if (left === IN_PLAY) return { words: TEXT.dice.touch_out, action: null };
  if (left + coming.length !== IN_PLAY)
    return { words: TEXT.dice.touch_in(IN_PLAY - left - coming.length), action: null };
  const to = TEXT.dice.goes_to[GOES_TO[reason] ?? "reserve"];
  const words = out.length ? TEXT.dice.swaps(listed(out), to, listed(coming)) : TEXT.dice.comes_in(listed(coming));
  return { words, action: { swap: { set: name, out, in: coming, reason, ...askedParts() } } };
}

async function recordSaid() {
  const { action } = deed();
  // Meanwhile a die may have left its place.
  if (action === null) return false;
  const done = await record(action);
  if (done) forgetAsked();
  return done;
}

function doIt() {
  if (deed().action === null) return;
  whenAsked(why(), () => whenNamed(() => closeAfter(recordSaid())));
}

/** What has still to be touched, so that the reason of the opening counts. */
function todo() {
  const { out, in: coming, taken } = chosen;
  if (deed().action !== null) return TEXT.dice.todo_confirm;
  return out.length + coming.length + taken.length === 0 ? TEXT.dice.todo_dice : TEXT.dice.todo_more;
}

/** What else may be said with what is chosen. */
function otherDeeds() {
  const deeds = [];
  const opening = waitingOpening();
  const { out, in: coming, reason } = chosen;
  const add = (name, words, go) => deeds.push(button(name, words, go, { entry: true }));
  if (opening !== null && reason !== null && coming.length + chosen.taken.length === 0 && out.length === 0)
    add("no-die-moved", opening.late ? TEXT.dice.supervisor_explains : TEXT.dice.no_die_moved, () =>
      explain(opening, reason),
    );
  if (reason === "die_off_table" && out.length > 0 && coming.length === 0)
    add("off-table", TEXT.dice.off_table(listed(out)), () =>
      stay({ off_table: { set: set().set, dice: out, ...askedNote() } }),
    );
  if (offering() && set() !== null && diceAt(set(), "offered").length === 0)
    add("offer", TEXT.dice.offer_all, () =>
      whenAsked("offered_to_shooter", () =>
        stay({ offer: { set: set().set, reason: "offered_to_shooter", ...askedParts() } }),
      ),
    );
  return deeds;
}

/** Records it, and the page stays: something is left to do, and who asked for it is still the same. */
function stay(action) {
  whenNamed(async () => {
    if (await record(action)) {
      choose({ out: [], in: [], taken: [] });
      showDicePage("change");
    }
  });
}

function reasonTiles() {
  const hinting = stage() === "reason";
  return element(
    "div",
    { class: "why" },
    ...reasons().map((said, index) => {
      const tile = button(`why-${said.reason}`, reasonLabel(said), () => chooseReason(said.reason), {
        pressed: said.reason === chosen.reason,
        className: said.allowed ? null : "forbidden",
      });
      if (hinting) tile.append(element("i", {}, index + 1));
      return tile;
    }),
  );
}

function placeRow(place, words, children) {
  return element(
    "div",
    { class: "place", "data-place": place },
    element("h2", {}, words),
    element("div", {}, ...children),
  );
}

function selectableRow(place, name, from) {
  const dice = diceAt(set(), place);
  if (dice.length === 0) return null;
  const tiles = dice.map((die) =>
    dieTile(`${name}-${die}`, die, () => choose({ [name]: toggle(chosen[name], die) }), {
      pressed: chosen[name].includes(die),
      hint: stage() === name ? from.indexOf(die) + 1 : null,
    }),
  );
  return placeRow(place, TEXT.dice.places[place], tiles);
}

/** A die that is away, each with what can become of it. */
function awayRow(place, waysOf) {
  const dice = diceAt(set(), place);
  if (dice.length === 0) return null;
  const children = dice.flatMap((die) => [
    element("b", { class: "die-tile", "data-testid": `${place}-${die}` }, die),
    ...waysOf(die).map(([name, words, go]) => button(`${name}-${die}`, words, go, { entry: true })),
  ]);
  return placeRow(place, TEXT.dice.places[place], children);
}

/** A die that nobody finds is given up by a supervisor, who signs. */
function writeOff(die) {
  const { set: name } = set();
  const { boxman, witness } = state.dice.duty ?? {};
  askText({
    says: TEXT.dice.write_off_signs(die),
    offered: supervisorNames([boxman, witness]),
    words: TEXT.dice.write_off_now,
    tab: "change",
    done: async (doneBy) => {
      const parts = { set: name, to: "written_off", reason: "die_off_table", dice: [die], done_by: doneBy };
      if (await record({ remove: parts })) showDicePage("change");
    },
  });
}

function placeRows() {
  const name = set().set;
  const found = (die) => ["found", TEXT.dice.found, () => stay({ found: { set: name, die } })];
  const lost = (die) => ["missing", TEXT.dice.not_found, () => stay({ missing: { set: name, dice: [die] } })];
  const givenUp = (die) => ["write-off", TEXT.dice.write_off, () => writeOff(die)];
  const inspect = (die) => ["inspect", TEXT.dice.inspect, () => beginInspection(set(), [die], "change")];
  const [first, second] = selectable();
  return [
    selectableRow("play", offering() ? "taken" : "out", first[1]),
    selectableRow("offered", "taken", first[1]),
    selectableRow("reserve", offering() ? "taken" : "in", (second ?? first)[1]),
    awayRow("floor", (die) => [found(die), lost(die)]),
    awayRow("inspection", (die) => [inspect(die)]),
    awayRow("missing", (die) => [found(die), givenUp(die)]),
    awayRow("written_off", (die) => [found(die)]),
  ].filter(Boolean);
}

function setTiles() {
  const there = setsAtTable();
  if (there.length < 2) return null;
  const tiles = there.map(({ set: name }) =>
    button(
      `at-table-${name}`,
      TEXT.dice.set_named(name),
      () => choose({ ...NOTHING, reason: chosen.reason, set: name }),
      {
        pressed: name === set().set,
        className: "named",
      },
    ),
  );
  return element("div", { class: "sets-there" }, ...tiles);
}

function renderChange() {
  const there = setsAtTable();
  const knows = [chosen, there, state.dice.reasons, state.dice.openings, signers(), askedShown()];
  drawPart("change", knows, () => {
    const opening = waitingOpening();
    const { words, action } = deed();
    const forbidden = action && state.dice.reasons.find(({ reason, allowed }) => reason === chosen.reason && !allowed);
    const more = [
      forbidden ? TEXT.dice.will_be_against : null,
      action && isAskerMissing(why()) ? TEXT.dice.then_asker : null,
    ].filter(Boolean);
    return [
      opening?.late ? element("p", { class: "late" }, TEXT.dice.supervisor_must) : null,
      set() === null ? null : pendingNote(chosen.reason, todo()),
      set() === null ? null : reasonTiles(),
      set() === null ? null : setTiles(),
      set() === null
        ? element("p", { class: "empty" }, TEXT.dice.no_set_at_table)
        : element("div", { class: "places" }, ...placeRows()),
      element(
        "div",
        { class: "deeds" },
        signedButton("change"),
        ...(set() === null ? [] : [askedButton(chosen.reason), ...otherDeeds()]),
        set() === null
          ? button("to-sets", TEXT.dice.to_sets, () => showDicePage("sets"), { className: "primary" })
          : button(
              "confirm-change",
              element("span", {}, words, ...more.map((text) => element("small", {}, text))),
              doIt,
              { entry: true, available: action !== null, className: "primary" },
            ),
      ),
    ];
  });
}

export function buildChange() {
  addDicePage("change", {
    enter: () => {
      // A page that is come back to keeps the choice; what has left its place meanwhile is no choice any more.
      const kept = (name, ...places) =>
        set() ? chosen[name].filter((die) => diceAt(set(), ...places).includes(die)) : [];
      const reason = chosen.reason ?? waitingOpening()?.reason ?? reasonOfDice();
      chosen = {
        ...chosen,
        reason,
        out: kept("out", "play"),
        in: kept("in", "reserve"),
        taken: kept("taken", "play", "offered", "reserve"),
      };
    },
    render: renderChange,
    confirm: () => (set() === null ? showDicePage("sets") : doIt()),
    digit: keyDigit,
    backspace: unchoose,
  });
}

/** Nothing is chosen when the dialog is opened anew. */
export function forgetChange() {
  chosen = NOTHING;
  forgetAsked();
}
