// The supervisor's pages of the table itself: open and closed, limits, alerts.

import { act, betEntry, button, byId, clockTime, draw, money, named, sentence, setAvailable, state } from "./console_state.js";
import { digitPad } from "./digit_pad.js";
import { onSecondTouch } from "./second_touch.js";
import { person } from "./supervisor_pin.js";
import { TEXT } from "./supervisor_text.js";
import { element } from "./terminal.js";

const DIGITS_MAX = 9;
let draft = null; // {min, max, field, untouched} while limits are being entered
let redraw = () => {};

const isSupervisor = () => person?.role === "supervisor";

function startDraft() {
  const { min, max } = state.table.limits;
  draft = { min, max, field: "min", untouched: true };
}

function keyLimit(digit) {
  if (draft === null) startDraft();
  const { field, untouched } = draft;
  const next = digit === null ? 0 : (untouched ? 0 : draft[field] * 10) + Number(digit);
  if (String(next).length <= DIGITS_MAX) draft = { ...draft, [field]: next, untouched: false };
  redraw();
}

async function setLimits() {
  const limits = { min: draft.min, max: draft.max };
  if (await act("/api/limits", { limits }, TEXT.actions.limits, { signed: true })) draft = null;
  redraw();
}

async function openTable() {
  const { rules, options, unit } = state.table;
  const { min, max } = draft ?? state.table.limits;
  const terms = { rules, options, unit, limits: { min, max } };
  if (await act("/api/open", terms, TEXT.actions.open, { signed: true })) draft = null;
  redraw();
}

export function renderTable() {
  const { table, open, session_number: session, point, shooter, roll_number: roll, house } = state;
  if (draft === null) startDraft();
  draw("supervisor-table", [table, open, session, point, shooter, roll, house, draft, person], () => {
    byId("table-says").textContent = open ? TEXT.open : TEXT.closed;
    byId("table-says").dataset.open = String(open);
    const facts = [
      [TEXT.rules, table.title],
      ["", TEXT.session(session)],
      [TEXT.limits, `${money(table.limits.min)} – ${money(table.limits.max)}`],
      [TEXT.roll, roll],
      [TEXT.point, point ?? TEXT.come_out],
      [TEXT.shooter, shooter ?? "–"],
      [TEXT.house, TEXT.signed(house)],
    ];
    byId("table-facts").replaceChildren(
      ...facts.flatMap(([term, said]) => [element("dt", {}, term), element("dd", {}, String(said))]),
    );
    byId("limit-fields").replaceChildren(
      ...[
        ["min", TEXT.minimum],
        ["max", TEXT.maximum],
      ].map(([field, words]) =>
        button(
          `limit-${field}`,
          element("span", {}, element("small", {}, words), element("b", {}, money(draft[field]))),
          () => {
            draft = { ...draft, field, untouched: true };
            redraw();
          },
          { pressed: field === draft.field },
        ),
      ),
    );
    byId("table-note").textContent = open ? TEXT.limits_note : TEXT.open_note;
  });
  const { min, max } = state.table.limits;
  const sound = draft.min > 0 && draft.max >= draft.min;
  byId("set-limits").hidden = !open;
  byId("supervisor-close").hidden = !open;
  byId("supervisor-open").hidden = open;
  setAvailable(byId("set-limits"), isSupervisor() && sound && (draft.min !== min || draft.max !== max));
  setAvailable(byId("supervisor-close"), isSupervisor());
  setAvailable(byId("supervisor-open"), isSupervisor() && sound);
}

export function renderAlerts() {
  const told = state.alerts.filter(({ code }) => code !== "notice");
  draw("supervisor-alerts", [told, person, betEntry("pass_line")], () => {
    const row = (alert) =>
      element(
        "li",
        { "data-code": alert.code },
        element(
          "div",
          {},
          element("strong", {}, sentence(named(alert.text))),
          element(
            "small",
            {},
            alert.acknowledged_by ? TEXT.acknowledged(alert.acknowledged_by) : alert.since ? TEXT.since(clockTime(alert.since)) : "",
          ),
        ),
        alert.can_acknowledge && !alert.acknowledged_by
          ? button(
              `acknowledge-${alert.id}`,
              TEXT.acknowledge,
              () =>
                act(
                  "/api/acknowledge",
                  { alert: alert.id, raised: alert.raised, name: person.name },
                  TEXT.actions.acknowledge,
                  { signed: true },
                ),
              { entry: true },
            )
          : null,
      );
    byId("alert-rows").replaceChildren(...(told.length ? told.map(row) : [element("li", { class: "calm" }, TEXT.no_alerts)]));
  });
}

export function buildTable(render) {
  redraw = render;
  digitPad(byId("limit-digits"), "limit-", keyLimit);
  byId("set-limits").addEventListener("click", setLimits);
  byId("supervisor-open").addEventListener("click", openTable);
  byId("set-limits").textContent = TEXT.set_limits;
  byId("supervisor-open").textContent = TEXT.open_table;
  onSecondTouch(byId("supervisor-close"), {
    subject: () => state.session_number,
    words: () => TEXT.close_table,
    ask: () => TEXT.close_again,
    act: () => act("/api/close", {}, TEXT.actions.close, { signed: true }),
  });
}

/** Digits of a keyboard go to the limit that is chosen. */
export function keyInTable(event) {
  if (/^[0-9]$/.test(event.key)) keyLimit(event.key);
  else if (event.key === "Backspace") {
    draft = { ...draft, [draft.field]: Math.floor(draft[draft.field] / 10), untouched: false };
    redraw();
  } else return false;
  return true;
}
