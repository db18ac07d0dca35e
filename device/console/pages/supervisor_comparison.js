// What was and what becomes, drawn: of the players, the layout and the game.

import { betName } from "./console_state.js";
import { TEXT } from "./supervisor_text.js";
import { element } from "./terminal.js";
import { whole } from "./translation.js";

/** The parts of a comparison as the terminal gives it. */
export function comparison(look) {
  return [
    look.blocked ? blockedBy(look.blocked) : null,
    playerTable(look.players),
    layoutList(look.bets),
    ...(look.blocked ? [] : [gameList(look)]),
    ...look.not_redone.map(({ player, amount }) => element("p", { class: "mind" }, TEXT.owed(player, amount))),
  ].filter(Boolean);
}

function blockedBy({ after, message, step }) {
  const [name, said] = Object.entries(step)[0];
  const what = Array.isArray(said) ? said.join("-") : `${said.player}: ${betName(said)} ${said.amount ?? ""}`;
  return element(
    "p",
    { class: "mind", "data-testid": "blocked", "data-step": name },
    TEXT.blocked(after),
    " ",
    element("b", {}, what),
    ` (${message})`,
  );
}

function playerTable(players) {
  if (!players.length) return element("p", { "data-testid": "no-money" }, TEXT.no_money);
  const cell = (amount) => element("td", {}, TEXT.signed(amount));
  return element(
    "table",
    { "data-testid": "players" },
    element("tr", {}, ...[TEXT.player, TEXT.was, TEXT.becomes, TEXT.difference].map((word) => element("th", {}, word))),
    ...players.map(({ player, was, becomes, difference }) =>
      element(
        "tr",
        { "data-player": player, "data-difference": difference },
        element("td", {}, element("span", { class: "player" }, player)),
        cell(was),
        cell(becomes),
        element(
          "td",
          { class: difference > 0 ? "pay" : "collect" },
          difference > 0 ? TEXT.hand_out(difference) : TEXT.take_back(-difference),
        ),
      ),
    ),
  );
}

function layoutList(bets) {
  if (!bets.length) return element("p", { class: "note" }, TEXT.no_layout);
  const amount = (chips) => (chips ? whole(chips) : TEXT.off_layout);
  return element(
    "div",
    { "data-testid": "layout" },
    element("h3", {}, TEXT.layout),
    element(
      "ul",
      {},
      ...bets.map((bet) =>
        element("li", {}, element("span", { class: "player" }, bet.player), ` ${betName(bet)}: ${TEXT.what_becomes(amount(bet.was), amount(bet.becomes))}`),
      ),
    ),
  );
}

function gameList({ point, dice_pass: pass, rolls }) {
  const told = (value) => value ?? TEXT.point_off;
  const yes = (value) => (value ? TEXT.yes : TEXT.no);
  const later = rolls.length - 1;
  return element(
    "ul",
    { "data-testid": "game" },
    point.was === point.becomes ? null : element("li", {}, `${TEXT.point}: ${TEXT.what_becomes(told(point.was), told(point.becomes))}`),
    pass.was === pass.becomes ? null : element("li", {}, `${TEXT.dice_pass}: ${TEXT.what_becomes(yes(pass.was), yes(pass.becomes))}`),
    later > 0 ? element("li", {}, TEXT.later_changed(later)) : null,
  );
}
