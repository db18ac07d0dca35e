// The names that were used at this table lately, so that they are touched instead of typed.

import { state } from "./console_state.js";

// How many of them are offered.
const NAMES_MAX = 6;

let used = []; // names that the terminal has taken from this page, the last one first

/** The terminal has recorded something under these names. */
export function nameUsed(...names) {
  used = distinct([...names.filter(Boolean), ...used]);
}

/** Those used here lately, those on duty or until now, and those that the openings and the alerts name. */
export function usedNames() {
  const { duty, duty_before: before, openings } = state.dice;
  const told = [duty, before].filter(Boolean).flatMap(({ boxman, witness }) => [boxman, witness]);
  const named = state.alerts.map(({ acknowledged_by: name }) => name).filter(Boolean);
  return distinct([...used, ...told, ...openings.flatMap((opening) => opening.duty), ...named]);
}

/** Names to be touched where a supervisor signs: the house's list where it has one; never those in `not`. */
export function supervisorNames(not) {
  const { supervisors = [], supervisors_listed: listed = supervisors.length > 0 } = state.dice;
  return (listed ? supervisors : usedNames()).filter((name) => !not.includes(name));
}

/** Each name once, however it was written. */
function distinct(names) {
  const folded = names.map((name) => name.toLowerCase());
  return names.filter((_, index) => folded.indexOf(folded[index]) === index).slice(0, NAMES_MAX);
}
