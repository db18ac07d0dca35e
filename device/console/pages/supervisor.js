// The supervisor's pages: signing in with a PIN, then one page at a time. What it shows as done is on the terminal's disk.

import { byId, button, deliver, discardUnsent, hideNotice, mayEnter, reachable, render, setReachable, setState, state, unsent, whenChanged } from "./console_state.js";
import { buildAsk, isAsking, keyInAsk } from "./supervisor_ask.js";
import { buildCorrections, forgetCorrection, keyInCorrections, readRolls, renderCorrections } from "./supervisor_corrections.js";
import { buildJournal, forgetJournal, keyInJournal, readHands, readSessions, renderHands, renderJournal, renderSessions } from "./supervisor_journal.js";
import { buildPin, keyInPin, person, renderPin, signOut } from "./supervisor_pin.js";
import { buildTable, keyInTable, renderAlerts, renderTable } from "./supervisor_table.js";
import { TEXT } from "./supervisor_text.js";
import { TEXT as CONSOLE_TEXT } from "./console_text.js";
import { element, followState } from "./terminal.js";
import { LANGUAGE } from "./translation.js";

const PATIENCE_MS = 2000;
const READERS = ["shooters", "sessions", "journal"];
const PAGES = {
  table: { draw: renderTable, key: keyInTable },
  corrections: { draw: renderCorrections, begin: readRolls, end: forgetCorrection, key: keyInCorrections },
  alerts: { draw: renderAlerts },
  shooters: { draw: renderHands, begin: readHands },
  sessions: { draw: renderSessions, begin: () => readSessions() },
  journal: { draw: renderJournal, key: keyInJournal },
};

let shown = null; // the page that is open
let shownTo = null; // who was signed in when it was opened

const mayOpen = (name) => person !== null && (person.role === "supervisor" || READERS.includes(name));

function show(name) {
  if (shown !== null) PAGES[shown].end?.();
  shown = name;
  hideNotice();
  PAGES[name].begin?.();
  render();
}

/** Whoever signs in begins anew; nothing that another was about to do is left. */
function follow() {
  const now = person?.name ?? null;
  if (now === shownTo) return;
  shownTo = now;
  forgetJournal();
  if (shown !== null) PAGES[shown].end?.();
  shown = null;
  if (now !== null && state !== null) show(mayOpen("table") ? "table" : "shooters");
}

function drawPage() {
  byId("halted").hidden = !state?.halted;
  byId("halted").textContent = state?.halted ? CONSOLE_TEXT.halted(state.halted) : "";
  byId("offline").hidden = reachable || (state === null && performance.now() < PATIENCE_MS);
  byId("unsent").hidden = unsent === null;
  byId("unsent-text").textContent = unsent ? CONSOLE_TEXT.unsent(unsent.what) : "";
  renderPin();
  byId("pages").hidden = person === null;
  byId("who").hidden = person === null;
  if (state === null) return;
  byId("title").textContent = TEXT.title(state.table.table);
  byId("to-commission").hidden = state.open;
  follow();
  if (person === null) return;
  byId("who-name").textContent = person.name;
  for (const name of Object.keys(PAGES)) {
    byId(`tab-${name}`).hidden = !mayOpen(name);
    byId(`tab-${name}`).setAttribute("aria-pressed", String(name === shown));
    byId(`page-${name}`).hidden = name !== shown;
  }
  if (shown !== null) PAGES[shown].draw();
  const open = mayEnter();
  for (const node of document.querySelectorAll("[data-entry]")) node.disabled = !open || node.hasAttribute("data-missing");
}

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (isAsking()) {
    keyInAsk(event);
    return;
  }
  if (event.key === "Escape") hideNotice();
  if (keyInPin(event) || person === null) return;
  if (shown !== null) PAGES[shown].key?.(event);
}

function build() {
  document.documentElement.lang = LANGUAGE;
  byId("tabs").append(
    ...Object.keys(PAGES).map((name) => {
      const tab = button(`tab-${name}`, TEXT.tabs[name], () => show(name));
      tab.id = `tab-${name}`;
      return tab;
    }),
  );
  byId("links").append(
    element("a", { class: "page-link", href: "/", "data-testid": "to-console" }, TEXT.to_console),
    element("a", { class: "page-link", href: "/dice/status", target: "_blank" }, TEXT.to_dice),
    element("a", { class: "page-link", href: "/statistics", target: "_blank" }, TEXT.to_statistics),
    element("a", { class: "page-link", id: "to-commission", href: "/commission", "data-testid": "to-commission" }, TEXT.to_commission),
  );
  byId("who").append(button("sign-out", TEXT.sign_out, signOut));
  for (const node of document.querySelectorAll("[data-text]"))
    node.textContent = TEXT[node.dataset.text] ?? CONSOLE_TEXT[node.dataset.text];
  byId("unsent-again").addEventListener("click", () => deliver(unsent));
  byId("unsent-discard").addEventListener("click", discardUnsent);
  byId("notice-text").addEventListener("click", hideNotice);
  document.addEventListener("keydown", onKey);
  document.addEventListener("contextmenu", (event) => event.preventDefault());
  buildAsk();
  buildTable(render);
  buildCorrections(render);
  buildJournal(render);
  buildPin(render);
}

whenChanged(drawPage);
build();
followState({ onState: setState, onReach: setReachable });
