// The boxman's console: shows the terminal's state and sends the boxman's commands. It keeps nothing of its own but a
// half-entered action; what it shows as done, the terminal has written to its disk. Its words are in console_text.js.

import { buildAlerts, chooseFirstAlert, renderAlerts } from "./alerts.js";
import { buildBets, renderStandingBets } from "./bets.js";
import { buildSignedIn, supervisorLink } from "./console_signed_in.js";
import { TEXT } from "./console_text.js";
import {
  busy,
  button,
  byId,
  command,
  dayTime,
  deliver,
  discardUnsent,
  draw,
  hideNotice,
  isPosition,
  mayEnter,
  money,
  offerWays,
  plain,
  players,
  reachable,
  setReachable,
  setState,
  state,
  unsent,
  whenChanged,
} from "./console_state.js";
import { addDialog, closeAfter, closeOverlay, openDialog, openOverlay, overlay } from "./dialogs.js";
import {
  applyKeyLocks,
  buildDiceEntry,
  clearDieOne,
  endCorrection,
  forgetDice,
  keyDie,
  renderEntry,
  restKeys,
  telling,
  wantCorrecting,
} from "./dice_entry.js";
import { buildAsked } from "./dice_asked.js";
import { buildChange, forgetChange } from "./dice_change.js";
import { buildCorrection } from "./dice_correction.js";
import { buildCount } from "./dice_count.js";
import { buildDiceDialog, openDice } from "./dice_dialog.js";
import { buildDuty } from "./dice_duty.js";
import { buildFairness } from "./dice_fairness.js";
import { buildInspection } from "./dice_inspection.js";
import { buildReports } from "./dice_reports.js";
import { buildSets } from "./dice_sets.js";
import { buildTextEntry } from "./dice_text_entry.js";
import { buildHardware } from "./hardware.js";
import { announceRoll, buildMainScreen, renderMainScreen } from "./main_screen.js";
import { noRollReasons, reasonButton, renderCommonReasons } from "./no_roll_reasons.js";
import { buildProposals, renderProposals } from "./proposals.js";
import { renderQuestion } from "./reserve_question.js";
import { pageBy } from "./scrolling.js";
import { buildTableOpening, optionWords } from "./table_opening.js";
import { element, followState } from "./terminal.js";
import { LANGUAGE, LANGUAGES, chooseLanguage } from "./translation.js";

// A page that has just loaded is given this long before it says that nobody answers.
const PATIENCE_MS = 2000;
// The keys of a keyboard that open a dialog, and the button that does the same.
const OPENERS = {
  b: "button-bets",
  n: "button-no-roll",
  c: "button-correct",
  s: "button-new-shooter",
  t: "button-open-table",
  d: "button-dice",
  m: "button-no-more-bets",
  h: "button-hardware",
  "?": "button-help",
};

function drawPage() {
  byId("halted").hidden = !state?.halted;
  byId("halted").textContent = state?.halted ? TEXT.halted(state.halted) : "";
  byId("offline").hidden = reachable || (state === null && performance.now() < PATIENCE_MS);
  document.body.classList.toggle("stale", !reachable);
  // The dialog says it itself; over any other the bar does.
  byId("correcting").hidden = !state?.correcting || overlay === "correct";
  byId("correcting-says").textContent = TEXT.correcting(state?.roll_number);
  byId("unsent").hidden = unsent === null;
  byId("unsent-text").textContent = unsent ? TEXT.unsent(unsent.what) : "";
  byId("unsent-again").disabled = busy !== null;
  if (state !== null) {
    renderMainScreen();
    renderQuestion();
    renderAlerts();
    renderProposals();
    renderStandingBets();
    renderEntry();
    renderCommonReasons();
    openDialog()?.render();
  }
  const open = mayEnter();
  for (const node of document.querySelectorAll("[data-entry]")) {
    node.disabled = !open || node.hasAttribute("data-missing");
  }
  applyKeyLocks();
}

function renderReasons() {
  const reasons = noRollReasons();
  draw("reasons", reasons, () => {
    const counting = reasons.filter(({ counts }) => counts);
    const buttons = (some) => some.map((said) => reasonButton("reason", said, closeAfter));
    byId("reasons").replaceChildren(...buttons(reasons.filter(({ counts }) => !counts)));
    byId("reasons-count").hidden = counting.length === 0;
    byId("counting").replaceChildren(...buttons(counting));
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

/** How the link stands, or each of several; with several, the error names its own. */
function networkWords({ state, targets, last_error }) {
  const each = Object.entries(targets ?? {}).map(([name, link]) => `${name} ${TEXT[`uplink_${link}`]}`);
  const links = each.length > 1 ? each.join(", ") : TEXT[`uplink_${state}`];
  return [links, last_error].filter(Boolean).join(": ");
}

function renderHelp() {
  const { table, uplink } = state;
  const options = Object.entries(table.options)
    .map(([name, value]) => `${TEXT.options[name] ?? plain(name)}: ${optionWords(value)}`)
    .join(", ");
  const shown = [
    [TEXT.help_rules, `${table.rules}: ${table.title}`],
    ...(options ? [[TEXT.help_options, options]] : []),
    [TEXT.help_dice_pass, `${byId("dice-pass-rule").textContent} (${table.dice_pass.source})`],
    [TEXT.help_limits, TEXT.limits(money(table.limits.min), money(table.limits.max))],
    [TEXT.help_unit, money(table.unit)],
    [TEXT.help_house, money(state.house)],
    [TEXT.help_network, networkWords(uplink)],
    ...(uplink.waiting_since
      ? [[TEXT.undelivered, TEXT.waiting(money(uplink.undelivered), dayTime(uplink.waiting_since))]]
      : []),
    [TEXT.help_recent, state.recent_rolls.map((dice) => dice.join("-")).join("  ")],
    ...table.warnings.map((text) => [TEXT.help_warnings, text]),
  ];
  draw("help", [shown, state.virtual], () => {
    byId("help-status").replaceChildren(...pairs(shown));
    byId("help-keys").replaceChildren(...pairs(TEXT.keys));
    byId("help-meanings").replaceChildren(...pairs(TEXT.meanings));
    byId("virtual-link").replaceChildren(
      supervisorLink(),
      element("a", { href: "/statistics", class: "page-link", "data-testid": "statistics" }, TEXT.statistics_link),
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
    else {
      clearDieOne();
      if (state?.correcting) wantCorrecting(false);
    }
  } else if (event.key === "Enter" && dialog?.confirm) {
    event.preventDefault();
    dialog.confirm();
  } else if (event.key === "Backspace" && dialog?.backspace) {
    dialog.backspace();
  } else if (/^[0-9]$/.test(event.key)) {
    const digit = Number(event.key);
    if (dialog) dialog.digit?.(digit);
    else if (digit >= 1 && digit <= 6) keyDie(digit);
  } else if (!dialog && event.key.toLowerCase() in OPENERS) {
    byId(OPENERS[event.key.toLowerCase()]).click();
  } else if (!dialog && event.key.toLowerCase() === "a") {
    // The letter is not the first one of the name.
    event.preventDefault();
    chooseFirstAlert();
  }
}

function buildDicePages() {
  buildChange();
  buildAsked();
  buildSets();
  buildInspection();
  buildCount();
  buildCorrection();
  buildDuty();
  buildFairness();
  buildReports();
  buildTextEntry();
  buildDiceDialog();
}

/** The languages to choose from: the page is loaded anew in the one that is touched. */
function languageButtons() {
  return Object.entries(LANGUAGES).map(([language, name]) =>
    button(`speak-${language}`, element("span", { lang: language }, name), () => chooseLanguage(language), {
      pressed: language === LANGUAGE,
    }),
  );
}

function build() {
  document.documentElement.lang = LANGUAGE;
  byId("help-languages").replaceChildren(element("h2", {}, TEXT.help_language), ...languageButtons());
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = TEXT[node.dataset.text];
  buildMainScreen();
  buildDiceEntry();
  buildBets();
  buildProposals();
  buildTableOpening();
  buildAlerts();
  buildHardware();
  buildDicePages();
  buildSignedIn();
  addDialog("no-roll", { render: renderReasons });
  addDialog("shooter", { render: renderShooters });
  addDialog("help", { render: renderHelp });
  const helpRows = () => byId("help-body").querySelectorAll("dd");
  pageBy(byId("help-body"), byId("help-more"), helpRows, { whole: true, cut: helpRows });
  const on = (id, onclick) => byId(id).addEventListener("click", onclick);
  const open = (name) => {
    forgetDice();
    openOverlay(name);
  };
  on("button-bets", () => open("bets"));
  on("button-no-roll", () => open("no-roll"));
  on("button-correct", () => open("correct"));
  on("button-new-shooter", () => open("shooter"));
  on("button-open-table", () => open("table"));
  on("button-hardware", () => open("hardware"));
  on("button-help", () => open("help"));
  on("button-dice", () => {
    forgetDice();
    forgetChange();
    openDice("change");
  });
  on("closed-open", () => open("table"));
  on("closed-count", () => openDice("count"));
  for (const [key, id] of Object.entries(OPENERS)) {
    byId(id).title = TEXT.with_key(TEXT.openers[id], key.toUpperCase());
  }
  offerWays("no_shooter_bet", [
    ["new-shooter", TEXT.new_shooter, () => open("shooter")],
    ["bets", TEXT.bets, () => open("bets")],
  ]);
  on("do-not-correct", () => wantCorrecting(false));
  on("notice-text", hideNotice);
  on("unsent-again", () => deliver(unsent));
  on("unsent-discard", discardUnsent);
  document.addEventListener("keydown", onKey);
  // A long touch is a touch, not a menu.
  document.addEventListener("contextmenu", (event) => event.preventDefault());
}

/**
 * Takes in a new state. What was half entered belongs to the roll before it and goes when another roll came. A dialog
 * goes too: what there is to collect and to pay comes first, and is not hidden.
 */
function takeState(next) {
  const rolled = state !== null && JSON.stringify(state.last_roll) !== JSON.stringify(next.last_roll);
  const calledOff = Boolean(state?.correcting) && !next.correcting && !telling();
  if (rolled) forgetDice();
  setState(next);
  if (rolled || calledOff) endCorrection();
  if (!rolled || next.last_roll === null) return;
  if (overlay !== null) {
    closeOverlay();
    restKeys();
  }
  announceRoll();
}

whenChanged(drawPage);
build();
followState({ onState: takeState, onReach: setReachable });
