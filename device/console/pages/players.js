// The players' display. It shows what the terminal tells and nothing that it was told earlier: when nothing is heard for
// a moment, or the terminal says that it records nothing, only the house's text stays.

import { TEXT } from "./players_text.js";
import { drawDie, element, get, giveSignOfLife } from "./terminal.js";
import { decimal, inLanguage, LANGUAGE, whole } from "./translation.js";

const byId = (id) => document.getElementById(id);
// The terminal tells twice a second, whether anything has changed or not.
const SILENCE_MAX_MS = 2000;
const LISTEN_AGAIN_MS = 1000;
// How long one page of the pay table stays.
const PAGE_MS = 12000;
// More results than fit a line are told by the first and the last.
const RESULTS_MAX = 6;

const SIGNS = { hot: "▲", cold: "▼" };

let run = null; // which run of the terminal's program this page is of
let heardAt = -Infinity;
let view = null;
let session = null; // the session that the pay table was read for
let groups = []; // the pay table
let pages = []; // what of it is shown at a time
let pagedFor = 0; // the height that it is divided for
let page = 0;

function take(next) {
  heardAt = performance.now();
  // Another program may have another page.
  if (run !== null && next.run !== run) location.reload();
  run = next.run;
  const changed = JSON.stringify(next) !== JSON.stringify(view);
  view = next;
  if (changed) render();
  if (view.live && view.pay_table && view.session !== session) readPayTable(view.session);
}

function look() {
  if (view !== null && performance.now() - heardAt > SILENCE_MAX_MS) {
    // Nothing of what was shown may be taken for what is.
    view = { run, live: false, house_text: view.house_text };
    render();
  }
  giveSignOfLife();
}

function listen() {
  const stream = new EventSource("/api/players/stream");
  stream.onmessage = (message) => take(JSON.parse(message.data));
  stream.onerror = () => {
    // It tries again by itself, but gives up for good after an answer that was no stream.
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, LISTEN_AGAIN_MS);
  };
}

function render() {
  const { live, open, house_text } = view;
  byId("display").dataset.live = String(live);
  byId("house").textContent = house_text;
  byId("house").hidden = !house_text;
  byId("closed").hidden = !live || open;
  byId("game").hidden = !live || !open;
  if (!live || !open) return;
  renderPoint();
  renderRolls();
  renderHand();
  renderNumbers();
  byId("pay-part").hidden = !view.pay_table || groups.length === 0;
  if (!byId("pay-part").hidden && byId("pay-part").clientHeight !== pagedFor) divide();
}

function renderPoint() {
  const { point } = view;
  byId("point-part").hidden = point === undefined;
  byId("point").dataset.point = point ?? "";
  byId("point-title").textContent = point ? TEXT.point : TEXT.come_out;
  byId("point").textContent = point ?? TEXT.off;
}

const words = ([first, second]) => `${first}-${second}`;

function renderRolls() {
  const { rolls } = view;
  byId("last-part").hidden = byId("rolls-part").hidden = rolls === undefined;
  if (rolls === undefined) return;
  const [last, ...before] = [...rolls].reverse();
  byId("last").dataset.dice = last ? words(last) : "";
  byId("last").replaceChildren(
    ...(last
      ? [...last.map(drawDie), element("b", {}, String(last[0] + last[1]))]
      : [element("span", {}, TEXT.no_roll_yet)]),
  );
  byId("rolls").replaceChildren(
    ...before.map((dice) =>
      element("li", { "data-dice": words(dice) }, ...dice.map(drawDie), element("b", {}, String(dice[0] + dice[1]))),
    ),
  );
  byId("rolls-part").hidden = before.length === 0;
}

function renderHand() {
  const { hand } = view;
  // Of a hand that began before anybody saw, nothing is told.
  byId("hand-part").hidden = hand === undefined || hand.rolls === null;
  if (byId("hand-part").hidden) return;
  byId("hand-title").textContent = hand.over ? TEXT.hand_over : TEXT.hand;
  byId("hand").replaceChildren(
    element("b", { "data-testid": "hand-rolls" }, TEXT.hand_rolls(hand.rolls)),
    element("b", { "data-testid": "hand-points" }, TEXT.hand_points(hand.points_made)),
  );
}

function renderNumbers() {
  const { numbers } = view;
  byId("numbers-part").hidden = numbers === undefined || numbers.of === 0;
  if (byId("numbers-part").hidden) return;
  const highest = Math.max(...Object.values(numbers.counts));
  byId("numbers").replaceChildren(
    ...Object.entries(numbers.counts).map(([total, count]) => {
      const called = numbers.hot.includes(Number(total)) ? "hot" : numbers.cold.includes(Number(total)) ? "cold" : "";
      const bar = element("div", { class: "bar" });
      bar.style.height = `${(100 * count) / highest}%`;
      return element(
        "div",
        { class: "number", "data-testid": `number-${total}`, "data-count": count, "data-called": called },
        element("i", {}, whole(count)),
        element("div", { class: "room" }, bar),
        element("b", {}, total),
        element("small", {}, SIGNS[called] ?? ""),
      );
    }),
  );
  byId("numbers-title").textContent = TEXT.numbers_of(numbers.of);
  byId("numbers-key").hidden = numbers.hot.length + numbers.cold.length === 0;
}

// The pay table

async function readPayTable(of) {
  session = of;
  try {
    groups = (await get(inLanguage("/api/players/pay_table"))).groups;
  } catch {
    // Asked again with the next word of the terminal.
    session = null;
    return;
  }
  pagedFor = 0;
  render();
}

/** Divides the groups into pages that have room where they are shown, no bet onto two of them. */
function divide() {
  pagedFor = byId("pay-part").clientHeight;
  const isFull = () => byId("pay-part").scrollHeight > byId("pay-part").clientHeight;
  pages = [];
  for (const { group, bets } of groups) {
    let on = [];
    for (const bet of bets) {
      drawPay({ group, bets: [...on, bet] });
      if (isFull() && on.length > 0) {
        pages.push({ group, bets: on });
        on = [];
      }
      on.push(bet);
    }
    pages.push({ group, bets: on });
  }
  page = 0;
  drawPay(pages[page]);
}

const results = (on) => (on.length > RESULTS_MAX ? `${on[0]} … ${on.at(-1)}` : on.join(", "));

function payRow(bet, line, place) {
  const on = line.points ? TEXT.points_made(line.points) : results(line.on);
  const share = bet.commission ? TEXT.commission(decimal((100 * bet.commission[0]) / bet.commission[1])) : null;
  return element(
    "tr",
    { class: place === 0 ? "first" : null },
    element("th", {}, place === 0 ? bet.name : ""),
    element("td", {}, on),
    element(
      "td",
      {},
      share && place === 0 ? element("small", {}, `${share} `) : null,
      element("b", {}, TEXT.pays(...line.pays)),
    ),
  );
}

function drawPay({ group, bets }) {
  byId("pay").dataset.group = group;
  byId("pay-title").textContent = TEXT.groups[group];
  const rows = bets.flatMap((bet) => bet.lines.map((line, place) => payRow(bet, line, place)));
  byId("pay").replaceChildren(element("table", {}, element("tbody", {}, ...rows)));
}

function turn() {
  if (pages.length === 0) return;
  page = (page + 1) % pages.length;
  drawPay(pages[page]);
}

document.documentElement.lang = LANGUAGE;
byId("closed").textContent = TEXT.closed;
byId("last-title").textContent = TEXT.last_roll;
byId("rolls-title").textContent = TEXT.rolls;
byId("numbers-say").textContent = TEXT.no_memory;
byId("numbers-key").replaceChildren(
  ...Object.entries(SIGNS).map(([called, sign]) => element("span", { class: called }, `${sign} ${TEXT[called]}`)),
);
listen();
setInterval(look, 200);
setInterval(turn, PAGE_MS);
