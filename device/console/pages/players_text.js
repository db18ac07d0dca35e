// Every word on the players' display that comes neither from the terminal nor from the house.

import { t, tn, whole } from "./translation.js";

export const TEXT = {
  closed: t("The table is closed"),
  point: t("Point"),
  come_out: t("Come-out"),
  off: t("OFF"),
  last_roll: t("Last roll"),
  no_roll_yet: t("No roll yet"),
  hand: t("This shooter"),
  hand_over: t("Last hand"),
  hand_rolls: (count) => tn("1 roll", "{count} rolls", count),
  hand_points: (count) => tn("1 point made", "{count} points made", count),
  rolls: t("Rolls before"),
  numbers_of: (count) => tn("Totals of the last roll", "Totals of the last {count} rolls", count),
  no_memory: t("Dice have no memory."),
  hot: t("hot"),
  cold: t("cold"),
  groups: {
    line: t("Line bets"),
    odds: t("Odds"),
    multi_roll: t("Bets that stay"),
    one_roll: t("One-roll bets"),
    hand: t("Bets on a hand"),
  },
  pays: (num, den) => t("{num} to {den}", { num: whole(num), den: whole(den) }),
  points_made: (count) => tn("1 point", "{count} points", count),
  commission: (per_cent) => t("less {per_cent} %", { per_cent }),
};
