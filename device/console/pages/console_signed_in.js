// A supervisor who signed in on this page (under Supervisor) and is back on the boxman's screen: a bar says so, and for
// how long. Only what needs a supervisor is done here in their name; whoever plays on does not keep them signed in.

import { button, offerWays } from "./console_state.js";
import { asIHaveSignedIn, keepWord, mayBeSignedIn } from "./sign_in.js";
import { TEXT } from "./supervisor_text.js";
import { element, get, send } from "./terminal.js";

const LOOK_MS = 2000;
const PAGE = "/supervisor";

let bar = null;

const minutes = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

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
  const [name, left] = bar.children;
  name.textContent = told.name === null ? "" : TEXT.signed_in_as(told.name);
  left.textContent = told.name === null ? "" : minutes(told.left_s);
}

async function signOut() {
  await send("/api/sign_out", {}, { once: true, signed: true });
  keepWord(null);
  look();
}

export function buildSignedIn() {
  bar = element(
    "div",
    { id: "signed-in", class: "bar", "data-testid": "signed-in", role: "status", hidden: true },
    element("strong", { class: "named" }),
    element("span", { "data-testid": "signed-in-left" }),
    button("sign-out", TEXT.sign_out, signOut),
  );
  document.body.prepend(bar);
  offerWays("needs_sign_in", [["sign-in", TEXT.sign_in, () => location.assign(PAGE)]]);
  setInterval(look, LOOK_MS);
  look();
}

/** The way to the supervisor's pages. */
export const supervisorLink = () =>
  element("a", { href: PAGE, class: "page-link", "data-testid": "supervisor" }, TEXT.supervisor_pages);
