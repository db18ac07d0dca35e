// The log of the dice, where they are, and the reports of days: pages of the terminal, each in a window of its own.

import { TEXT } from "./console_text.js";
import { button, render } from "./console_state.js";
import { addDicePage, drawPart } from "./dice_dialog.js";
import { element } from "./terminal.js";
import { LANGUAGES, LOCALE } from "./translation.js";

// The gaming day that is on and those before it, whose reports are offered.
const DAYS = 7;
// The hour of local time at which a gaming day begins, as the reports have it (day_report.py); it ends after midnight.
const DAY_BEGINS_HOUR = 6;

let language = null; // null: as the table's rules have it

/** The gaming day so many days back, as 2026-11-29. */
function dayBack(back) {
  const now = new Date();
  const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - back - (now.getHours() < DAY_BEGINS_HOUR));
  const parts = [day.getFullYear(), day.getMonth() + 1, day.getDate()];
  const weekday = day.toLocaleDateString(LOCALE, { weekday: "long" });
  return { name: parts.map((part) => String(part).padStart(2, "0")).join("-"), weekday };
}

function link(name, path, asked, ...words) {
  const query = new URLSearchParams({ ...asked, ...(language === null ? {} : { language }) }).toString();
  const href = query ? `${path}?${query}` : path;
  const about = { href, target: "_blank", rel: "noopener", class: "page-link", "data-testid": `page-${name}` };
  return element("a", about, ...words);
}

function dayLink(back, { name, weekday }) {
  const words = element("b", {}, TEXT.dice.day_name(back, weekday));
  return link(`report-${name}`, "/dice/report", { day: name }, words, element("small", {}, name));
}

function choose(name) {
  language = name;
  render();
}

function renderReports() {
  const days = Array.from({ length: DAYS }, (_, back) => dayBack(back));
  drawPart("reports", [language, days], () => [
    element("h2", {}, TEXT.dice.report_language),
    element(
      "div",
      { class: "fields" },
      ...[[null, TEXT.dice.rules_language], ...Object.entries(LANGUAGES)].map(([name, words]) =>
        button(`language-${name ?? "rules"}`, words, () => choose(name), { pressed: name === language }),
      ),
    ),
    element("h2", {}, TEXT.dice.records),
    element(
      "div",
      { class: "page-links" },
      link("log", "/dice/log", {}, element("b", {}, TEXT.dice.log_page)),
      link("status", "/dice/status", {}, element("b", {}, TEXT.dice.status_page)),
    ),
    element("h2", {}, TEXT.dice.day_reports),
    element("div", { class: "page-links" }, ...days.map((day, back) => dayLink(back, day))),
    element("div", { class: "room" }),
    element("p", { class: "hint" }, TEXT.dice.reports_say),
  ]);
}

export function buildReports() {
  addDicePage("reports", { render: renderReports });
}
