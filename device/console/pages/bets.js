// The bets: the list of what stands on the layout, and the dialog that puts bets down, changes them and takes them up.

import { TEXT } from "./console_text.js";
import {
  act,
  betEntry,
  betName,
  button,
  byId,
  byPosition,
  command,
  currentSet,
  draw,
  isPosition,
  money,
  playerTag,
  players,
  refusalWords,
  render,
  rulesRead,
  setAvailable,
  state,
} from "./console_state.js";
import { addDialog, openOverlay, overlay } from "./dialogs.js";
import { AMOUNT_DIGITS_MAX, digitPad } from "./digit_pad.js";
import { pageBy } from "./scrolling.js";
import { onSecondTouch } from "./second_touch.js";
import { element, get } from "./terminal.js";

// What chips are made of, and how many of them have their place.
const CHIPS = [1, 5, 25, 100, 500, 1000, 5000, 25000, 100000, 500000];
const CHIPS_SHOWN = 5;
// Which group a bet is listed under, by its stage in the rule set.
const GROUP_OF_STAGE = { line: "line", odds: "line", multi_roll: "numbers", one_roll: "one_roll" };
const ODDS_PARENT = {
  pass_odds: "pass_line",
  dont_pass_odds: "dont_pass",
  come_odds: "come",
  dont_come_odds: "dont_come",
};

const NOTHING = { player: null, group: "line", only: null, kind: null, number: null, amount: 0, entry: "new" };

// `only`: the kinds of the place on the layout that was touched, in the place of a group. `entry`: the amount was "typed" by digits, which go on behind it, or laid with "chips", which add up; or the next
// touch begins a "new" one.
let draft = NOTHING;
let draftTable = null; // the rules and limits that the draft was made under
let quick = null; // what the terminal offers for the player (/api/quick_bets), as long as nothing has changed
let quickAsked = null; // for what it was asked
let notDone = null; // why what was touched here was not done; it stands there until the next touch
let openings = 0; // how often the dialog was opened

const sum = (bets) => bets.reduce((total, bet) => total + bet.amount, 0);
const betsOf = (player) => state.bets.filter((bet) => bet.player === player);

function renderBetsList() {
  const bets = [...state.bets];
  const owners = [...new Set(bets.map((bet) => bet.player))].sort(byPosition);
  byId("bets-count").textContent = bets.length;
  byId("bets-sum").textContent = bets.length ? money(sum(bets)) : "";
  byId("button-bets-count").textContent = bets.length || "";
  byId("bets-list").replaceChildren(
    ...owners.map((player) =>
      element(
        "section",
        { "data-owner": player, "data-chosen": player === draft.player },
        element("h3", {}, playerTag(player), element("b", {}, money(sum(betsOf(player))))),
        element("ul", {}, ...betsOf(player).map(standingBet)),
      ),
    ),
    ...(bets.length ? [] : [element("p", {}, TEXT.no_bets)]),
  );
  setAvailable(byId("all-off"), bets.length > 0);
  setAvailable(byId("all-on"), bets.length > 0);
}

function standingBet(bet) {
  return element(
    "li",
    {
      "data-player": bet.player,
      "data-kind": bet.kind,
      "data-number": bet.number,
      "data-amount": bet.amount,
      "data-works": String(bet.works),
      "data-chosen": isChosen(bet),
    },
    element(
      "button",
      { type: "button", onclick: () => chooseBet(bet) },
      // The heading has the name in sight; a reader of the row alone has it too.
      element("span", { class: "player" }, bet.player),
      element("span", { class: "bet" }, betName(bet), bet.works ? null : element("em", {}, TEXT.off_mark)),
      element("b", {}, money(bet.amount)),
    ),
  );
}

/** Whether a standing bet is the one that the choice names. */
const isChosen = (bet) =>
  bet.player === draft.player && bet.kind === draft.kind && (bet.number ?? null) === draft.number;
const chosenBet = () => state.bets.find(isChosen) ?? null;

function chooseBet(bet) {
  choose({ player: bet.player, group: groupOf(bet.kind), only: null, kind: bet.kind, number: bet.number ?? null });
  if (overlay !== "bets") openOverlay("bets");
}

/**
 * Opens the dialog for a place on the layout: `kinds` are those that lie there, `number` its box. Nothing is put down.
 * `player`: whose bet was touched there; else whoever was chosen before.
 */
export function openBetEntry({ kinds, number = null, player = null }) {
  const whose = player ?? draft.player;
  if (kinds.length === 1) {
    const [kind] = kinds;
    const stands = state.bets.some((bet) => bet.player === whose && bet.kind === kind && (bet.number ?? null) === number);
    choose({ player: whose, group: groupOf(kind), only: null, kind, number: travels(kind) && !stands ? null : number });
  } else {
    choose({ player: whose, group: groupOf(kinds[0]), only: kinds, kind: null, number });
  }
  if (overlay !== "bets") openOverlay("bets");
}

/** The bet that the choice names, as far as a step wants it. */
const betStep = (bet) => ({
  player: bet.player,
  kind: bet.kind,
  ...(bet.number === null ? {} : { number: bet.number ?? null }),
});

/** Bets on one combination are many (hop bets: twenty-one), so they have a group of their own. */
const groupOf = (kind) => (kind.startsWith("hop_") ? "hop" : (GROUP_OF_STAGE[betEntry(kind)?.stage] ?? "one_roll"));
/** The box of these is where they travel to, not something to choose when they are put down. */
const travels = (kind) => betEntry(kind)?.stage === "line";

function change(part) {
  notDone = null;
  draft = { ...draft, ...part };
  render();
}

/** Another bet is meant: the amount on show is offered for it, and the next digit or chip begins a new one. */
function choose(part) {
  change({ ...part, entry: "new" });
}

/** The numbers to choose from: for odds the boxes of the player's own bets, else what the rule set names. */
function numbersOf(kind) {
  const named = travels(kind) ? [] : (betEntry(kind)?.numbers ?? []);
  const parent = ODDS_PARENT[kind];
  const own = parent
    ? state.bets
        .filter((bet) => bet.player === draft.player && bet.kind === parent && bet.number)
        .map((bet) => bet.number)
    : [];
  return own.length ? named.filter((number) => own.includes(number)) : named;
}

function chooseKind(kind) {
  const numbers = numbersOf(kind);
  choose({ kind, number: numbers.length === 1 ? numbers[0] : numbers.includes(draft.number) ? draft.number : null });
}

function chooseGroup(group) {
  if (group !== draft.group || draft.only) choose({ group, only: null, kind: null, number: null });
}

function choosePlayer(player) {
  choose({ player, number: travels(draft.kind) ? null : draft.number });
  if (draft.kind !== null && draft.kind in ODDS_PARENT) chooseKind(draft.kind);
}

/** Brings the chosen kind and bet into sight, or else the bets of the chosen player. */
function showChosen() {
  showChosenKind();
  const list = byId("bets-list");
  const own = list.querySelector("section[data-chosen]");
  const row = list.querySelector("li[data-chosen]");
  if (own) list.scrollTop = row ? row.offsetTop - headingHeight(row) : own.offsetTop;
}

function showChosenKind() {
  byId("kinds").querySelector('[aria-pressed="true"]')?.scrollIntoView({ block: "nearest" });
}

/** How high the name is that stays over a player's bets while they are turned, in px. */
const headingHeight = (row) => row.closest("section").querySelector("h3").offsetHeight;

/** A digit is written behind the digits before it; null clears. */
function keyAmount(digit) {
  const next = digit === null ? 0 : (draft.entry === "typed" ? draft.amount * 10 : 0) + digit;
  if (String(next).length <= AMOUNT_DIGITS_MAX) change({ amount: next, entry: "typed" });
}

function addChip(chip) {
  const next = (draft.entry === "new" ? 0 : draft.amount) + chip;
  if (String(next).length <= AMOUNT_DIGITS_MAX) change({ amount: next, entry: "chips" });
}

/** The amounts that are put down most: the table's chips, from the one below its lowest bet on. */
function chipsOf({ unit, limits }) {
  const made = CHIPS.filter((chip) => chip % unit === 0 && chip <= limits.max);
  const least = made.findLastIndex((chip) => chip <= limits.min);
  const first = Math.max(0, Math.min(least - 1, made.length - CHIPS_SHOWN));
  return made.slice(first, first + CHIPS_SHOWN);
}

/** Asks what can be done for the player at one touch, as often as what it depends on changes. */
function askQuick() {
  const { player } = draft;
  const { roll_number, last_roll, open, table } = state;
  const asked = JSON.stringify([player, roll_number, last_roll?.seq, last_roll?.dice, open, table, player && betsOf(player)]);
  if (asked === quickAsked) return;
  quickAsked = asked;
  quick = null;
  if (player === null) return;
  get(`/api/quick_bets?player=${encodeURIComponent(player)}`).then(
    (view) => {
      if (asked !== quickAsked) return;
      quick = view;
      render();
    },
    () => {
      // Asked again with the next change of anything.
      if (asked === quickAsked) quickAsked = null;
    },
  );
}

/** What one press adds to the chosen bet; null while nobody knows, or where it does not stand. */
function unitOfChosen() {
  const chosen = chosenBet();
  const unit = quick?.units.find(({ kind, number }) => kind === chosen?.kind && number === (chosen.number ?? null));
  return unit?.unit ?? null;
}

function renderQuick(chosen) {
  const repeated = quick?.repeat ?? [];
  const left = quick?.not_allowed ?? [];
  draw("bet-repeat", [repeated, left, rulesRead], () => {
    byId("bet-repeat").replaceChildren(
      TEXT.repeat(repeated.length, money(sum(repeated))),
      ...left.slice(0, 1).map((bet) => element("small", {}, TEXT.not_repeated(betName(bet), left.length - 1))),
    );
  });
  setAvailable(byId("bet-repeat"), repeated.length > 0);
  const unit = unitOfChosen();
  byId("bet-press").textContent = unit === null ? TEXT.press : TEXT.press_unit(money(unit));
  byId("bet-double").textContent = chosen ? TEXT.press_double(money(chosen.amount * 2)) : TEXT.double;
  setAvailable(byId("bet-press"), unit !== null);
  setAvailable(byId("bet-double"), chosen !== null);
}

/** Raises the chosen bet: by how much, the terminal says. */
async function press(by) {
  const { player, kind, number } = chosenBet();
  choose({});
  await act("/api/press", { player, kind, number: number ?? null, by }, TEXT.actions.press(kind));
  sayNotDone(refusalWords);
}

async function repeat() {
  const { player } = draft;
  choose({});
  await act("/api/repeat", { player }, TEXT.actions.repeat(player));
  sayNotDone(refusalWords);
}

/** Sends what changes the chosen bet. The next digit begins a new amount, also before the answer is there. */
async function changeChosen(step) {
  choose({});
  const done = await command(step);
  if (done && draft.entry === "new") change({ amount: 0 });
  sayNotDone(refusalWords);
}

function sayNotDone(words) {
  notDone = words;
  render();
}

/** What may be put on the choice now: { min, max }, the table's limits where the terminal has not told others. */
function limitsOfChoice() {
  const told = quick?.limits.find(({ kind, number }) => kind === draft.kind && number === draft.number);
  return told ?? state.table.limits;
}

function putBet() {
  const number = travels(draft.kind) ? null : draft.number;
  return changeChosen({ bet: { ...betStep({ ...draft, number }), amount: draft.amount } });
}

function renderBets() {
  const limits = limitsOfChoice();
  const bets = currentSet()?.bets ?? [];
  const numbers = draft.kind ? numbersOf(draft.kind) : [];
  const complete = draft.player !== null && draft.kind !== null && (numbers.length === 0 || draft.number !== null);
  const chosen = chosenBet();
  byId("bet-summary").toggleAttribute("data-refused", notDone !== null);
  byId("bet-amount").toggleAttribute("data-refused", notDone !== null);
  byId("bet-summary").textContent = notDone ?? TEXT.bet_summary(
    draft.player === null ? TEXT.choose_player : TEXT.player_has(draft.player, money(sum(betsOf(draft.player)))),
    draft.kind ? betName(draft) : draft.number ? TEXT.choose_kind_for(draft.number) : TEXT.choose_kind,
  );
  askQuick();
  renderQuick(chosen);

  const onLayout = players().map((player) => [player, sum(betsOf(player))]);
  draw("bet-players", [onLayout, draft.player], () => {
    byId("players").replaceChildren(
      ...onLayout.map(([player, has]) =>
        button(
          `player-${player}`,
          element("span", {}, player, has ? element("small", {}, money(has)) : null),
          () => choosePlayer(player),
          { pressed: player === draft.player, className: isPosition(player) ? null : "named" },
        ),
      ),
    );
  });
  draw("bet-kinds", [bets, draft.group, draft.only, draft.kind, state.not_taken], () => {
    const groups = Object.keys(TEXT.groups).filter((group) => bets.some((bet) => groupOf(bet.kind) === group));
    byId("groups").replaceChildren(
      ...groups.map((group) =>
        button(`group-${group}`, TEXT.groups[group], () => chooseGroup(group), {
          pressed: group === draft.group && !draft.only,
        }),
      ),
    );
    const here = ({ kind }) => (draft.only ? draft.only.includes(kind) : groupOf(kind) === draft.group);
    const kinds = bets.filter(here);
    byId("kinds").dataset.group = draft.group;
    byId("kinds").replaceChildren(
      ...kinds.map((bet) =>
        button(`kind-${bet.kind}`, bet.name, () => chooseKind(bet.kind), {
          pressed: bet.kind === draft.kind,
          className: state.not_taken.includes(bet.kind) ? "not-taken" : null,
        }),
      ),
    );
  });
  draw("bet-numbers", [numbers, draft.number], () => {
    byId("numbers").replaceChildren(
      ...numbers.map((number) =>
        button(`number-${number}`, String(number), () => choose({ number }), { pressed: number === draft.number }),
      ),
    );
  });
  draw("bet-chips", [state.table.unit, state.table.limits], () => {
    byId("chips").replaceChildren(
      ...chipsOf(state.table).map((chip) =>
        button(`chip-${chip}`, money(chip), () => addChip(chip), {
          className: `chip chip-${chip}${chip >= 1000 ? " long" : ""}`,
        }),
      ),
    );
  });
  byId("bet-amount").replaceChildren(
    element("small", {}, TEXT.amount),
    element("b", {}, money(draft.amount)),
    element("small", {}, limits.max < limits.min ? TEXT.no_more_here : TEXT.limits(money(limits.min), money(limits.max))),
  );
  byId("bet-amount").dataset.entry = draft.entry;
  byId("bet-amount").dataset.amount = draft.amount;
  byId("bet-put").textContent = chosen ? TEXT.add : TEXT.put_down;
  setAvailable(byId("bet-put"), complete && draft.amount > 0 && draft.amount <= limits.max);
  byId("bet-reduce").textContent = TEXT.reduce(draft.amount ? money(draft.amount) : "…");
  setAvailable(byId("bet-reduce"), chosen !== null && draft.amount > 0);
  setAvailable(byId("bet-take-down"), chosen !== null);
  byId("bet-working").textContent = chosen && !chosen.works ? TEXT.turn_on : TEXT.turn_off;
  setAvailable(byId("bet-working"), chosen !== null);
  byId("bet-chosen").hidden = chosen === null;
  if (chosen) byId("bet-chosen").textContent = TEXT.chosen_bet(chosen.player, betName(chosen), money(chosen.amount));
  draw("bets-sight", [openings, state.bets, draft.player, draft.kind, draft.number], showChosen);
}

/** The list of standing bets has a column of its own on a wide screen, and a place in the dialog while that is open. */
function placeBetsPanel() {
  (overlay === "bets" ? byId("bets-right") : byId("bets-home")).append(byId("bets-panel"));
}

export function renderStandingBets() {
  const table = JSON.stringify(state.table);
  // What was half entered under other rules may not exist under these.
  if (table !== draftTable) draft = NOTHING;
  draftTable = table;
  const shown = [state.bets, rulesRead, state.table.rules, draft.player, draft.kind, draft.number];
  draw("bets", shown, renderBetsList);
}

export function buildBets() {
  digitPad(byId("digits"), "", keyAmount);
  const on = (id, onclick) => byId(id).addEventListener("click", onclick);
  on("bet-put", putBet);
  on("bet-press", () => press("unit"));
  on("bet-double", () => press("double"));
  on("bet-repeat", repeat);
  on("bet-reduce", () => changeChosen({ reduce: { ...betStep(draft), amount: draft.amount } }));
  on("bet-working", async () => {
    await command({ working: { ...betStep(draft), on: !chosenBet().works } });
    sayNotDone(refusalWords);
  });
  onSecondTouch(byId("bet-take-down"), {
    subject: chosenBet,
    words: () => TEXT.take_down,
    ask: () => TEXT.take_down_again(money(chosenBet().amount)),
    act: () => changeChosen({ take_down: betStep(draft) }),
    lapsed: () => sayNotDone(TEXT.take_down_lapsed),
  });
  const forAll = (id, on, words, ask) =>
    onSecondTouch(byId(id), {
      subject: () => state.bets,
      words: () => words,
      ask: () => ask(state.bets.length),
      act: () => command({ working: { on } }),
    });
  forAll("all-off", false, TEXT.all_off, TEXT.all_off_again);
  forAll("all-on", true, TEXT.all_on, TEXT.all_on_again);
  const rows = () => byId("bets-list").querySelectorAll("li");
  pageBy(byId("bets-list"), byId("bets-more"), rows, { whole: true, cut: rows, head: headingHeight });
  pageBy(byId("players"), byId("players-more"));
  pageBy(byId("kinds"), byId("kinds-more"), undefined, { whole: true });
  // Numbers below it take of its height.
  new ResizeObserver(showChosenKind).observe(byId("kinds"));
  // Before what was touched does its own.
  const touched = () => notDone !== null && sayNotDone(null);
  byId("overlay-bets").addEventListener("click", touched, { capture: true });
  addDialog("bets", {
    begin: () => {
      openings += 1;
      notDone = null;
      placeBetsPanel();
    },
    end: placeBetsPanel,
    render: renderBets,
    confirm: () => byId("bet-put").click(),
    digit: keyAmount,
    backspace: () => change({ amount: Math.floor(draft.amount / 10), entry: "typed" }),
  });
}
