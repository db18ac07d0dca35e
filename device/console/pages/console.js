// The boxman's console: shows the terminal's state and sends the boxman's commands. It keeps nothing of its own but a
// half-entered action; what it shows as done, the terminal has written to its disk. Its words are in console_text.js.

import { buildBets, renderStandingBets } from "./bets.js";
import { TEXT } from "./console_text.js";
import {
  busy,
  button,
  byId,
  command,
  currentSet,
  deliver,
  discardUnsent,
  draw,
  hideNotice,
  isPosition,
  mayEnter,
  money,
  plain,
  players,
  reachable,
  setReachable,
  setState,
  state,
  unsent,
  whenChanged,
} from "./console_state.js";
import { addDialog, closeAfter, closeOverlay, openDialog, openOverlay } from "./dialogs.js";
import { applyKeyLocks, buildDiceEntry, clearDieOne, forgetDice, keyDie, renderEntry } from "./dice_entry.js";
import { buildMainScreen, renderMainScreen } from "./main_screen.js";
import { buildTableOpening, optionWords } from "./table_opening.js";
import { element, followState } from "./terminal.js";

// A page that has just loaded is given this long before it says that nobody answers.
const PATIENCE_MS = 2000;

function drawPage() {
  byId("halted").hidden = !state?.halted;
  byId("halted").textContent = state?.halted ? TEXT.halted(state.halted) : "";
  byId("offline").hidden = reachable || (state === null && performance.now() < PATIENCE_MS);
  document.body.classList.toggle("stale", !reachable);
  byId("unsent").hidden = unsent === null;
  byId("unsent-text").textContent = unsent ? TEXT.unsent(unsent.what) : "";
  byId("unsent-again").disabled = busy !== null;
  if (state !== null) {
    renderMainScreen();
    renderStandingBets();
    renderEntry();
    openDialog()?.render();
  }
  const open = mayEnter();
  for (const node of document.querySelectorAll("[data-entry]")) {
    node.disabled = !open || node.hasAttribute("data-missing");
  }
  applyKeyLocks();
}

/** A reason of the rule set: what it is, and in small print what the regulation says of it. */
function reasonWords(text) {
  const [reason, ...rest] = text.split(" (");
  return element("span", {}, reason, rest.length ? element("small", {}, `(${rest.join(" (")}`) : null);
}

function renderReasons() {
  const reasons = currentSet()?.no_roll ?? {};
  draw("reasons", reasons, () => {
    const choose = (reason) => closeAfter(command({ no_roll: reason }));
    byId("reasons").replaceChildren(
      ...Object.entries(reasons).map(([reason, text]) =>
        button(`reason-${reason}`, reasonWords(text), () => choose(reason), { entry: true }),
      ),
    );
  });
}

function renderShooters() {
  draw("shooters", [players(), state.shooter], () => {
    const look = (player) => ({
      entry: true,
      pressed: player === state.shooter,
      className: isPosition(player) ? null : "named",
    });
    const choose = (player) => closeAfter(command({ shooter: player }));
    byId("shooters").replaceChildren(
      ...players().map((player) => button(`shooter-${player}`, player, () => choose(player), look(player))),
    );
  });
}

function pairs(list) {
  return list.flatMap(([term, meaning]) => [element("dt", {}, term), element("dd", {}, meaning)]);
}

function renderHelp() {
  const { table, uplink } = state;
  const options = Object.entries(table.options)
    .map(([name, value]) => `${plain(name)}: ${optionWords(value)}`)
    .join(", ");
  const shown = [
    [TEXT.help_rules, `${table.rules}: ${table.title}`],
    ...(options ? [[TEXT.help_options, options]] : []),
    [TEXT.help_limits, TEXT.limits(money(table.limits.min), money(table.limits.max))],
    [TEXT.help_unit, money(table.unit)],
    [TEXT.help_house, money(state.house)],
    [TEXT.help_network, [TEXT[`uplink_${uplink.state}`], uplink.last_error].filter(Boolean).join(": ")],
    [TEXT.help_recent, state.recent_rolls.map((dice) => dice.join("-")).join("  ")],
    ...table.warnings.map((text) => [TEXT.help_warnings, text]),
  ];
  draw("help", [shown, state.virtual], () => {
    byId("help-status").replaceChildren(...pairs(shown));
    byId("help-keys").replaceChildren(...pairs(TEXT.keys));
    byId("virtual-link").replaceChildren(
      ...(state.virtual ? [element("a", { href: "/virtual", target: "_blank" }, TEXT.virtual_link)] : []),
    );
  });
}

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  const dialog = openDialog();
  if (event.key === "Escape") {
    hideNotice();
    if (dialog) closeOverlay();
    else clearDieOne();
  } else if (event.key === "Enter" && dialog?.confirm) {
    event.preventDefault();
    dialog.confirm();
  } else if (event.key === "Backspace" && dialog?.backspace) {
    dialog.backspace();
  } else if (/^[0-9]$/.test(event.key)) {
    const digit = Number(event.key);
    if (dialog) dialog.digit?.(digit);
    else if (digit >= 1 && digit <= 6) keyDie(digit);
  }
}

function build() {
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = TEXT[node.dataset.text];
  buildMainScreen();
  buildDiceEntry();
  buildBets();
  buildTableOpening();
  addDialog("no-roll", { render: renderReasons });
  addDialog("shooter", { render: renderShooters });
  addDialog("help", { render: renderHelp });
  const on = (id, onclick) => byId(id).addEventListener("click", onclick);
  const opens = (id, name) =>
    on(id, () => {
      forgetDice();
      openOverlay(name);
    });
  opens("button-bets", "bets");
  opens("button-no-roll", "no-roll");
  opens("button-correct", "correct");
  opens("button-new-shooter", "shooter");
  opens("button-open-table", "table");
  opens("button-help", "help");
  on("notice", hideNotice);
  on("unsent-again", () => deliver(unsent));
  on("unsent-discard", discardUnsent);
  document.addEventListener("keydown", onKey);
  // A long touch is a touch, not a menu.
  document.addEventListener("contextmenu", (event) => event.preventDefault());
}

/** Takes in a new state. A half-entered roll or correction belongs to the roll before it and goes when another roll came. */
function takeState(next) {
  if (state !== null && JSON.stringify(state.last_roll) !== JSON.stringify(next.last_roll)) forgetDice();
  setState(next);
}

whenChanged(drawPage);
build();
followState({ onState: takeState, onReach: setReachable });
