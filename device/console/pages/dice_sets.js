// The sets of dice: received, inspected, brought to the table, taken away again.

import { TEXT } from "./console_text.js";
import { button, byId, render, state } from "./console_state.js";
import { addDicePage, drawPart, record, showDicePage, signers } from "./dice_dialog.js";
import { signedButton, whenNamed } from "./dice_duty.js";
import { beginInspection } from "./dice_inspection.js";
import { askText } from "./dice_text_entry.js";
import {
  diceAt,
  dieTile,
  findSet,
  hundredthsOf,
  setsAtTable,
  shortArticle,
  waitingOpening,
} from "./dice_words.js";
import { explain, pendingNote } from "./reserve_question.js";
import { pageBy } from "./scrolling.js";
import { onSecondTouch } from "./second_touch.js";
import { element } from "./terminal.js";

const PLACES = ["play", "offered", "reserve", "inspection", "floor", "missing", "written_off", "store", "withdrawn"];
const DICE_MIN = 2;
const DICE_MAX = 8;
const REMOVAL_REASONS = ["closing", "new_set", "damage", "die_off_table", "inspector_request", "boxman_order"];
// From where dice are taken away to where.
const REMOVED_FROM = {
  store: ["reserve", "play", "offered", "inspection"],
  withdrawn: ["store", "reserve", "play", "offered", "inspection"],
  cancelled: ["store", "withdrawn"],
  destroyed: ["store", "withdrawn"],
};
const WORDS = ["set", "maker", "colour", "house_mark", "edge"];
const OPTIONAL = ["house_mark", "edge"];

let looked = null; // the name of the set that is looked at
let picked = []; // dice of it that a removal is about; none: all that can go
let removalReason = null; // why dice are taken away, once it was touched
let draft = null; // the set that is being received

// The list

function whereabouts(set) {
  const counted = PLACES.map((place) => [place, diceAt(set, place).length]).filter(([, count]) => count > 0);
  return counted.map(([place, count]) => TEXT.dice.count_at(count, TEXT.dice.seen_at[place])).join(" · ");
}

const made = (set) => [set.colour, set.maker, set.house_mark].filter(Boolean).join(" · ");

function lookAt(name) {
  looked = name;
  picked = [];
  removalReason = null;
  showDicePage("set");
}

function renderSets() {
  drawPart("sets-list", [state.dice.sets], () =>
    state.dice.sets.length === 0
      ? [element("p", { class: "empty" }, TEXT.dice.no_sets)]
      : state.dice.sets.map((set) =>
          button(
            `set-${set.set}`,
            element(
              "span",
              {},
              element("b", {}, set.set),
              element("span", {}, made(set), element("small", {}, whereabouts(set))),
              element("em", { "data-good": String(set.needs.length === 0) }, TEXT.dice.needs_count(set.needs.length)),
            ),
            () => lookAt(set.set),
            { className: "set-row named" },
          ),
        ),
  );
  drawPart("sets-deeds", [state.dice.openings, signers()], () => {
    const opening = waitingOpening();
    byId("dice-sets-pending").replaceChildren(
      ...[pendingNote("new_set", TEXT.dice.todo_new_set)].filter(Boolean),
    );
    return [
      opening
        ? button("sets-explain", TEXT.dice.only_new_set, () => explain(opening, "new_set"), { entry: true })
        : null,
      button("receive", TEXT.dice.receive, () => showDicePage("receive"), { className: "primary" }),
    ];
  });
}

// One set

function pick(die) {
  picked = picked.includes(die) ? picked.filter((other) => other !== die) : [...picked, die];
  render();
}

function removal(set, to) {
  const able = diceAt(set, ...REMOVED_FROM[to]);
  const dice = picked.length ? picked.filter((die) => able.includes(die)) : able;
  if (dice.length === 0) return null;
  const node = button(`remove-${to}`, "", null, { entry: true, available: removalReason !== null });
  const part = picked.length ? { dice } : {};
  onSecondTouch(node, {
    subject: () => [dice, removalReason],
    words: () => TEXT.dice.remove[to],
    ask: () => TEXT.dice.remove_again[to](dice.length),
    act: () => whenNamed(() => keep(record({ remove: { set: set.set, to, reason: removalReason, ...part } }))),
  });
  return node;
}

/** After what was done with a set the page of the set is there again. */
async function keep(doing) {
  if (await doing) {
    picked = [];
    removalReason = null;
  }
  showDicePage("set");
}

function renderSet() {
  const set = findSet(looked);
  if (set === null) {
    // Received a moment ago, and the state that tells of it is on its way; or destroyed.
    drawPart("set", [looked], () => [element("h2", {}, TEXT.dice.set_named(looked))]);
    return;
  }
  drawPart("set", [set, picked, removalReason, signers(), setsAtTable().length], () => {
    const stored = diceAt(set, "store");
    return [
      element("h2", {}, element("b", {}, TEXT.dice.set_named(set.set)), element("span", {}, made(set))),
      element(
        "div",
        { class: "set-dice" },
        ...set.dice.map(({ die, place, state: checked }) =>
          dieTile(`pick-${die}`, die, () => pick(die), {
            pressed: picked.includes(die),
            mark: TEXT.dice.place_and_state(TEXT.dice.places[place], TEXT.dice.states[checked]),
          }),
        ),
      ),
      element(
        "ul",
        { class: "needs", "data-testid": "needs" },
        ...(set.needs.length === 0
          ? [element("li", { class: "good" }, TEXT.dice.fit)]
          : set.needs.map(({ text, article }) =>
              element("li", { title: article }, text, element("small", {}, shortArticle(article))),
            )),
      ),
      removalReason === null ? element("p", { class: "hint" }, TEXT.dice.remove_why) : null,
      element(
        "div",
        { class: "why six" },
        ...REMOVAL_REASONS.map((reason) =>
          button(
            `removal-${reason}`,
            TEXT.dice.reasons[reason],
            () => {
              removalReason = reason;
              render();
            },
            { pressed: reason === removalReason },
          ),
        ),
      ),
      element(
        "div",
        { class: "deeds" },
        ...["store", "withdrawn", "cancelled", "destroyed"].map((to) => removal(set, to)).filter(Boolean),
      ),
      element(
        "div",
        { class: "deeds" },
        signedButton("set"),
        button("inspect-set", TEXT.dice.inspect, () => beginInspection(set, picked, "set"), {}),
        stored.length > 0
          ? button(
              "place-set",
              TEXT.dice.bring_to_table,
              () => whenNamed(() => keep(record({ place: { set: set.set } }))),
              {
                entry: true,
                className: "primary",
              },
            )
          : null,
      ),
    ];
  });
}

// Receiving one

/** The next name of a set: "A" to "B", "Set 17" to "Set 18". */
function following(text) {
  const [, head, number] = /^(.*?)(\d+)$/s.exec(text) ?? [];
  if (number !== undefined) return head + String(BigInt(number) + 1n).padStart(number.length, "0");
  return /^[A-Ya-y]$/.test(text) ? String.fromCharCode(text.charCodeAt(0) + 1) : "";
}

function beginReceiving() {
  const last = state.dice.sets.at(-1);
  const numbers = state.dice.rules.in_set.match(/\d+/g) ?? [];
  draft = {
    set: last ? following(last.set) : "",
    maker: last?.maker ?? "",
    colour: last?.colour ?? "",
    house_mark: last?.house_mark ?? "",
    edge: "",
    dice: last?.dice.length ?? Number(numbers.at(-1) ?? 5),
    serial: state.dice.rules.serials_required || last?.numbered_by === "serial",
    serials: [],
  };
}

function changeDraft(part) {
  draft = { ...draft, ...part };
  render();
}

/** The serial numbers as they stand: those that were entered, each other one follows the one before it. */
function serials() {
  const all = [];
  for (let index = 0; index < draft.dice; index += 1)
    all.push(draft.serials[index] || (index ? following(all[index - 1]) : ""));
  return all;
}

const edgeHundredths = () => hundredthsOf(draft.edge);

const isReceived = () =>
  WORDS.every((name) => draft[name] || OPTIONAL.includes(name)) &&
  (!draft.serial || serials().every(Boolean));

/** Asks for one word after the other, as far as they are missing. */
function askWord(name) {
  askText({
    says: TEXT.dice.fields[name],
    value: draft[name],
    offered: [...new Set(state.dice.sets.map((set) => set[name]).filter((text) => typeof text === "string"))].slice(-4),
    optional: OPTIONAL.includes(name),
    letters: ["set", "house_mark"].includes(name) ? "capitals" : "names",
    wrong: (text) => (name === "edge" && text !== "" && hundredthsOf(text) === null ? TEXT.dice.edge_wrong : null),
    tab: "sets",
    done: (text) => {
      changeDraft({ [name]: text });
      const next = WORDS.slice(WORDS.indexOf(name) + 1).find((other) => !draft[other] && !OPTIONAL.includes(other));
      if (next) askWord(next);
      else showDicePage("receive");
    },
  });
}

function askSerial(index) {
  askText({
    says: TEXT.dice.serial_of(index + 1, draft.dice),
    value: serials()[index],
    letters: "capitals",
    tab: "sets",
    done: (text) => {
      const entered = [...draft.serials];
      entered[index] = text;
      changeDraft({ serials: entered });
      showDicePage("receive");
    },
  });
}

function field(name, label, value, go) {
  const content = element("span", {}, element("small", {}, label), element("b", {}, value || "…"));
  return button(`receive-${name}`, content, go, { className: "named" });
}

function receiveIt() {
  const [set, maker, colour] = [draft.set, draft.maker, draft.colour];
  const parts = { set, maker, colour, dice: draft.dice };
  if (draft.house_mark) parts.house_mark = draft.house_mark;
  if (draft.edge) parts.edge_hundredths_mm = edgeHundredths();
  if (draft.serial) parts.serials = serials();
  whenNamed(async () => {
    const done = await record({ receive: parts });
    if (!done) {
      showDicePage("receive");
      return;
    }
    draft = null;
    lookAt(set);
  });
}

function renderReceive() {
  drawPart("receive", [draft, signers()], () => [
    element(
      "div",
      { class: "fields" },
      ...WORDS.map((name) =>
        field(name, TEXT.dice.fields[name], draft[name], () => askWord(name)),
      ),
    ),
    element(
      "div",
      { class: "fields" },
      button("fewer", TEXT.dice.fewer, () => changeDraft({ dice: Math.max(DICE_MIN, draft.dice - 1) })),
      element("strong", { "data-testid": "receive-dice" }, TEXT.dice.dice_count(draft.dice)),
      button("more-dice", TEXT.dice.one_more, () => changeDraft({ dice: Math.min(DICE_MAX, draft.dice + 1) })),
      button("numbered", TEXT.dice.numbered_to(draft.dice), () => changeDraft({ serial: false }), {
        pressed: !draft.serial,
      }),
      button("with-serials", TEXT.dice.with_serials, () => changeDraft({ serial: true }), { pressed: draft.serial }),
    ),
    draft.serial
      ? element(
          "div",
          { class: "fields four" },
          ...serials().map((serial, index) =>
            field(`serial-${index + 1}`, TEXT.dice.die(index + 1), serial, () => askSerial(index)),
          ),
        )
      : element("p", { class: "empty" }, TEXT.dice.numbered_says),
    element("div", { class: "room" }),
    element(
      "div",
      { class: "deeds" },
      signedButton("receive"),
      button("clear-receive", TEXT.dice.start_anew, () => {
        beginReceiving();
        render();
      }),
      button("confirm-receive", TEXT.dice.receive_now(draft.set), receiveIt, {
        entry: true,
        available: isReceived(),
        className: "primary",
      }),
    ),
  ]);
}

export function buildSets() {
  pageBy(byId("dice-sets-list"), byId("dice-sets-more"));
  addDicePage("sets", { render: renderSets, confirm: () => showDicePage("receive") });
  addDicePage("set", { tab: "sets", render: renderSet });
  addDicePage("receive", {
    tab: "sets",
    enter: () => {
      if (draft === null) beginReceiving();
    },
    render: renderReceive,
    confirm: () => {
      if (isReceived()) receiveIt();
    },
  });
}
