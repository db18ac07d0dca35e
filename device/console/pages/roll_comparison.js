// Before the last roll is corrected: for each player the sums of the two steps that follow, and what they come to.

import { TEXT } from "./console_text.js";
import { byId, byPosition, draw, money, playerTag, render, state } from "./console_state.js";
import { sumsOfSteps } from "./results.js";
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
    if (about !== null) ask(right, last.results, about);
  }
  draw("compared", [about, told, same], () => byId("compared").replaceChildren(...compared(same)));
}

async function ask(dice, undone, about) {
  const said = await get(`/api/correction?dice=${dice.join("-")}`).catch(() => ({ failed: true }));
  if (asked !== about) return;
  told = said.failed ? said : { ...said, undone };
  render();
}

function compared(same) {
  if (same) return [element("p", {}, TEXT.same_dice)];
  if (asked === null || told?.failed) return [];
  if (told === null) return [element("p", {}, TEXT.comparing)];
  const { point } = told;
  const rows = playerRows(told);
  const list = element("ul", {}, ...rows);
  const more = element("button", { type: "button", class: "more", "data-testid": "compared-more", hidden: true });
  pageBy(list, more);
  const pointWords = ({ was, becomes }) => TEXT.compared_point(was ?? TEXT.no_point, becomes ?? TEXT.no_point);
  return [
    element("h2", {}, element("span", {}, TEXT.compared), more),
    point.was === point.becomes ? null : element("p", { "data-testid": "compared-point" }, pointWords(point)),
    rows.length ? list : element("p", {}, TEXT.compared_none),
  ].filter(Boolean);
}

/** One row for each player of whom a step moves something. */
function playerRows({ undone, not_redone: notRedone, results }) {
  const names = new Set([...undone, ...notRedone, ...results].map(({ player }) => player));
  const ofPlayer = (found, name) => found.filter(({ player }) => player === name);
  return [...names]
    .sort(byPosition)
    .map((name) => ({
      player: name,
      owed: ofPlayer(notRedone, name).reduce((sum, { amount }) => sum + amount, 0),
      ...sumsOfSteps(ofPlayer(undone, name), ofPlayer(notRedone, name), ofPlayer(results, name)),
    }))
    .filter(({ take, give, collect, pay, stake }) => take || give || collect || pay || stake)
    .map(playerRow);
}

function playerRow({ player, take, give, collect, pay, stake, owed }) {
  // What was taken up since goes back to the layout, from where the second step collects it.
  const difference = give - (take - owed) + pay - collect;
  const part = (words, amount) => (amount ? `${words} ${money(amount)}` : null);
  const lines = [
    [part(TEXT.undo_take, take), part(TEXT.undo_give, give)],
    [part(TEXT.collect, collect), part(TEXT.pay, pay)],
    [stake > 0 ? TEXT.stake_to_layout(money(stake)) : stake < 0 ? TEXT.stake_back(money(-stake)) : null],
    [part(TEXT.taken_up_since, owed)],
  ].map((parts) => parts.filter(Boolean).join(" · "));
  const words =
    difference > 0 ? TEXT.hand_out(money(difference)) : difference < 0 ? TEXT.take_from(money(-difference)) : money(0);
  return element(
    "li",
    { "data-player": player, "data-difference": difference },
    playerTag(player),
    element("span", {}, ...lines.filter(Boolean).map((line) => element("span", {}, line))),
    element("b", {}, words),
  );
}
