// One table on the pit's page: how it stands, its tile, and its dialog, in which people say that they have seen an alert.

import { element, send } from "/console/terminal.js";
import { FACT, STATE, STATE_LONG, TEXT, VALUE, time } from "./pit_words.js";
import { whole } from "/console/translation.js";

/** The states that need a look, the worst first. */
export const TROUBLE = ["refused", "fenced", "silent", "alert", "undelivered", "behind", "unknown", "never"];
const ALARM = new Set(["refused", "fenced", "silent"]);
const AWAY = new Set(["deaf", "listening", "closed_silent"]);

export const mood = (state) => {
  if (ALARM.has(state)) return "alarm";
  if (TROUBLE.includes(state)) return "mind";
  if (AWAY.has(state)) return "away";
  return state === "closed" ? "rest" : "good";
};

const isNoted = (alert) => alert.at_table !== null || alert.seen !== null;

/** The moment of the last sign of life and of the last event in words, null where there is none. */
function moments(view, heard, now) {
  return [heard, view.event_at === null ? undefined : Date.parse(view.event_at)].map((at) =>
    at === undefined ? null : time(at, now),
  );
}

const stateWord = (view, heard, now) => STATE[view.state](...moments(view, heard, now), view);

function puck(view) {
  if (!view.open) return null;
  const on = view.point !== null;
  return element("span", { class: "puck", "data-puck": on ? "on" : "off" }, on ? String(view.point) : "OFF");
}

function notedWord(alert, now) {
  if (alert.seen !== null) return TEXT.seen_by(alert.seen.name, time(alert.seen.at, now));
  return alert.at_table !== null ? TEXT.at_table(alert.at_table) : null;
}

export function makeTile(view, open) {
  const node = element("button", {
    class: "tile",
    type: "button",
    "data-testid": `table-${view.site}/${view.table}`,
    onclick: () => open(view.site, view.table),
  });
  node.append(
    element("header", {}, element("span", { class: "name" }, view.table), element("span", { class: "site" }, view.site)),
    element("span", { class: "word" }),
    element("div", { class: "facts" }),
    element("div", { class: "alerts" }),
  );
  return node;
}

export function drawTile(node, view, heard, now) {
  const [, word, facts, alerts] = node.children;
  node.dataset.state = view.state;
  node.dataset.mood = mood(view.state);
  node.toggleAttribute("data-live", view.live);
  word.textContent = stateWord(view, heard, now);
  const said = [
    view.open && view.shooter !== null ? TEXT.shooter(view.shooter) : null,
    view.rate !== null ? TEXT.rate(view.rate) : null,
    view.open && view.sets.length > 0 ? TEXT.sets(view.sets) : null,
  ].filter((text) => text !== null);
  facts.replaceChildren(...[puck(view), ...said.map((text) => element("span", {}, text))].filter(Boolean));
  // The first that nobody has taken note of speaks for all of them.
  const first = view.alerts.find((alert) => !isNoted(alert)) ?? view.alerts[0];
  const parts = [];
  if (view.refusal !== null) parts.push(element("p", { class: "alert-text" }, view.refusal.reason));
  if (first !== undefined) {
    parts.push(element("p", { class: "alert-text" }, first.text));
    if (isNoted(first)) parts.push(element("p", { class: "alert-seen" }, notedWord(first, now)));
    if (view.alerts.length > 1)
      parts.push(element("p", { class: "alert-seen" }, TEXT.more_alerts(view.alerts.length - 1)));
  }
  alerts.replaceChildren(...parts);
}

// The dialog

let shown = null; // [site, table] of the dialog that is open
let asking = null; // the alert whose question is open, as "alert raised"
let refusal = ""; // what the service said to the last answer
let drawn = "";

const key = (alert) => `${alert.alert} ${alert.raised}`;

export function openDetail(site, table) {
  shown = [site, table];
  asking = null;
  refusal = "";
  drawn = "";
}

export const shownTable = () => shown;

export function buildDetail(dialog) {
  dialog.addEventListener("close", () => {
    shown = null;
  });
  dialog.addEventListener("click", (event) => {
    // Beside it is the dialog itself; in it, something of it.
    if (event.target === dialog) dialog.close();
  });
}

/** Draws the open dialog anew where something has changed; a name that is being written stays. */
export function drawDetail(dialog, view, heard, now, names, dead) {
  dialog.toggleAttribute("data-old", !view.live || dead.length > 0);
  // The dialog's own switch begins with the dialog, and the page's may have gone off before.
  const lost = getComputedStyle(document.getElementById("lost")).visibility === "visible";
  const look = JSON.stringify([view, names, asking, refusal, dead, lost]);
  if (look !== drawn) {
    drawn = look;
    const field = dialog.querySelector("input");
    const [written, focused] = [field?.value ?? "", document.activeElement === field && field !== null];
    dialog.replaceChildren(...detail(dialog, view, heard, now, names, dead, lost));
    const fresh = dialog.querySelector("input");
    if (fresh !== null) fresh.value = written;
    if (focused) fresh?.focus();
    if (!dialog.open) dialog.showModal();
  }
  // These go on by themselves.
  dialog.querySelector("[data-testid=detail-heard]").textContent = heardWord(view, heard, now);
}

function heardWord(view, heard, now) {
  if (heard === undefined) return VALUE.not_heard;
  if (!view.live) return time(heard, now);
  return VALUE.heard(time(heard, now), Math.max(0, Math.round((now - heard) / 1000)));
}

function detail(dialog, view, heard, now, names, dead, lost) {
  const long = STATE_LONG[view.state]?.(view);
  const word = [stateWord(view, heard, now), long].filter(Boolean).join(". ");
  const game = view.open ? (view.point === null ? TEXT.come_out : TEXT.point(view.point)) : TEXT.closed;
  const unknown = VALUE.unknown;
  const event = view.event_at === null ? null : time(Date.parse(view.event_at), now);
  const facts = [
    ["game", game, "game"],
    ["shooter", view.shooter ?? unknown, "game"],
    ["roll", view.roll === null ? unknown : VALUE.roll(view.roll, view.roll_number), "game"],
    ["rate", view.rate !== null ? whole(view.rate) : view.open ? VALUE.rate_later : unknown, "game"],
    ["sets", view.sets.length > 0 ? view.sets.join(", ") : unknown, "game"],
    ["limits", view.minimum === null ? unknown : VALUE.limits(view.minimum, view.maximum), "game"],
    ["rules", view.rules ?? unknown, "game"],
    ["heard", "", "link"],
    ["event", event === null ? unknown : VALUE.event(view.seq, event), "link"],
    ["undelivered", view.undelivered === null ? unknown : whole(view.undelivered), "link"],
  ];
  return [
    ...dead.map((words) => element("p", { class: "bar" }, words)),
    element(
      "div",
      { class: "dialog-head" },
      element("h2", {}, `${view.table} · ${view.site}`),
      element("button", { type: "button", "data-testid": "detail-close", onclick: () => dialog.close() }, TEXT.close),
    ),
    element("p", { class: lost ? "bar lost now" : "bar lost" }, element("span", {}, TEXT.lost)),
    element("p", { class: "word", "data-mood": mood(view.state), "data-testid": "detail-word" }, word),
    element(
      "dl",
      {},
      ...facts.map(([name, value, of]) =>
        element("div", { "data-of": of }, element("dt", {}, FACT[name]), element("dd", { "data-testid": `detail-${name}` }, value)),
      ),
    ),
    ...view.alerts.map((alert) => alertRow(dialog, view, alert, now, names)),
  ];
}

function alertRow(dialog, view, alert, now, names) {
  const row = element(
    "div",
    { class: "alert", "data-mood": isNoted(alert) ? "seen" : "waits", "data-testid": `alert-${alert.alert}` },
    element("p", {}, alert.text),
  );
  const noted = [
    alert.seen === null ? null : TEXT.seen_by(alert.seen.name, time(alert.seen.at, now)),
    alert.at_table === null ? null : TEXT.at_table(alert.at_table),
  ].filter(Boolean);
  for (const words of noted.length > 0 ? noted : [TEXT.unseen]) row.append(element("small", {}, words));
  if (alert.seen !== null) return row;
  if (asking === key(alert)) row.append(question(view, alert, names));
  else {
    const ask = () => {
      asking = key(alert);
      refusal = "";
      redraw();
      dialog.querySelector("input")?.focus();
    };
    row.append(
      element("button", { type: "button", "data-testid": `see-${alert.alert}`, onclick: ask }, TEXT.see),
    );
  }
  return row;
}

function question(view, alert, names) {
  const record = async (name) => {
    const { site, table } = view;
    const said = name.trim().replace(/\s+/g, " ");
    const { outcome, body } = await send("/api/seen", { site, table, alert: alert.alert, raised: alert.raised, name: said });
    if (outcome === "done") asking = null;
    refusal = outcome === "done" ? "" : (body?.message ?? body?.halted ?? TEXT.unreachable);
    redraw();
  };
  const field = element("input", {
    type: "text",
    maxlength: 40,
    autocomplete: "off",
    spellcheck: "false",
    placeholder: TEXT.who,
    "aria-label": TEXT.who,
    "data-testid": "see-name",
  });
  const form = element("form", { class: "who" });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    record(field.value);
  });
  form.append(
    ...names.map((name) =>
      element("button", { type: "button", "data-testid": `see-as-${name}`, onclick: () => record(name) }, name),
    ),
    field,
    element("button", { class: "primary", type: "submit", "data-testid": "see-done" }, TEXT.done),
    element("small", { class: "refused" }, TEXT.sees),
  );
  if (refusal) form.append(element("p", { class: "refused", "data-testid": "see-refused" }, refusal));
  return form;
}

let redraw = () => {};

/** What draws the page again after a touch in the dialog. */
export function whenTouched(draw) {
  redraw = draw;
}
