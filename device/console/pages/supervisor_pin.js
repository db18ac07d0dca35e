// Signing in: the name is touched, then the PIN on a pad of large digits. The PIN is nowhere but in this file, for as
// long as it is being entered.

import { button, byId, draw, notice } from "./console_state.js";
import { asIHaveSignedIn, keepWord, mayBeSignedIn } from "./sign_in.js";
import { TEXT } from "./supervisor_text.js";
import { element, get, send } from "./terminal.js";

const PIN_LEAST = 4;
const PIN_MOST = 8;
const STILL_HERE_MS = 2000;
// A PIN takes its time to check on purpose, and others may wait before it. Whoever gives up sooner is signed in all the
// same, on a page that does not know it.
const CHECK_MS = 30000;

export let person = null; // {name, role} of whoever is signed in on this page
let people = null; // what the terminal says of who can sign in
let chosen = null; // the name that was touched
let pin = "";
let checking = false;
let stillHereAt = 0;
let changed = () => {};

/** Asks the terminal who is signed in here. */
export async function askWho() {
  const told = await asIHaveSignedIn(() => get("/api/people"));
  if (told === null) return;
  people = told;
  const before = person?.name;
  person = told.name === null ? null : { name: told.name, role: told.role };
  if (person === null && mayBeSignedIn()) {
    keepWord(null);
    if (before) notice(TEXT.signed_out, "signed_out");
  }
  if (person === null && before) forget();
  changed();
}

export function forget() {
  pin = "";
  chosen = null;
}

function choose(name) {
  chosen = name;
  pin = "";
  changed();
}

function keyDigit(digit) {
  if (chosen === null || checking) return;
  pin = digit === null ? "" : (pin + digit).slice(0, PIN_MOST);
  changed();
}

async function signIn() {
  if (chosen === null || pin.length < PIN_LEAST || checking) return;
  const tried = { name: chosen, pin };
  pin = "";
  checking = true;
  changed();
  // Sent once: a second try with the same PIN would count as another one.
  const answer = await send("/api/sign_in", tried, { once: true, forMs: CHECK_MS });
  checking = false;
  if (answer.outcome === "done") {
    keepWord(answer.body.page);
    chosen = null;
  } else notice(answer.body?.message ?? TEXT.unreachable, answer.body?.refused ?? "sign_in");
  await askWho();
}

export async function signOut() {
  await send("/api/sign_out", {}, { once: true, signed: true });
  keepWord(null);
  forget();
  await askWho();
}

/** A touch or a key: whoever is signed in is at work. */
async function stillHere() {
  if (person === null || performance.now() - stillHereAt < STILL_HERE_MS) return;
  stillHereAt = performance.now();
  const answer = await send("/api/still_here", {}, { once: true, signed: true });
  if (answer.outcome === "refused") await askWho();
}

export function renderPin() {
  byId("sign-in").hidden = person !== null;
  if (person !== null || people === null) return;
  draw("sign-in", [people, chosen, pin.length, checking], () => {
    const names = people.people.map(({ name, role }) =>
      button(`sign-in-${name}`, element("span", {}, element("b", {}, name), element("small", {}, TEXT.roles[role])), () => choose(name), {
        pressed: name === chosen,
        className: "named",
      }),
    );
    byId("sign-in-names").replaceChildren(...(names.length ? names : nobody()));
    const title = chosen === null ? TEXT.sign_in_title : TEXT.sign_in_as(chosen);
    byId("sign-in-title").textContent = checking ? TEXT.checking_pin : title;
    byId("pin-dots").replaceChildren(...Array.from({ length: pin.length }, () => element("i", {})));
    byId("pin-dots").setAttribute("aria-label", TEXT.pin_digits(pin.length));
    for (const key of byId("pin-pad").children) key.disabled = chosen === null || checking;
    byId("pin-pad").lastChild.disabled ||= pin.length < PIN_LEAST;
  });
}

function nobody() {
  return [
    element("p", {}, people.fault ?? TEXT.no_people),
    element("code", {}, "boxman people add NAME --role supervisor --data DIR"),
    element("code", {}, "boxman people pin NAME --data DIR"),
  ];
}

/** Answers the keyboard while nobody is signed in. */
export function keyInPin(event) {
  if (person !== null) return false;
  if (/^[0-9]$/.test(event.key)) keyDigit(event.key);
  else if (event.key === "Backspace") {
    pin = pin.slice(0, -1);
    changed();
  } else if (event.key === "Escape") choose(null);
  else if (event.key === "Enter" && chosen !== null) {
    event.preventDefault();
    signIn();
  } else return false;
  return true;
}

/** `whenChanged` draws the page anew. */
export function buildPin(whenChanged) {
  changed = whenChanged;
  const key = (digit) => button(`pin-${digit}`, String(digit), () => keyDigit(digit));
  byId("pin-pad").append(
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map(key),
    button("pin-clear", TEXT.pin_clear, () => keyDigit(null)),
    key(0),
    button("pin-ok", TEXT.ok, signIn, { className: "primary" }),
  );
  for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, stillHere, { capture: true });
  setInterval(askWho, 2000);
  return askWho();
}

