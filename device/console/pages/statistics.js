// The page of statistics: one reading of the journal, and whatever period of it is chosen.

import { coursePlot, countPlot, pacePlot, rowPlot } from "./statistics_plots.js";
import { TEXT } from "./statistics_text.js";
import { element, giveSignOfLife } from "./terminal.js";
import { decimal, inLanguage, LANGUAGE, LOCALE, whole } from "./translation.js";

const byId = (id) => document.getElementById(id);
const KINDS = ["all", "day", "session", "set"];
const HOUR_MS = 3600000;
// The watchdog waits for five seconds; nothing is drawn here by itself.
const LIFE_EVERY_MS = 1000;

let told = null; // what the terminal told
let kind = "all";
let chosen = null; // the period's name

const dateTime = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short" });
const hour = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

async function read() {
  byId("refresh").disabled = true;
  byId("failed").hidden = true;
  byId("waits").hidden = false;
  try {
    const answer = await fetch(inLanguage("/api/statistics"), { cache: "no-store" });
    const body = await answer.json();
    if (answer.ok) told = body;
    else fail(body.message);
  } catch {
    fail(TEXT.silent);
  }
  byId("refresh").disabled = false;
  byId("waits").hidden = true;
  render();
}

function fail(why) {
  byId("failed").textContent = why;
  byId("failed").hidden = false;
}

function periodWords({ kind: of, name }) {
  if (of === "session") return name === told.open_session ? TEXT.open_session(name) : TEXT.session(name);
  if (of === "day") return day.format(new Date(`${name}T12:00`));
  return of === "set" ? TEXT.set(name) : "";
}

function choice(testId, words, pressed, act) {
  const about = { type: "button", "data-testid": testId, "aria-pressed": String(pressed), onclick: act };
  return element("button", about, words);
}

function render() {
  if (told === null) return;
  byId("title").textContent = TEXT.title(told.table ?? "");
  byId("says").textContent = [
    TEXT.read_to(told.last_seq),
    told.pruned_seq ? TEXT.pruned(told.pruned_seq) : "",
    told.layout ? TEXT.on_layout(told.layout) : "",
  ]
    .filter(Boolean)
    .join(" ");
  const of = (name) => told.periods.filter((period) => period.kind === name);
  const offered = KINDS.filter((name) => of(name).length > 0);
  const shown = of(kind).find(({ name }) => name === chosen) ?? of(kind)[0];
  byId("kinds").replaceChildren(
    ...offered.map((name) =>
      choice(`kind-${name}`, TEXT.kinds[name], name === kind, () => {
        [kind, chosen] = [name, null];
        render();
      }),
    ),
  );
  byId("periods").hidden = kind === "all";
  byId("periods").replaceChildren(
    ...of(kind).map((period) =>
      choice(`period-${period.name}`, periodWords(period), period === shown, () => {
        chosen = period.name;
        render();
      }),
    ),
  );
  byId("figures").replaceChildren(...(shown.rolls === 0 ? [element("p", {}, TEXT.no_rolls)] : sections(shown)));
}

function sections(period) {
  return [summary(period), dice(period), line(period), pace(period), hold(period)];
}

function summary({ rolls, void_throws, decisions, began, ended }) {
  const span = TEXT.span(dateTime.format(new Date(began)), dateTime.format(new Date(ended)));
  const counted = [TEXT.rolls(rolls), TEXT.decisions(decisions), TEXT.void_throws(void_throws)];
  return element("p", { id: "summary", "data-testid": "summary" }, element("b", {}, counted.join(" · ")), ` ${span}`);
}

function section(title, ...parts) {
  return element("section", {}, element("h2", {}, title), ...parts);
}

function figure(title, plot, ...captions) {
  const says = captions.map((words) => element("span", {}, words));
  return element("figure", {}, element("figcaption", {}, element("b", {}, title), ...says), plot);
}

function dice({ rolls, faces, totals, faces_chance, totals_chance }) {
  const judged = (chance) => (chance === null ? TEXT.too_few : TEXT.chance(decimal(chance * 100, 1)));
  return section(
    TEXT.dice,
    element(
      "div",
      { class: "plots" },
      figure(TEXT.totals, countPlot("totals", TEXT.totals, totals), TEXT.sample_rolls(rolls), judged(totals_chance)),
      figure(TEXT.faces, countPlot("faces", TEXT.faces, faces), TEXT.sample_dice(2 * rolls), judged(faces_chance)),
    ),
    element("p", { class: "hint" }, TEXT.key),
  );
}

const head = (...words) => element("tr", {}, ...words.map((said) => element("th", {}, said)));
const cells = (...texts) => texts.map((text) => element("td", {}, text));
const strayed = (errors) => element("td", {}, rowPlot(errors), ` ${signed(errors, 1)}`);
const signed = (number, places) => `${number < 0 ? "−" : "+"}${decimal(Math.abs(number), places)}`;

function line({ line: counts }) {
  const row = ({ what, seen, of, expected, error }) => {
    const errors = error > 0 ? (seen - expected) / error : 0;
    const about = { "data-testid": `line-${what}`, "data-seen": seen, "data-errors": errors.toFixed(2) };
    return element(
      "tr",
      about,
      element("th", {}, TEXT.line_rows[what]),
      ...cells(whole(seen), whole(of), decimal(expected, 1), decimal(error, 1)),
      strayed(errors),
    );
  };
  return section(
    TEXT.line,
    element("table", {}, head("", TEXT.seen, TEXT.of, TEXT.expected, TEXT.error, TEXT.strayed), ...counts.map(row)),
  );
}

function hours(ms) {
  const minutes = Math.round(ms / 60000);
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}`;
}

function pace({ pace: whole_pace, paces, began, ended }) {
  if (whole_pace === null) return section(TEXT.pace, element("p", {}, TEXT.pace_none));
  const { an_hour, error, gaps, played_ms } = whole_pace;
  const rate = decimal(an_hour, 1);
  const says = error === null ? TEXT.pace_says_alone(rate) : TEXT.pace_says(rate, decimal(error, 1));
  // Of more than a day, the days are of interest.
  const form = new Date(ended) - new Date(began) > 24 * HOUR_MS ? day : hour;
  const plot = pacePlot("pace", TEXT.pace, paces, (at) => form.format(new Date(at)));
  return section(TEXT.pace, figure(says, plot, TEXT.pace_sample(gaps, hours(played_ms)), TEXT.pace_key));
}

function betRow(bet, name, testId) {
  const errors = bet.error ? bet.difference / bet.error : null;
  const about = {
    "data-testid": testId,
    "data-won": bet.won,
    "data-errors": errors === null ? "" : errors.toFixed(2),
  };
  return element(
    "tr",
    about,
    element("th", {}, name),
    ...cells(
      whole(bet.decided),
      whole(bet.staked),
      whole(bet.won),
      bet.hold === null ? "–" : TEXT.per_cent(bet.hold),
      bet.expected_hold === null ? "–" : TEXT.per_cent(bet.expected_hold),
      decimal(bet.expected, 1),
      decimal(bet.rounding, 1),
      bet.error === null ? "–" : decimal(bet.error, 1),
    ),
    errors === null ? element("td", {}, "–") : strayed(errors),
  );
}

function hold({ bets, whole: all, adjusted, course }) {
  if (bets.length === 0) return section(TEXT.hold, element("p", {}, TEXT.no_bets));
  const columns = [
    TEXT.bet,
    TEXT.bets,
    TEXT.staked,
    TEXT.won,
    TEXT.hold_share,
    TEXT.edge,
    TEXT.expected,
    TEXT.rounding,
    TEXT.error,
    TEXT.strayed,
  ];
  return section(
    TEXT.hold,
    element("p", { class: "hint" }, TEXT.hold_says),
    element(
      "div",
      { class: "wide" },
      element(
        "table",
        { class: "bets" },
        head(...columns),
        ...bets.map((bet) => betRow(bet, bet.name, `bet-${bet.kind}`)),
        betRow(all, element("b", {}, TEXT.all_bets), "bet-whole"),
      ),
    ),
    adjusted ? element("p", { class: "hint", "data-testid": "adjusted" }, TEXT.adjusted(adjusted)) : null,
    bets.some(({ error }) => error === null) ? element("p", { class: "hint" }, TEXT.without_error) : null,
    figure(
      TEXT.course,
      coursePlot("course", TEXT.course, course),
      TEXT.course_sample(all.decided, all.staked),
      TEXT.course_key,
    ),
  );
}

document.documentElement.lang = LANGUAGE;
document.title = TEXT.title_alone;
byId("title").textContent = TEXT.title_alone;
byId("back").textContent = TEXT.back;
byId("refresh").textContent = TEXT.refresh;
byId("waits").textContent = TEXT.reading;
byId("refresh").addEventListener("click", read);
setInterval(giveSignOfLife, LIFE_EVERY_MS);
read();
