// What the console knows, and how it sends: the terminal's state and rules as they came, and the one action under way.

import { TEXT } from "./console_text.js";
import { element, freshId, get, send } from "./terminal.js";
import { whole } from "./translation.js";

const POSITIONS = 16;
const NOTICE_MS = 8000;
// Steps that two people may have entered for the same throw: they name the roll that the page shows.
const ABOUT_A_ROLL = ["roll", "correct", "no_roll"];

export const byId = (id) => document.getElementById(id);

export let state = null;
export let rules = null;
export let rulesRead = 0; // how often the rules were read, so that what shows their names is drawn anew
let wired = null; // the names of the table's inputs
export let busy = null; // the action in flight
export let unsent = null; // the action that got no answer
export let reachable = false;
export let refusal = null; // the code of the last answer, if it was a refusal
export let refusalWords = null; // what it said then
// A kind of bet within a sentence: two words or more, or the one that it begins with.
const KIND = /\b[a-z]+(_[a-z0-9]+)+\b|^[a-z]+\b(?= (takes|needs) )/g;
let noticeTimer = 0;
let drawEverything = () => {};
const ways = {}; // what a notice offers to touch, by its code

/** What draws the whole page; called after every change. */
export function whenChanged(drawPage) {
  drawEverything = drawPage;
}

export function render() {
  drawEverything();
}

export function setState(next) {
  state = next;
  render();
}

export function setReachable(now) {
  reachable = now;
  // After an outage it may be another version that answers.
  if (now) loadRules();
  render();
}

export function discardUnsent() {
  unsent = null;
  render();
}

async function loadRules() {
  if (!reachable) return;
  try {
    rules = await get("/api/rules");
    rulesRead += 1;
    wired = (await get("/api/hardware")).inputs.map(({ name }) => name);
  } catch {
    notice(TEXT.rules_missing, "rules_missing");
    setTimeout(loadRules, 1000);
    return;
  }
  render();
}

/** Whether the table has this input; as long as nobody knows, it has it. */
export const isWired = (name) => wired === null || wired.includes(name);

export const mayEnter = () => reachable && state !== null && !state.halted && busy === null && unsent === null;

/** An amount in chip units, as the locale writes it. */
export const money = whole;

export const currentSet = () => rules?.sets.find((set) => set.name === (state?.table.rules ?? rules.current)) ?? null;
export const betEntry = (kind) => currentSet()?.bets.find((bet) => bet.kind === kind) ?? null;
export const plain = (code) => String(code).replaceAll("_", " ");
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const kindName = (kind) => betEntry(kind)?.name ?? plain(kind);
export const betName = (bet) => (bet.number ? `${kindName(bet.kind)} ${bet.number}` : kindName(bet.kind));
/** A reason of a void throw: its words, and whether the rules read such dice all the same (and where they say so). */
export function reasonWords(reason) {
  const said = currentSet()?.no_roll[reason] ?? sentence(plain(reason));
  const [, words, source] = /^(.*?)(?: \(read here, (.*)\))?$/s.exec(said);
  return { words, counts: source !== undefined, source };
}
/** What the terminal says of a bet, with the bet's own name for its kind. */
export const named = (text) => text.replace(KIND, (kind) => betEntry(kind)?.name ?? kind);
export const clockTime = (wall) =>
  wall ? new Date(wall).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" }) : "";

/** As clockTime, of what may be days ago: 2026-11-29 22:10. */
export const dayTime = (wall) => new Date(wall).toLocaleString("sv-SE", { dateStyle: "short", timeStyle: "short" });

export const isPosition = (player) => /^[0-9]+$/.test(player);

/** Positions in their order, then names. */
export const byPosition = (a, b) => isPosition(b) - isPosition(a) || a.localeCompare(b, "en", { numeric: true });

/** A player as a row shows it: a position, or a name that has two lines. */
export const playerTag = (player) =>
  element("span", { class: isPosition(player) ? "player" : "player name", title: player }, player);

/** The positions of the table, and every other player who has bets or the dice. */
export function players() {
  const names = new Set(Array.from({ length: POSITIONS }, (_, index) => String(index + 1)));
  for (const bet of state.bets) names.add(bet.player);
  if (state.shooter) names.add(state.shooter);
  return [...names].sort(byPosition);
}

export function button(
  testId,
  content,
  onclick,
  { entry = false, pressed = null, className = null, available = true } = {},
) {
  return element(
    "button",
    {
      type: "button",
      "data-testid": testId,
      "data-entry": entry,
      "data-missing": available ? null : "",
      class: className,
      onclick,
      "aria-pressed": pressed === null ? null : String(pressed),
      disabled: entry && !(mayEnter() && available),
    },
    content,
  );
}

/** Says whether an entry button has all that it needs; the page also looks at the terminal. */
export function setAvailable(node, available) {
  node.toggleAttribute("data-missing", !available);
}

const drawn = new Map();

/** Draws a part anew only when what it shows has changed, so that a list keeps its place under the finger. */
export function draw(part, shows, drawIt) {
  const key = JSON.stringify(shows);
  if (drawn.get(part) === key) return;
  drawn.set(part, key);
  drawIt();
}

/**
 * Sends one action; answers whether it was done. Only one is under way at a time, so a double touch sends once.
 * `signed`: whoever has signed in on this page does it.
 */
export async function act(path, body, what, { signed = false } = {}) {
  if (!mayEnter()) return false;
  return deliver({ path, body: { id: freshId(), ...body }, what, signed });
}

export function command(step) {
  const [name, content] = Object.entries(step)[0];
  const known = ABOUT_A_ROLL.includes(name) ? { after_roll: state.roll_number } : {};
  return act("/api/command", { step, ...known }, TEXT.actions[name](content));
}

export async function deliver(action) {
  busy = action;
  refusalWords = null;
  render();
  const answer = await send(action.path, action.body, { signed: action.signed });
  busy = null;
  unsent = answer.outcome === "unreachable" ? action : null;
  refusal = answer.outcome === "refused" ? answer.body.refused : null;
  const { body } = answer;
  refusalWords = answer.outcome === "refused" ? sentence(named(body.message ?? plain(body.refused))) : null;
  if (answer.outcome === "done") hideNotice();
  if (answer.outcome === "refused") notice(refusalWords, body.refused);
  if (answer.outcome === "invalid") notice(`${body.field} ${body.message}`, body.field);
  if (answer.outcome === "halted") notice(body.halted || TEXT.halted_answer, "halted");
  render();
  return answer.outcome === "done";
}

/** A notice of this code offers these ways out: [name, words, what to do]. */
export function offerWays(code, offered) {
  ways[code] = offered;
}

export function notice(text, code) {
  const offered = ways[code] ?? [];
  byId("notice-text").textContent = sentence(text);
  byId("notice-text").dataset.code = code;
  byId("notice-ways").replaceChildren(
    ...offered.map(([name, words, go]) =>
      button(`notice-${name}`, words, () => {
        hideNotice();
        go();
      }),
    ),
  );
  byId("notice").hidden = false;
  clearTimeout(noticeTimer);
  // What is offered to be touched stays until it is.
  if (!offered.length) noticeTimer = setTimeout(hideNotice, NOTICE_MS);
}

export function hideNotice() {
  byId("notice").hidden = true;
}
