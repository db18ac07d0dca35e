// Opening the table: the rule set, what it leaves to the house, the chip unit and the limits; and closing it.

import { TEXT } from "./console_text.js";
import {
  act,
  betName,
  button,
  byId,
  draw,
  money,
  plain,
  render,
  rules,
  rulesRead,
  setAvailable,
  state,
} from "./console_state.js";
import { addDialog, closeAfter } from "./dialogs.js";
import { countAndClose, isCountMissing } from "./dice_count.js";
import { AMOUNT_DIGITS_MAX, digitPad } from "./digit_pad.js";
import { pageBy } from "./scrolling.js";
import { onSecondTouch } from "./second_touch.js";
import { element } from "./terminal.js";

let tableDraft = null;

const FIELDS = ["unit", "min", "max"];
const IN_THE_WAY_SHOWN = 4; // bets that are named; of the others, how many

function beginTable() {
  const { table } = state;
  tableDraft = {
    rules: table.rules,
    options: { ...table.options },
    unit: table.unit,
    min: table.limits.min,
    max: table.limits.max,
    field: "min",
    untouched: true,
  };
}

function changeTable(part) {
  tableDraft = { ...tableDraft, ...part };
  render();
}

/** A digit for the chosen field; the first replaces what stands there. null clears. */
function keyTable(digit) {
  const { field, untouched } = tableDraft;
  const next = digit === null ? 0 : (untouched ? 0 : tableDraft[field] * 10) + digit;
  if (String(next).length <= AMOUNT_DIGITS_MAX) changeTable({ [field]: next, untouched: false });
}

export function optionWords(value) {
  if (value === true) return TEXT.yes;
  if (value === false) return TEXT.no;
  return Array.isArray(value) ? TEXT.ratio(value) : (TEXT.option_values[value] ?? plain(value));
}

/** What an option is about, in the words of its buttons. */
const aboutWords = (about) => about.replaceAll("(true)", `(${TEXT.yes})`).replaceAll("(false)", `(${TEXT.no})`);

/** In the same order for every question, whatever the rule set puts first. */
const yesFirst = (values) => [...values].sort((one, other) => (other === true) - (one === true));

/** The bets that keep the table from being opened anew, also those that are off. */
function inTheWay() {
  const named = state.bets
    .slice(0, IN_THE_WAY_SHOWN)
    .map((bet) => TEXT.bet_in_the_way(bet.player, betName(bet), money(bet.amount), bet.works));
  return TEXT.in_the_way(named.join(", "), state.bets.length - named.length);
}

const optionValue = (options, name, option) => (name in options ? options[name] : option.default);
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function renderTable() {
  const set = rules?.sets.find((candidate) => candidate.name === tableDraft.rules);
  byId("confirm-close-table").hidden = !state.open;
  byId("table-title").textContent = state.open ? TEXT.table_title_open : TEXT.table_title;
  draw("table", [tableDraft, rulesRead, state.bets], () => {
    byId("rule-sets").replaceChildren(
      ...(rules?.sets ?? []).map((candidate) =>
        button(
          `rules-${candidate.name}`,
          element("span", {}, element("b", {}, candidate.name), element("small", {}, candidate.title)),
          () => changeTable({ rules: candidate.name, options: {} }),
          { pressed: candidate.name === tableDraft.rules },
        ),
      ),
    );
    const options = Object.entries(set?.options ?? {});
    byId("rule-options").replaceChildren(
      ...(state.bets.length ? [element("p", { class: "warning", "data-testid": "in-the-way" }, inTheWay())] : []),
      ...(set?.warnings ?? []).map((text) => element("p", { class: "warning" }, text)),
      ...options.map(([name, option]) =>
        element(
          "div",
          { class: "option" },
          element("p", {}, aboutWords(option.about)),
          element(
            "div",
            { class: "values" },
            ...yesFirst(option.values).map((value) =>
              button(
                `option-${name}-${JSON.stringify(value)}`,
                optionWords(value),
                () => changeTable({ options: { ...tableDraft.options, [name]: value } }),
                { pressed: same(value, optionValue(tableDraft.options, name, option)) },
              ),
            ),
          ),
        ),
      ),
      ...(options.length ? [] : [element("p", {}, TEXT.no_options)]),
    );
    byId("table-fields").replaceChildren(
      ...FIELDS.map((field) =>
        button(
          `field-${field}`,
          element("span", {}, element("small", {}, TEXT[field]), element("b", {}, money(tableDraft[field]))),
          () => changeTable({ field, untouched: true }),
          { pressed: field === tableDraft.field },
        ),
      ),
    );
    setAvailable(
      byId("confirm-open"),
      set !== undefined && tableDraft.unit > 0 && tableDraft.min > 0 && tableDraft.max >= tableDraft.min,
    );
  });
}

function openTable() {
  const set = rules.sets.find((candidate) => candidate.name === tableDraft.rules);
  const options = Object.fromEntries(
    Object.entries(set.options).map(([name, option]) => [name, optionValue(tableDraft.options, name, option)]),
  );
  const { unit, min, max } = tableDraft;
  return act("/api/open", { rules: set.name, options, unit, limits: { min, max } }, TEXT.actions.open());
}

/** The dice are counted first, as long as they are there; while bets lie on the layout the table stays open anyway. */
function countFirst(event) {
  if (state.bets.length > 0 || !isCountMissing()) return;
  event.stopImmediatePropagation();
  countAndClose();
}

export function buildTableOpening() {
  byId("confirm-close-table").addEventListener("click", countFirst);
  onSecondTouch(byId("confirm-close-table"), {
    subject: () => state.session_number,
    words: () => TEXT.close_table,
    ask: () => TEXT.close_table_again,
    act: () => closeAfter(act("/api/close", {}, TEXT.actions.close_table())),
  });
  digitPad(byId("table-digits"), "table-", keyTable);
  pageBy(byId("rule-sets"), byId("sets-more"));
  pageBy(byId("rule-options"), byId("options-more"));
  byId("confirm-open").addEventListener("click", () => closeAfter(openTable()));
  addDialog("table", {
    begin: beginTable,
    render: renderTable,
    confirm: () => byId("confirm-open").click(),
    digit: keyTable,
    backspace: () =>
      changeTable({ [tableDraft.field]: Math.floor(tableDraft[tableDraft.field] / 10), untouched: false }),
  });
}
