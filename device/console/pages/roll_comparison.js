// Before the last roll is corrected: what each player had got of it and would get, and what that leaves to be done.

import { TEXT } from "./console_text.js";
import { byId, draw, money, playerTag, render, state } from "./console_state.js";
import { pageBy } from "./scrolling.js";
import { element, get } from "./terminal.js";

let asked = null; // the dice and the game that the terminal was asked about
let told = null; // what it said, or { failed }

/** Whether what would change stands on the screen, or cannot be known. */
export const isCompared = () => told !== null;

/** Shows what becomes when the last roll was the `right` two dice; asks the terminal where it has not said so yet. */
export function showComparison(last, right) {
  const same = right.length === 2 && [...right].sort().join() === [...last.dice].sort().join();
  const about = right.length < 2 || same ? null : JSON.stringify([right, last, state.bets]);
  if (about !== asked) {
    asked = about;
    told = null;
    if (about !== null) ask(right, about);
  }
  draw("compared", [about, told, same], () => byId("compared").replaceChildren(...compared(same)));
}

async function ask(dice, about) {
  const said = await get(`/api/correction?dice=${dice.join("-")}`).catch(() => ({ failed: true }));
  if (asked !== about) return;
  told = said;
  render();
}

function compared(same) {
  if (same) return [element("p", {}, TEXT.same_dice)];
  if (asked === null || told?.failed) return [];
  if (told === null) return [element("p", {}, TEXT.comparing)];
  const { players, point } = told;
  const list = element("ul", {}, ...players.map(playerRow));
  const more = element("button", { type: "button", class: "more", "data-testid": "compared-more", hidden: true });
  pageBy(list, more);
  const pointWords = ({ was, becomes }) => TEXT.compared_point(was ?? TEXT.no_point, becomes ?? TEXT.no_point);
  return [
    element("h2", {}, element("span", {}, TEXT.compared), more),
    point.was === point.becomes ? null : element("p", { "data-testid": "compared-point" }, pointWords(point)),
    players.length ? list : element("p", {}, TEXT.compared_none),
  ].filter(Boolean);
}

const signed = (amount) => `${amount < 0 ? "−" : ""}${money(Math.abs(amount))}`;

function playerRow({ player, was, becomes, difference }) {
  const words = difference > 0 ? TEXT.hand_out(money(difference)) : TEXT.take_from(money(-difference));
  return element(
    "li",
    { "data-player": player, "data-was": was, "data-becomes": becomes, "data-difference": difference },
    playerTag(player),
    element("span", {}, `${signed(was)} → ${signed(becomes)}`),
    element("b", {}, words),
  );
}
