// A supervisor who signed in on this page (under Supervisor) and is back on the boxman's screen: a bar says so, and that
// what is done here is done in their name, until they sign out or nobody has touched the screen for a while.

import { button, offerWays } from "./console_state.js";
import { asIHaveSignedIn, keepWord, mayBeSignedIn } from "./sign_in.js";
import { TEXT } from "./supervisor_text.js";
import { element, get, send } from "./terminal.js";

const LOOK_MS = 2000;
const STILL_HERE_MS = 10000;
const PAGE = "/supervisor";

let bar = null;
let stillHereAt = 0;

/** Takes the bar away once nobody is signed in here any more. */
async function look() {
  if (!mayBeSignedIn()) {
    bar.hidden = true;
    return;
  }
  const told = await asIHaveSignedIn(() => get("/api/people"));
  if (told === null) return;
  if (told.name === null) keepWord(null);
  bar.hidden = told.name === null;
  bar.firstChild.textContent = told.name === null ? "" : TEXT.signed_in_as(told.name);
}

async function signOut() {
  await send("/api/sign_out", {}, { once: true });
  keepWord(null);
  look();
}

function stillHere() {
  if (!mayBeSignedIn() || performance.now() - stillHereAt < STILL_HERE_MS) return;
  stillHereAt = performance.now();
  send("/api/still_here", {}, { once: true });
}

export function buildSignedIn() {
  bar = element(
    "div",
    { id: "signed-in", class: "bar", "data-testid": "signed-in", role: "status", hidden: true },
    element("strong", { class: "named" }),
    button("sign-out", TEXT.sign_out, signOut),
  );
  document.body.prepend(bar);
  offerWays("needs_sign_in", [["sign-in", TEXT.sign_in, () => location.assign(PAGE)]]);
  for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, stillHere, { capture: true });
  setInterval(look, LOOK_MS);
  look();
}

/** The way to the supervisor's pages. */
export const supervisorLink = () =>
  element("a", { href: PAGE, class: "page-link", "data-testid": "supervisor" }, TEXT.supervisor_pages);
