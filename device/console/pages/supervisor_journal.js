// Looking into the journal: events that match a filter, sessions and their export, hands of the dice, a roll settled
// again. Each question is answered beside the table, a page at a time.

import { button, byId, draw, notice, plain, state } from "./console_state.js";
import { pageHeaders } from "./sign_in.js";
import { ask } from "./supervisor_ask.js";
import { TEXT } from "./supervisor_text.js";
import { element } from "./terminal.js";
import { inLanguage, LOCALE } from "./translation.js";

const ANSWER_MS = 150000;
const HOURS = { hour: 1, shift: 8, day: 24 };
const ROLLS = ["roll", "correct", "roll_corrected"];

const time = new Intl.DateTimeFormat(LOCALE, { dateStyle: "short", timeStyle: "medium", hourCycle: "h23" });
const kindWords = (type) => TEXT.kinds[type] ?? plain(type);
const when = (wall) => (wall ? time.format(new Date(wall)) : "");

let filter = {};
let found = null; // the pages of a search so far
let sessions = null;
let hands = null;
let settled = null; // a roll settled again
let reading = 0;
let redraw = () => {};

/** What was read belongs to whoever read it. */
export function forgetJournal() {
  filter = {};
  found = sessions = hands = settled = null;
}

/** The answer to a question, or null after a notice that says why there is none. */
async function answerTo(path) {
  reading += 1;
  redraw();
  try {
    const answer = await fetch(inLanguage(path), {
      headers: pageHeaders(),
      cache: "no-store",
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (answer.ok) return answer;
    const body = await answer.json();
    notice(body.message, body.refused ?? body.field);
  } catch {
    notice(TEXT.unreachable, "unreachable");
  } finally {
    reading -= 1;
  }
  return null;
}

async function told(path) {
  const answer = await answerTo(path);
  const body = answer === null ? null : await answer.json();
  redraw();
  return body;
}

async function search(before = null) {
  const asked = new URLSearchParams(Object.entries(filter).filter(([name]) => name !== "hours"));
  if (filter.hours) asked.set("since", new Date(Date.now() - HOURS[filter.hours] * 3600000).toISOString().slice(0, 19));
  if (before !== null) asked.set("before", before);
  const page = await told(`/api/journal/search?${asked}`);
  if (page === null) return;
  const former = before === null ? null : found;
  found = {
    events: [...(former?.events ?? []), ...page.events].slice(-200),
    looked_at: (former?.looked_at ?? 0) + page.looked_at,
    before: page.before,
  };
  redraw();
}

function setFilter(part) {
  filter = Object.fromEntries(Object.entries({ ...filter, ...part }).filter(([, value]) => value));
  redraw();
}

function choiceOf(name, values, words) {
  const about = { "data-testid": `filter-${name}`, "aria-label": TEXT.filter[name === "hours" ? "time" : name] };
  const chosen = filter[name] ?? "";
  const node = element(
    "select",
    about,
    element("option", { value: "" }, TEXT.any),
    ...values.map((value) => element("option", { value, selected: value === chosen }, words(value))),
  );
  node.addEventListener("change", () => setFilter({ [name]: node.value }));
  return element("label", {}, element("small", {}, about["aria-label"]), node);
}

function textOf(name, kind) {
  return button(
    `filter-${name}`,
    element("span", {}, element("small", {}, TEXT.filter[name]), element("b", {}, filter[name] ?? "–")),
    () => ask({ title: TEXT.filter[name], kind, value: filter[name] ?? "" }, (value) => setFilter({ [name]: value })),
    { className: "named" },
  );
}

export function renderJournal() {
  draw("journal", [filter, found, settled, reading], () => {
    byId("filters").replaceChildren(
      choiceOf("type", Object.keys(TEXT.kinds), kindWords),
      choiceOf("hours", Object.keys(HOURS), (value) => TEXT.times[value]),
      textOf("roll", "number"),
      textOf("player", "names"),
      textOf("name", "names"),
      button("search", TEXT.search, () => search(), { className: "primary" }),
    );
    byId("journal-events").replaceChildren(...(settled ? settledRows() : found ? foundRows() : []), ...waits());
  });
}

const waits = () => (reading > 0 ? [element("p", { class: "note", "data-testid": "reading" }, TEXT.reading)] : []);

function foundRows() {
  const more = found.before === null ? element("p", { class: "note" }, TEXT.no_more) : button("further", TEXT.look_further, () => search(found.before));
  return [
    element("p", { class: "note", "data-testid": "found" }, TEXT.found(found.events.length, found.looked_at)),
    element("ol", { class: "events" }, ...found.events.map(eventRow)),
    more,
  ];
}

function eventRow({ seq, wall, clock, type, data, bytes }) {
  return element(
    "li",
    { "data-seq": seq, "data-type": type },
    element("small", { "data-clock": clock }, `${seq} · ${when(wall)}`),
    element("b", {}, kindWords(type)),
    element("span", { class: "named" }, data === null ? TEXT.too_long(bytes) : summary(data)),
    ROLLS.includes(type) ? button(`settle-${seq}`, TEXT.settle_again, () => settleAgain(seq)) : null,
  );
}

/** What an event says, on a line: the values that are no lists of lists. */
function summary(data) {
  const said = (value) =>
    Array.isArray(value)
      ? value.map(said).join(", ")
      : value !== null && typeof value === "object"
        ? Object.entries(value).map(([name, inner]) => `${plain(name)} ${said(inner)}`).join(" ")
        : String(value);
  const left = Object.entries(data).filter(([name]) => !["command", "asked", "rule_set", "hash"].includes(name));
  const text = left.map(([name, value]) => `${plain(name)}: ${said(value)}`).join(" · ");
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}

async function settleAgain(seq) {
  settled = await told(`/api/journal/settle_again?seq=${seq}`);
  redraw();
}

function settledRows() {
  const { seq, wall, step, equal, journaled, settled: again } = settled;
  const column = (words, said) => element("div", {}, element("h3", {}, words), element("pre", {}, JSON.stringify(said, null, 1)));
  return [
    element("header", {}, button("settled-close", TEXT.back, () => { settled = null; redraw(); }), element("h2", {}, `${seq} · ${when(wall)} · ${summary(step)}`)),
    element("p", { class: equal ? "equal" : "differs", "data-testid": "settled", "data-equal": String(equal) }, equal ? TEXT.settled_equal : TEXT.settled_differs),
    element("div", { class: "two" }, column(TEXT.journaled, journaled), column(TEXT.settled_now, again)),
  ];
}

export async function readSessions(further = false) {
  const from = further ? `?before=${sessions.before}&number=${sessions.number}` : "";
  const page = await told(`/api/journal/sessions${from}`);
  if (page === null) return;
  sessions = { ...page, sessions: [...(further ? sessions.sessions : []), ...page.sessions].slice(-400) };
  redraw();
}

export function renderSessions() {
  draw("sessions", [sessions, reading], () => {
    const rows = (sessions?.sessions ?? []).map(sessionRow);
    const none = sessions && !rows.length ? [element("p", { class: "note" }, TEXT.no_sessions)] : [];
    const more = sessions?.before ? [button("older-sessions", TEXT.older, () => readSessions(true))] : [];
    byId("session-rows").replaceChildren(element("ol", { class: "events" }, ...rows), ...none, ...more, ...waits());
  });
}

function sessionRow({ number, opened_seq: seq, opened, closed, rolls, rules, limits, person }) {
  const about = `${rules} · ${limits.min}–${limits.max} · ${TEXT.rolls} ${rolls}${person ? ` · ${TEXT.opened_by(person)}` : ""}`;
  return element(
    "li",
    { "data-session": number, "data-opened": seq },
    element("b", {}, TEXT.session(number)),
    element("span", {}, `${when(opened)} – ${closed ? when(closed) : TEXT.still_open}`, element("small", {}, about)),
    button(`export-events-${number}`, TEXT.export_events, () => save(seq, "events")),
    button(`export-scenario-${number}`, TEXT.export_scenario, () => save(seq, "scenario")),
  );
}

/** Saves a session as a file, where the browser puts files. */
async function save(seq, form) {
  const answer = await answerTo(`/api/journal/export?opened=${seq}&form=${form}`);
  redraw();
  if (answer === null) return;
  const [, name] = /filename="(.+)"/.exec(answer.headers.get("Content-Disposition"));
  const href = URL.createObjectURL(await answer.blob());
  element("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}

export async function readHands() {
  const newest = await told("/api/journal/sessions");
  const opened = newest?.sessions[0]?.opened_seq;
  hands = opened ? await told(`/api/journal/shooters?opened=${opened}`) : null;
  redraw();
}

export function renderHands() {
  draw("hands", [hands, reading, state.shooter], () => {
    const rows = hands?.hands ?? [];
    const head = [TEXT.shooter, TEXT.from, TEXT.rolls, TEXT.points_made, TEXT.ended];
    const row = ({ shooter, begins, from_roll: first, rolls, points, ended_by: ended }, index) =>
      element(
        "tr",
        { "data-shooter": shooter ?? "" },
        element("td", {}, element("span", { class: "player" }, shooter ?? TEXT.nobody_named)),
        element("td", {}, `#${first} · ${when(begins)}`),
        element("td", {}, String(rolls)),
        element("td", {}, String(points)),
        element("td", {}, ended ? TEXT.ended_by[ended] : index === 0 ? TEXT.still : TEXT.passed),
      );
    byId("hand-rows").replaceChildren(
      ...(rows.length
        ? [element("table", { "data-testid": "hands" }, element("tr", {}, ...head.map((word) => element("th", {}, word))), ...rows.map(row))]
        : hands
          ? [element("p", { class: "note" }, TEXT.no_hands)]
          : []),
      ...waits(),
    );
  });
}

export function buildJournal(render) {
  redraw = render;
}

/** Enter searches. */
export function keyInJournal(event) {
  if (event.key !== "Enter" || event.target.matches("button, select")) return false;
  search();
  return true;
}
