// The words of the pit's page.

import { LOCALE, t, tc, tn, whole } from "/console/translation.js";

const WAYS = {
  time: { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" },
  day: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  late: { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
};
const FORMATS = Object.fromEntries(
  Object.entries(WAYS).map(([name, way]) => [name, new Intl.DateTimeFormat(LOCALE, way)]),
);

/** A moment of the centre's clock (ms): the time, with the day where that is not today's, and the year where it is old. */
export function time(at, now) {
  const [then, today] = [new Date(at), new Date(now)];
  if (then.toDateString() === today.toDateString()) return FORMATS.time.format(then);
  return (then.getFullYear() === today.getFullYear() ? FORMATS.day : FORMATS.late).format(then);
}

export const clock = (now) => FORMATS.time.format(new Date(now));

export const TEXT = {
  title: t("Pit"),
  lost: t("This page hears nothing from its service. What stands here is old."),
  trouble: t("Needs a look"),
  filter: t("Site or table"),
  language: t("Language"),
  close: t("Close"),
  none: t("No table is shown. Touch All, or clear the name."),
  nothing: t("No table is known yet."),
  all: t("All"),
  in_trouble: t("Trouble"),
  all_open: tc("tables", "Open"),
  all_closed: tc("tables", "Closed"),
  open: tc("table", "Open"),
  closed: t("Closed"),
  come_out: t("Come-out"),
  point: (point) => t("Point {point}", { point }),
  shooter: (shooter) => t("Shooter {shooter}", { shooter }),
  rate: (rate) => t("{rate} rolls/h", { rate: whole(rate) }),
  sets: (sets) => t("Dice {sets}", { sets: sets.join(", ") }),
  more_alerts: (count) => tn("and 1 more alert", "and {count} more alerts", count),
  tables: (count) => tn("1 table", "{count} tables", count),
  open_of: (open, all) => t("{open} of {all} open", { open: whole(open), all: whole(all) }),
  seen_by: (name, at) => t("Seen at the pit by {name}, {at}; still standing at the table", { name, at }),
  at_table: (name) => t("Acknowledged at the table by {name}; still standing there", { name }),
  unseen: t("Nobody has taken note of it yet"),
  see: t("I have seen it"),
  who: t("Your name"),
  done: t("Record it"),
  sees: t("This records at the pit who has seen the alert. At the table it stands on."),
  unreachable: t("No answer from the service. It may not be recorded; try again."),
  loading: t("Nothing heard yet."),
};

/** How a table stands, in a few words. `heard` and `event` are moments in words, or null. */
export const STATE = {
  refused: () => t("History refused"),
  fenced: () => t("Two units under one name"),
  silent: (heard, event) =>
    heard !== null
      ? t("Silent since {time}", { time: heard })
      : event !== null
        ? t("Silent; last event {time}", { time: event })
        : t("Silent"),
  alert: (heard, event, view) =>
    view.live
      ? tn("{state}, 1 alert", "{state}, {count} alerts", view.alerts.length, { state: openOrClosed(view) })
      : STATE.closed_silent(heard, event),
  undelivered: (heard, event, view) => tn("1 event undelivered", "{count} events undelivered", view.undelivered ?? 0),
  behind: (heard, event, view) => tn("1 event not shown yet", "{count} events not shown yet", view.behind ?? 0),
  unknown: (heard, event) =>
    event === null ? t("No sign of life") : t("No sign of life; last event {time}", { time: event }),
  never: () => t("Never heard"),
  deaf: () => t("Cannot be heard now"),
  listening: () => t("Listening for it"),
  seen: (heard, event, view) =>
    tn("{state}, 1 alert seen", "{state}, {count} alerts seen", view.alerts.length, { state: openOrClosed(view) }),
  open: () => tc("table", "Open"),
  closed: () => t("Closed"),
  closed_silent: (heard, event) =>
    heard !== null
      ? t("Closed, last heard {time}", { time: heard })
      : event !== null
        ? t("Closed, last event {time}", { time: event })
        : t("Closed, not heard"),
};
const openOrClosed = (view) => (view.open ? TEXT.open : TEXT.closed);

/** The same in a sentence, for the page of one table; a state without one needs none. */
export const STATE_LONG = {
  refused: (view) =>
    t("The archive takes nothing further of this table: {reason}. What is shown ends at event {seq}.", {
      reason: view.refusal.reason,
      seq: whole(view.seq),
    }),
  fenced: () =>
    t("A unit says that the central log holds another history under this table's name, so it delivers nothing."),
  silent: () => t("It was open when it was last heard. What it does now is not known."),
  undelivered: () => t("The table is heard, but the central log has taken nothing more of it for a while."),
  behind: () => t("The central log has more of this table than is shown here."),
  unknown: () => t("This table tells no signs of life, so it is known by its events only."),
  never: () => t("It is in the list of tables, and was never heard."),
  deaf: () => t("The central log is away, so no table can be heard."),
  listening: () => t("This service has just begun to listen; half a minute tells."),
  closed_silent: () => t("It was closed when it was last heard. Whether it is switched off is not known."),
};

export const WARNING = {
  log_away: ({ text, since }) =>
    t("The central log is away since {since}: {text}. No table can be heard; what stands here is old.", { text, since }),
  database_away: ({ text, since }) =>
    t("The archive's database is away since {since}: {text}. What stands here is old.", { text, since }),
  database_silent: ({ since }) =>
    t("The archive's database has not answered since {since}. What stands here is old.", { since }),
  archive_stands: ({ since, count }) =>
    tn(
      "The archive has stood still since {since}, 1 message behind the tables. What stands here is old.",
      "The archive has stood still since {since}, {count} messages behind the tables. What stands here is old.",
      count,
      { since },
    ),
  archive_behind: ({ count }) =>
    tn(
      "The archive is catching up, 1 message behind the tables. What stands here lags.",
      "The archive is catching up, {count} messages behind the tables. What stands here lags.",
      count,
    ),
  reading: ({ count }) =>
    tn(
      "The page is still reading: of 1 table it does not show the latest yet, or nothing.",
      "The page is still reading: of {count} tables it does not show the latest yet, or nothing.",
      count,
    ),
  presence_refused: () =>
    t(
      "The central servers let no signs of life through to this page. Have their configuration written anew with boxman central config.",
    ),
  odd_message: ({ subject, count, text }) =>
    tn("{subject}: 1 message is no sign of life: {text}", "{subject}: {count} messages are no signs of life: {text}", count, {
      subject,
      text,
    }),
};

export const FACT = {
  game: t("Game"),
  shooter: t("Shooter"),
  roll: t("Last roll"),
  rate: t("Rolls an hour"),
  sets: t("Dice set in use"),
  limits: t("Limits"),
  rules: t("Rules"),
  heard: t("Last heard"),
  event: t("Last event here"),
  undelivered: t("Undelivered at the table"),
};
export const VALUE = {
  roll: (dice, number) => t("{dice}, roll {number}", { dice: dice.join("-"), number: whole(number) }),
  limits: (minimum, maximum) => t("{minimum} to {maximum}", { minimum: whole(minimum), maximum: whole(maximum) }),
  heard: (at, seconds) => tn("1 second ago, {at}", "{count} seconds ago, {at}", seconds, { at }),
  event: (seq, at) => t("event {seq}, {at}", { seq: whole(seq), at }),
  unknown: t("not known"),
  rate_later: t("after ten minutes of play"),
  not_heard: t("not since this service began"),
};
