// The dialog of the dice: its pages, and how what is done there is sent. Each page is a file of its own.

import { TEXT } from "./console_text.js";
import { act, button, byId, draw, notice, offerWays, refusal, render, state } from "./console_state.js";
import { addDialog, openOverlay } from "./dialogs.js";
import { element } from "./terminal.js";
import { nameUsed } from "./used_names.js";

const TABS = ["change", "sets", "count", "duty", "fair", "reports"];

const pages = {};
let shown = TABS[0];
let wanted = TABS[0]; // the page with which the dialog opens
let names = {}; // who did it and who saw it, where for one entry these are not the two on duty

/**
 * A page of the dialog, drawn into #dice-<name>. render() draws it; enter() comes before it is shown, leave() as the
 * dialog closes over it; confirm(), digit(0..9) and backspace() answer the keyboard. `tab` is the tab that is lit
 * meanwhile, the page's own name if left out.
 */
export function addDicePage(name, page) {
  pages[name] = page;
}

export function showDicePage(name) {
  shown = name;
  // In sight first: what is hidden takes no focus.
  for (const other of Object.keys(pages)) byId(`dice-${other}`).hidden = other !== name;
  pages[name].enter?.();
  render();
}

/** Opens the dialog, or turns it to another page. */
export function openDice(name) {
  wanted = name;
  openOverlay("dice");
}

/** Records one action on the dice; answers whether it was done. */
export async function record(action) {
  const [[name, parts]] = Object.entries(action);
  const { done_by: doneBy } = names;
  const signed = name === "on_duty" || !doneBy ? {} : name === "explain" ? { done_by: doneBy } : names;
  const done = await act("/api/dice", { action: { [name]: { ...signed, ...parts } } }, TEXT.dice.actions[name], {
    signed: parts.as === "supervisor" || parts.to === "written_off",
  });
  if (done) {
    const { boxman, witness } = name === "on_duty" ? parts : (signers() ?? {});
    nameUsed(parts.done_by ?? boxman, witness);
    names = {};
  } else if (refusal === "not_a_supervisor") {
    notice(TEXT.not_a_supervisor(parts.done_by ?? names.done_by), refusal);
  }
  return done;
}

/** Other names than those on duty, for the next entry only. */
export function signNextBy(boxman, witness) {
  names = { done_by: boxman, seen_by: witness };
}

/** Who signs what is done next: {boxman, witness}, or null while nobody is on duty. */
export function signers() {
  if (names.done_by) return { boxman: names.done_by, witness: names.seen_by };
  return state.dice.duty;
}

/** Draws a page's section anew when what it shows has changed. */
export function drawPart(name, shows, children) {
  draw(`dice-${name}`, shows, () => byId(`dice-${name}`).replaceChildren(...children().filter(Boolean)));
}

function renderDice() {
  draw("dice-tabs", [shown], () => {
    const tab = pages[shown].tab ?? shown;
    byId("dice-tabs").replaceChildren(
      ...TABS.map((name) =>
        button(`dice-tab-${name}`, TEXT.dice.tabs[name], () => showDicePage(name), { pressed: name === tab }),
      ),
    );
  });
  pages[shown].render();
}

export function buildDiceDialog() {
  for (const name of Object.keys(pages)) {
    if (byId(`dice-${name}`) === null)
      byId("dice-pages").append(
        element("section", { id: `dice-${name}`, "data-testid": `dice-${name}`, class: "dice-page" }),
      );
  }
  offerWays("needs_name", [["duty", TEXT.dice.who_is_on_duty, () => openDice("duty")]]);
  addDialog("dice", {
    begin: () => showDicePage(wanted),
    render: renderDice,
    end: () => pages[shown].leave?.(),
    confirm: () => pages[shown].confirm?.(),
    digit: (digit) => pages[shown].digit?.(digit),
    backspace: () => pages[shown].backspace?.(),
  });
}
