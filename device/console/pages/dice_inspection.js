// An inspection: the checks that the rules name, what each instrument showed, and which dice are not sound.

import { TEXT } from "./console_text.js";
import { button, render, sentence, state } from "./console_state.js";
import { addDicePage, drawPart, record, showDicePage, signers } from "./dice_dialog.js";
import { signedButton, whenNamed } from "./dice_duty.js";
import { askText } from "./dice_text_entry.js";
import { diceAt, dieTile, findSet, listed, shortArticle } from "./dice_words.js";
import { element } from "./terminal.js";

const AT_HAND = ["store", "reserve", "play", "offered", "inspection"];
const IN_PLAY = 2;
const SHOWED_MAX = 200;

let draft = null;

/** Begins with these dice of a set; none: all that are at hand. An inspection that was begun for the same goes on. */
export function beginInspection(set, dice, back) {
  const at = dice.length ? dice : diceAt(set, ...AT_HAND);
  const same = draft !== null && draft.set === set.set && draft.dice.join() === at.join();
  if (!same) draft = { set: set.set, dice: at, checks: {}, unsound: {}, instruments: {}, then: null };
  draft.back = back;
  showDicePage("inspect");
}

function change(part) {
  draft = { ...draft, ...part };
  render();
}

const set = () => findSet(draft.set);
/** Whether all of them were off the table: then the rules ask for fewer checks, and for no instruments. */
const isReturning = () => draft.dice.every((die) => diceAt(set(), "inspection").includes(die));

function asked() {
  const { checks, checks_after_floor: after } = state.dice.rules;
  const names = isReturning() && after.length ? after : Object.keys(checks);
  return names.map((name) => ({ name, ...checks[name] }));
}

/** Not looked at, then good, then not good, then not looked at again. */
function turn(name) {
  const { [name]: was, ...others } = draft.checks;
  const next = was === undefined ? { [name]: true } : was ? { [name]: false } : {};
  change({ checks: { ...others, ...next } });
}

function allGood() {
  change({ checks: Object.fromEntries(asked().map(({ name }) => [name, true])) });
}

function markUnsound(die) {
  const { [die]: was, ...others } = draft.unsound;
  if (was !== undefined) {
    change({ unsound: others });
    return;
  }
  askText({
    says: TEXT.dice.unsound_why(die),
    offered: TEXT.dice.unsound_words,
    most: SHOWED_MAX,
    tab: "sets",
    done: (text) => {
      change({ unsound: { ...draft.unsound, [die]: text } });
      showDicePage("inspect");
    },
  });
}

function useInstrument(name) {
  const note = (sound) => (showed) => {
    change({ instruments: { ...draft.instruments, [name]: { sound, showed } } });
    showDicePage("inspect");
  };
  askText({
    says: TEXT.dice.showed(TEXT.dice.instruments[name]),
    value: draft.instruments[name]?.showed ?? "",
    offered: TEXT.dice.showed_words[name],
    most: SHOWED_MAX,
    words: TEXT.dice.is_good,
    other: { words: TEXT.dice.is_not_good, go: note(false) },
    tab: "sets",
    done: note(true),
  });
}

function checkTile({ name, text, article }) {
  const good = draft.checks[name];
  const look = good === undefined ? "open" : good ? "good" : "bad";
  const content = element(
    "span",
    {},
    element("span", {}, sentence(text)),
    element("small", {}, TEXT.dice.checked[look]),
  );
  const tile = button(`check-${name}`, content, () => turn(name), { className: `check ${look}` });
  tile.title = shortArticle(article);
  return tile;
}

function instrumentTile(name) {
  const used = draft.instruments[name];
  const look = used === undefined ? "open" : used.sound ? "good" : "bad";
  const content = element(
    "span",
    {},
    element("span", {}, TEXT.dice.instruments[name]),
    element("small", {}, used?.showed ?? TEXT.dice.not_used),
  );
  return button(`instrument-${name}`, content, () => useInstrument(name), { className: `check named ${look}` });
}

/** Where the sound ones go then: only dice that were away have to be put somewhere. */
function thenTiles() {
  if (!isReturning()) return null;
  const room = diceAt(set(), "play").length + draft.dice.length <= IN_PLAY;
  const ways = [null, "reserve", ...(room ? ["play"] : [])];
  return element(
    "div",
    { class: "fields" },
    ...ways.map((way) =>
      button(`then-${way ?? "stay"}`, TEXT.dice.then[way ?? "stay"], () => change({ then: way }), {
        pressed: draft.then === way,
      }),
    ),
  );
}

function result() {
  const unsound = draft.dice.filter((die) => die in draft.unsound);
  const failed = [
    ...Object.values(draft.checks),
    ...Object.values(draft.instruments).map(({ sound }) => sound),
  ].includes(false);
  if (unsound.length) return TEXT.dice.found_unsound(listed(unsound), draft.dice.length - unsound.length);
  return failed ? TEXT.dice.all_unsound : TEXT.dice.all_sound(draft.dice.length);
}

function signIt() {
  const { set: name, dice, checks, unsound, instruments, then, back } = draft;
  const parts = { set: name, dice, checks };
  if (Object.keys(unsound).length) parts.unsound = unsound;
  if (Object.keys(instruments).length) parts.instruments = instruments;
  if (then !== null) parts.then = then;
  whenNamed(async () => {
    const done = await record({ inspect: parts });
    if (done) draft = null;
    showDicePage(done ? back : "inspect");
  });
}

function renderInspection() {
  if (draft === null || set() === null) return;
  drawPart("inspect", [draft, set(), state.dice.rules, signers()], () => {
    const checks = asked();
    return [
      element(
        "h2",
        {},
        element("b", {}, TEXT.dice.inspection_of(draft.set)),
        element("span", {}, TEXT.dice.touch_unsound),
      ),
      element(
        "div",
        { class: "set-dice" },
        ...draft.dice.map((die) =>
          dieTile(`unsound-${die}`, die, () => markUnsound(die), {
            pressed: die in draft.unsound,
            mark: draft.unsound[die] ?? TEXT.dice.states.sound,
          }),
        ),
      ),
      element("div", { class: "checks" }, ...checks.map(checkTile)),
      element(
        "div",
        { class: "checks four" },
        ...["micrometer", "balancing_caliper", "steel_square", "magnet"].map(instrumentTile),
      ),
      thenTiles(),
      element("div", { class: "room" }),
      element(
        "div",
        { class: "deeds" },
        signedButton("inspect"),
        button("all-good", TEXT.dice.all_good, allGood),
        button("confirm-inspect", result(), signIt, { entry: true, className: "primary" }),
      ),
    ];
  });
}

export function buildInspection() {
  addDicePage("inspect", { tab: "sets", render: renderInspection, confirm: signIt });
}
