// Adjusting the settlement of a roll: players, and what each has got more or less of it.

import { act, button, isPosition, players, state } from "./console_state.js";
import { ask } from "./supervisor_ask.js";
import { TEXT } from "./supervisor_text.js";
import { element } from "./terminal.js";
import { whole } from "./translation.js";

let rows = []; // [{player, amount, less}], the amount without its sign

/** Begins with these adjustments. */
export function askAdjustment(adjustments) {
  rows = adjustments.map(({ player, amount }) => ({ player, amount: Math.abs(amount), less: amount < 0 }));
}

const sent = () => rows.map(({ player, amount, less }) => ({ player, amount: less ? -amount : amount }));

export const sendAdjustment = (number, reason, at) =>
  act("/api/adjustment", { number, adjustments: sent(), reason, at }, TEXT.actions.adjust(number), { signed: true });

/** The parts of the page; redraw() after each change. */
export function renderAdjustment(redraw) {
  const change = (index, part) => {
    rows = rows.map((row, at) => (at === index ? { ...row, ...part } : row));
    redraw();
  };
  const row = ({ player, amount, less }, index) =>
    element(
      "li",
      { "data-player": player },
      element("span", { class: isPosition(player) ? "player" : "player named" }, player),
      button(`less-${player}`, less ? TEXT.less : TEXT.more, () => change(index, { less: !less }), { className: less ? "collect" : "pay" }),
      button(`amount-${player}`, element("b", {}, whole(amount)), () =>
        ask({ title: TEXT.amount, kind: "number" }, (text) => change(index, { amount: Number(text) })),
      ),
      button(`remove-${player}`, TEXT.remove, () => {
        rows = rows.filter((_, at) => at !== index);
        redraw();
      }),
    );
  const others = players().filter((player) => !rows.some((one) => one.player === player));
  return [
    element("p", { class: "note" }, TEXT.adjust_note),
    element("ul", { class: "adjusted" }, ...rows.map(row)),
    element(
      "div",
      { class: "add-players" },
      element("h3", {}, TEXT.add_player),
      ...others.map((player) =>
        button(`add-${player}`, player, () => {
          rows = [...rows, { player, amount: 0, less: false }];
          redraw();
          ask({ title: TEXT.amount, kind: "number" }, (text) => change(rows.length - 1, { amount: Number(text) }));
        }),
      ),
    ),
  ];
}
renderAdjustment.shows = () => [rows, state.shooter];
renderAdjustment.isReady = () => rows.length > 0 && rows.every(({ amount }) => amount > 0);
