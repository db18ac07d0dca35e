// What lies where on the drawn layout, from the rule set's bets and the bets that stand: places, their names, their chips.

import { TEXT } from "./console_text.js";
import { betEntry, currentSet, state } from "./console_state.js";

export const BOXES = [4, 5, 6, 8, 9, 10];
// As they are written on the layout, so that neither is read upside down.
export const BOX_NAMES = { 4: "4", 5: "5", 6: "SIX", 8: "8", 9: "NINE", 10: "10" };
const FLAT_OF = { pass_odds: "pass_line", dont_pass_odds: "dont_pass", come_odds: "come", dont_come_odds: "dont_come" };
// What lies in a box, from behind it to the line before it. The first kind of a row that the rules know names it.
const BOX_ROWS = [["dont_come", "lay"], ["place_to_lose"], "number", ["come"], ["place", "buy", "big"], "total"];
// What the dealer lays on a bet; other kinds that share a row go by their names.
const LAMMERS = { buy: "BUY", lay: "LAY" };
const TRAVELS = ["come", "dont_come"];
const LINES = ["come", "dont_come", "field", "pass_line", "dont_pass"];
// The dice that a bet is on, drawn instead of its name.
const DICE = { two: [1, 1], three: [1, 2], eleven: [5, 6], twelve: [6, 6] };

const offers = (kind) => betEntry(kind) !== null;
/** A line bet travels to any box; others have their numbers. */
const boxesOf = (kind) => (betEntry(kind)?.stage === "line" ? BOXES : (betEntry(kind)?.numbers ?? []));
const flatOf = (kind) => FLAT_OF[kind] ?? kind;
const oddsOf = (kind) => Object.keys(FLAT_OF).filter((odds) => FLAT_OF[odds] === kind && offers(odds));
const sum = (bets) => bets.reduce((total, bet) => total + bet.amount, 0);

/** The rows of a box: { name, kinds } of what the rules know, or the words "number" and "total". */
export function boxRows() {
  return BOX_ROWS.map((row) => {
    if (typeof row === "string") return row;
    const kinds = row.filter((kind) => offers(kind) && boxesOf(kind).some((number) => BOXES.includes(number)));
    return kinds.length ? { name: betEntry(kinds[0]).name, kinds } : null;
  }).filter(Boolean);
}

const IN_BOX = BOX_ROWS.flat();
const inBox = (number) => (bet) => bet.number === number && IN_BOX.includes(flatOf(bet.kind));

/** What lies in a box: how many bets, and their sum; a line bet lies on its line, whatever its point. */
export function inBoxNow(number) {
  const bets = state.bets.filter(inBox(number));
  return { count: bets.length, total: sum(bets) };
}

/**
 * The piles of some kinds at one place: { kind, flat, odds, lammers, works }. Bets that a dealer marks differently are
 * piles of their own.
 */
export function piles(kinds, number, main = kinds[0]) {
  const found = new Map();
  for (const bet of state.bets) {
    const kind = flatOf(bet.kind);
    if (!kinds.includes(kind) || (number !== undefined && bet.number !== number)) continue;
    const lammers = lammersOf(bet, kind, main);
    const key = JSON.stringify([kind, lammers, bet.works, number === undefined ? bet.number : null]);
    const pile = found.get(key) ?? { kind, number: bet.number, flat: 0, odds: 0, lammers, works: bet.works };
    pile[bet.kind === kind ? "flat" : "odds"] += bet.amount;
    found.set(key, pile);
  }
  return [...found.values()].sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind));
}

/** What lies on a bet: BUY and LAY, OFF where it was called off, ON where it was called on for a come-out. */
function lammersOf(bet, kind, main) {
  const called = bet.button === false ? "OFF" : bet.button === true && bet.works && state.phase === "come_out" ? "ON" : null;
  return [LAMMERS[kind] ?? (kind === main ? null : betEntry(kind).name), called].filter(Boolean);
}

/** What to choose from where a box is touched: the bets that are put down there by their number. */
export const kindsOfBox = (number) =>
  ["place", "buy", "big", "place_to_lose", "lay", "come_odds", "dont_come_odds"].filter((kind) =>
    (betEntry(kind)?.numbers ?? []).includes(number),
  );

/** The fields of the line bets and the field, those that the rules know: { kind, kinds, name, piles, isTaken }. */
export const lineFields = () =>
  LINES.filter(offers).map((kind) => ({
    kind,
    // What has gone to a box lies there, and so do its odds; what is on its line stays there, whatever its point.
    kinds: [kind, ...(TRAVELS.includes(kind) ? [] : oddsOf(kind))],
    name: betEntry(kind).name,
    piles: piles([kind], TRAVELS.includes(kind) ? null : undefined),
    isTaken: isTaken(kind),
  }));

export const isTaken = (kind) => !state.not_taken.includes(kind);

/** The hardways, by number. */
export const hardways = () =>
  (betEntry("hardway")?.numbers ?? []).map((number) => ({
    kinds: ["hardway"],
    number,
    name: `${betEntry("hardway").name} ${number}`,
    dice: [number / 2, number / 2],
    piles: piles(["hardway"], number),
    isTaken: isTaken("hardway"),
  }));

/** All other bets, each a field; hop bets are one. A rule set of the house's own may bring any. */
export function otherFields() {
  const known = [...IN_BOX, ...LINES, ...Object.keys(FLAT_OF), "hardway"];
  const others = (currentSet()?.bets ?? []).map(({ kind }) => kind).filter((kind) => !known.includes(kind));
  const hops = others.filter((kind) => kind.startsWith("hop_"));
  const fields = others
    .filter((kind) => !hops.includes(kind))
    .map((kind) => ({ kind, kinds: [kind], name: betEntry(kind).name, dice: DICE[kind] ?? null }));
  if (hops.length) fields.push({ kind: "hop", kinds: hops, name: TEXT.groups.hop, dice: null });
  return fields.map((field) => ({
    ...field,
    piles: piles(field.kinds, undefined, field.kind),
    isTaken: field.kinds.some(isTaken),
  }));
}
