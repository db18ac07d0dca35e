// An inspection: the checks that the rules name, what each instrument showed, and which dice are not sound. Each check
// and each instrument that the rules ask for is entered, or expressly not made, before anybody signs.

import { TEXT } from "./console_text.js";
import { button, render, sentence, state } from "./console_state.js";
import { addDicePage, drawPart, record, showDicePage, signers } from "./dice_dialog.js";
import { signedButton, whenNamed } from "./dice_duty.js";
import { askText } from "./dice_text_entry.js";
import { diceAt, dieTile, findSet, hundredthsOf, listed, shortArticle } from "./dice_words.js";
import { element } from "./terminal.js";
import { decimal } from "./translation.js";

const AT_HAND = ["store", "reserve", "play", "offered", "inspection"];
const IN_PLAY = 2;
const SHOWED_MAX = 200;
const INSTRUMENTS = ["micrometer", "balancing_caliper", "steel_square", "magnet"];
// The check of the state of a die as a whole, and what does not pass it whatever else was found.
const WHOLE = "sound";
const FLAWS = ["chipped", "scratched", "edge_rounded"];
const MEASURES_EDGES = "micrometer";
// A length in what an instrument showed: 19.05 in "19.05 mm".
const LENGTH = /\d{1,2}(?:[.,]\d{1,2})?/g;

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

/** The instruments that the rules ask for in this inspection. */
const askedInstruments = () => (isReturning() ? [] : state.dice.rules.instruments);

/** What is neither entered nor expressly not made: names of checks and of instruments. */
const open = () => ({
  checks: asked().filter(({ name }) => !(name in draft.checks)),
  instruments: askedInstruments().filter((name) => !(name in draft.instruments)),
});

/** Good, then not good, then expressly not made (null). */
function turn(name) {
  const was = draft.checks[name];
  change({ checks: { ...draft.checks, [name]: was === undefined || was === null ? true : was ? false : null } });
}

/** All good but what was found not to be. */
function allGood() {
  change({ checks: Object.fromEntries(asked().map(({ name }) => [name, draft.checks[name] !== false])) });
}

function restNotMade() {
  const none = (names) => Object.fromEntries(names.map((name) => [name, null]));
  const { checks, instruments } = open();
  change({
    checks: { ...none(checks.map(({ name }) => name)), ...draft.checks },
    instruments: { ...none(instruments), ...draft.instruments },
  });
}

/** What a length that was measured has against it; null where it is within the bounds, or there are none. */
function outOfBounds(showed) {
  const { edge_hundredths_mm: edge } = state.dice.rules;
  if (edge === null) return null;
  const wrong = (showed.match(LENGTH) ?? []).find((text) => {
    const length = hundredthsOf(text);
    return length < edge.minimum || (edge.maximum !== null && length > edge.maximum);
  });
  if (wrong === undefined) return null;
  const mm = (hundredths) => decimal(hundredths / 100, 2);
  return TEXT.dice.out_of_bounds(mm(hundredthsOf(wrong)), mm(edge.minimum), mm(edge.maximum), shortArticle(edge.article));
}

/** The checks and instruments one of which a die that is not sound must have failed; none where one has, or may yet. */
function suspects() {
  const unsound = draft.dice.filter((die) => die in draft.unsound);
  if (unsound.length === 0 || hasFailed()) return [];
  const flawed = unsound.some((die) => isFlawed(die));
  return flawed && draft.checks[WHOLE] === true ? [WHOLE] : Object.keys(made(draft.checks));
}

const isFlawed = (die) => FLAWS.some((flaw) => draft.unsound[die] === TEXT.dice.unsound_words[flaw]);

/** What cannot be true at once, each with what would be right. */
function contradictions() {
  const unsound = draft.dice.filter((die) => die in draft.unsound);
  const said = [];
  const used = draft.instruments[MEASURES_EDGES];
  if (used?.sound && outOfBounds(used.showed) !== null) said.push(outOfBounds(used.showed));
  if (unsound.length === 0) return said;
  const whole = asked().find(({ name }) => name === WHOLE);
  const flawed = unsound.find(isFlawed);
  const isSettled = open().checks.length + open().instruments.length === 0;
  if (whole && flawed !== undefined && draft.checks[WHOLE] === true)
    said.push(TEXT.dice.not_whole(flawed, draft.unsound[flawed], sentence(whole.text)));
  else if (isSettled && !hasFailed()) said.push(TEXT.dice.no_check_failed(listed(unsound)));
  return said;
}

function markUnsound(die) {
  const { [die]: was, ...others } = draft.unsound;
  if (was !== undefined) {
    change({ unsound: others });
    return;
  }
  askText({
    says: TEXT.dice.unsound_why(die),
    offered: Object.values(TEXT.dice.unsound_words),
    most: SHOWED_MAX,
    letters: "sentence",
    tab: "sets",
    done: (text) => {
      change({ unsound: { ...draft.unsound, [die]: text } });
      showDicePage("inspect");
    },
  });
}

function useInstrument(name) {
  const enter = (used) => {
    change({ instruments: { ...draft.instruments, [name]: used } });
    showDicePage("inspect");
  };
  askText({
    says: TEXT.dice.showed(TEXT.dice.instruments[name]),
    value: draft.instruments[name]?.showed ?? "",
    offered: TEXT.dice.showed_words[name],
    most: SHOWED_MAX,
    letters: "sentence",
    words: TEXT.dice.is_good,
    wrong: name === MEASURES_EDGES ? outOfBounds : () => null,
    ways: [
      { name: "none", words: TEXT.dice.not_used, go: () => enter(null), empty: true },
      { name: "other", words: TEXT.dice.is_not_good, go: (showed) => enter({ sound: false, showed }) },
    ],
    tab: "sets",
    done: (showed) => enter({ sound: true, showed }),
  });
}

const lookOf = (made, good) => (made === undefined ? "open" : made === null ? "none" : good ? "good" : "bad");

function checkTile({ name, text, article }, isSuspect) {
  const look = lookOf(draft.checks[name], draft.checks[name]);
  const content = element(
    "span",
    {},
    element("span", {}, sentence(text)),
    element("small", {}, TEXT.dice.checked[look]),
  );
  const tile = button(`check-${name}`, content, () => turn(name), {
    className: isSuspect ? `check ${look} suspect` : `check ${look}`,
  });
  tile.title = shortArticle(article);
  return tile;
}

function instrumentTile(name) {
  const used = draft.instruments[name];
  const look = lookOf(used, used?.sound);
  const isAsked = askedInstruments().includes(name);
  const none = used === null ? TEXT.dice.checked.none : isAsked ? TEXT.dice.checked.open : TEXT.dice.not_asked;
  const content = element(
    "span",
    {},
    element("span", {}, TEXT.dice.instruments[name]),
    element("small", {}, used?.showed ?? none),
  );
  return button(`instrument-${name}`, content, () => useInstrument(name), {
    className: `check named ${look === "open" && !isAsked ? "free" : look}`,
  });
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

const hasFailed = () =>
  [...Object.values(draft.checks), ...Object.values(draft.instruments).map((used) => used?.sound)].includes(false);

const made = (entries) => Object.fromEntries(Object.entries(entries).filter(([, said]) => said !== null));

/** What the green button would sign: its words, what it signs in small, and whether it can be signed. */
function result() {
  const { checks, instruments } = open();
  const left = checks.length + instruments.length;
  if (left > 0) return { words: TEXT.dice.still_open(checks.length, instruments.length), signs: "", ready: false };
  const used = Object.keys(made(draft.instruments)).map((name) => TEXT.dice.instruments[name]);
  const checked = Object.keys(made(draft.checks)).length;
  if (checked + used.length === 0) return { words: TEXT.dice.nothing_checked, signs: "", ready: false };
  const unsound = draft.dice.filter((die) => die in draft.unsound);
  const words = unsound.length
    ? TEXT.dice.found_unsound(listed(unsound), draft.dice.length - unsound.length)
    : hasFailed()
      ? TEXT.dice.all_unsound
      : TEXT.dice.all_sound(draft.dice.length);
  const skipped = [
    ...asked().filter(({ name }) => draft.checks[name] === null),
    ...askedInstruments()
      .filter((name) => draft.instruments[name] === null)
      .map((name) => ({ text: TEXT.dice.instruments[name] })),
  ].map(({ text }) => sentence(text));
  const signs = TEXT.dice.signs_checks(checked, asked().length, used.join(", ") || TEXT.dice.no_instrument);
  return { words, signs, skipped, ready: contradictions().length === 0 };
}

function signIt() {
  if (!result().ready) return;
  const { set: name, dice, unsound, then, back } = draft;
  const instruments = made(draft.instruments);
  const parts = { set: name, dice, checks: made(draft.checks) };
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
    const { words, signs, skipped = [], ready } = result();
    const wrong = contradictions();
    const suspected = wrong.length > 0 ? suspects() : [];
    // With a failed check, those that are not named are sound only once one is.
    const looksSound = ready && (!hasFailed() || Object.keys(draft.unsound).length > 0);
    const mind = [...wrong, ...(skipped.length ? [TEXT.dice.not_made(skipped)] : [])];
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
            mark: draft.unsound[die] ?? TEXT.dice.states[looksSound ? "sound" : "unchecked"],
          }),
        ),
      ),
      element("div", { class: "checks" }, ...checks.map((check) => checkTile(check, suspected.includes(check.name)))),
      element(
        "div",
        { class: "checks four" },
        ...INSTRUMENTS.map(instrumentTile),
      ),
      thenTiles(),
      element(
        "ul",
        { class: "needs contradictions", "data-testid": "contradictions" },
        ...mind.map((text) => element("li", {}, text)),
      ),
      element("div", { class: "room" }),
      element(
        "div",
        { class: "deeds" },
        signedButton("inspect"),
        button("all-good", TEXT.dice.all_good, allGood),
        button("rest-not-made", TEXT.dice.rest_not_made, restNotMade),
        button(
          "confirm-inspect",
          element("span", {}, words, signs ? element("small", {}, signs) : null),
          signIt,
          { entry: true, available: ready, className: "primary" },
        ),
      ),
    ];
  });
}

export function buildInspection() {
  addDicePage("inspect", { tab: "sets", render: renderInspection, confirm: signIt });
}
