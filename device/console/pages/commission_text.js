// The words of the page of a commissioning. What a step is called comes from the terminal.

import { decimal, t, tc, tn } from "./translation.js";

const ms = (us) => decimal(us / 1000, 1);

/** What is to be done now, by kind of step and by what is waited for. */
const DO = {
  puck: { closed: ({ puck, place, face }) => t("Put puck {puck} on {place}, {face} face up.", { puck, place, face }) },
  turned: { turned: ({ place, face }) => t("Turn the puck over on {place}: {face} face up.", { place, face }) },
  press: { closed: () => t("Press it, and hold it for a moment."), open: () => t("Let go.") },
  slot: {
    open: ({ place }) => t("With the lid open, take the die out of place {place}.", { place }),
    closed: ({ last_place: isLast }) => (isLast ? t("Put the die back, and shut the lid.") : t("Put the die back.")),
  },
  lid: { open: () => t("Open the lid of the reserve."), closed: () => t("Shut the lid.") },
  door: { open: () => t("Open the door of the cabinet."), closed: () => t("Shut the door.") },
  lamp: { lit: () => t("Is this lamp lit, and no other?") },
  node: {
    plugged: () => t("Plug the I/O node in. It is waited for."),
    unplugged: () => t("Pull the cable of the I/O node."),
  },
  network: {
    plugged: () => t("Plug the network in. The centre is waited for."),
    unplugged: () => t("Pull the network cable."),
  },
  power: {
    restart: () => t("Pull the plug, wait ten seconds, put it back. This page goes on by itself when the machine is up."),
  },
};

export const TEXT = {
  title: (table) => t("Commissioning, {table}", { table }),
  progress: (number, count) => t("{number} of {count}", { number, count }),
  offline: t("The table does not answer. Nothing is lost; the page goes on by itself."),
  to_console: t("Boxman's screen"),

  begin_title: t("Commission this table"),
  begin_about: t(
    "Every signal is tried by hand: pucks, buttons, lamps, lid, reserve, cables, and at last the plug. " +
      "The table rests meanwhile. It ends with a signed report.",
  ),
  is_open: t("The table is open. Close it first."),
  sign_in_first: t("A supervisor or a technician signs in first."),
  sign_in: t("Sign in"),
  name_missing: t("Who tries the table? The name is in the report."),
  name: t("Name"),
  name_is: (name) => t("Name: {name}", { name }),
  goes_on: (time, count) =>
    tn(
      "It was begun on {time} and goes on after 1 step.",
      "It was begun on {time} and goes on after {count} steps.",
      count,
      { time },
    ),
  anew: (time) => t("One was begun on {time}, under another configuration. It begins anew.", { time }),
  begin: t("Begin"),
  go_on: t("Go on"),
  beginning: t("The table comes to rest …"),
  starting: t("The table starts …"),
  report_of: (time) => t("Report of {time}", { time }),

  do: (now) => DO[now.kind === "closure" ? now.step : now.kind][now.wanted](now),
  unread: (why) => t("It cannot be used: {why}", { why }),
  contrary: t("It is so already. Do the contrary first."),
  others: (names) => t("Something else has answered: {names}", { names }),
  lies_there: t("It lies there"),
  lit: t("Yes, this one alone"),
  not_lit: t("No"),
  back: t("Back"),
  skip: t("Skip …"),
  fail: t("It fails …"),
  leave: t("Leave …"),
  not_reached: t("The table did not answer. Touch it again."),

  passed: tc("commissioning", "passed"),
  failed: t("failed"),
  skipped: t("skipped"),
  bounce: (us) => t("bounces for {ms} ms", { ms: ms(us) }),
  also: (names) => t("{names} answered as well", { names }),
  both_faces: (names) => t("{names} answers to the wrong face as well", { names }),
  was_not_lit: t("not lit"),

  skip_title: t("Why is it skipped?"),
  fail_title: t("Why does it fail?"),
  end_title: t("Why is the rest skipped?"),
  reasons: {
    skip: [t("Not at hand"), t("Not fitted"), t("No time")],
    fail: [t("Does not answer"), t("Is loose"), t("Is broken")],
    end: [t("Only a part was replaced"), t("The table is needed"), t("No time")],
  },
  other_words: t("Other words …"),
  stay: t("Stay here"),
  leave_title: t("Leave the commissioning?"),
  leave_now: t("Leave. The table starts; the commissioning goes on here later."),
  end_here: t("End here. The rest is skipped …"),

  all_passed: t("Everything passed."),
  counted: (failed, skipped, passed) =>
    t("{failed} failed, {skipped} skipped, {passed} passed", { failed, skipped, passed }),
  again: t("Try again"),
  finish: t("Make the report"),
  signed: t("The report is signed with the key of this unit:"),
  event: (seq) => t("It is event {seq} of the journal, and goes to the centre when the table has started.", { seq }),
  timing: t("Contacts bounce for longer than the configuration allows for. Write into it:"),
  replace: (name) => t("{name} bounces too long for any settle time. Replace its switch or its wire.", { name }),
  print: t("Report to print"),
  start: t("Start the table"),
};
