// The main screen: status line, phase and point, the last roll, the puck, alerts, and what to collect and to pay.

import { TEXT } from "./console_text.js";
import {
  betName,
  byId,
  clockTime,
  draw,
  money,
  plain,
  reasonText,
  rulesRead,
  setAvailable,
  state,
} from "./console_state.js";
import { drawDie, element } from "./terminal.js";

const BOXES = [4, 5, 6, 8, 9, 10];

export function renderMainScreen() {
  renderStatus();
  renderGame();
  renderPuck();
  draw("alerts", state.alerts, renderAlerts);
  draw("results", [state.last_roll, state.table, rulesRead], renderResults);
}

/** Lists that scroll say how much of them lies below the edge. */
export function buildMainScreen() {
  for (const id of ["collect-list", "pay-list", "alert-list"]) {
    const list = byId(id);
    list.addEventListener("scroll", () => countMore(list), { passive: true });
    new ResizeObserver(() => countMore(list)).observe(list);
  }
}

function fact(id, value, words, mood) {
  const node = byId(id);
  node.dataset.state = value;
  node.dataset.mood = mood;
  node.querySelector("b").textContent = words;
}

function renderStatus() {
  const { table, reserve, uplink, node, clock } = state;
  byId("table-id").textContent = table.table;
  byId("table-rules").textContent = table.rules;
  byId("button-help").toggleAttribute("data-warnings", table.warnings.length > 0);
  if (table.warnings.length > 0) byId("button-help").dataset.warnings = table.warnings.length;
  const lid = reserve.open === null ? "unknown" : reserve.open ? "open" : "closed";
  fact(
    "reserve",
    lid,
    { open: TEXT.reserve_open(clockTime(reserve.since)), closed: TEXT.reserve_closed, unknown: TEXT.not_fitted }[lid],
    lid === "open" ? "mind" : "calm",
  );
  fact(
    "uplink",
    uplink.state,
    TEXT[`uplink_${uplink.state}`],
    { online: "calm", off: "calm", offline: "mind", fenced: "alarm" }[uplink.state],
  );
  byId("uplink").title = uplink.last_error ?? "";
  fact(
    "undelivered",
    uplink.undelivered > 0 ? "some" : "none",
    money(uplink.undelivered),
    uplink.undelivered > 0 && uplink.state !== "online" ? "mind" : "calm",
  );
  fact("clock", clock, TEXT[`clock_${clock}`], clock === "synced" ? "calm" : "hint");
  fact("node", node.state, TEXT[`node_${node.state}`], node.state === "offline" ? "alarm" : "calm");
}

function renderGame() {
  const { phase, point, shooter, dice_pass: dicePass, last_roll: last, last_no_roll: noRoll } = state;
  byId("phase").textContent = TEXT[phase];
  byId("phase").dataset.phase = phase;
  byId("phase-block").dataset.phase = phase;
  byId("point").textContent = point ?? "";
  byId("shooter").textContent = dicePass ? TEXT.dice_pass : shooter ? TEXT.shooter(shooter) : TEXT.no_shooter;
  byId("shooter").dataset.mood = dicePass || !shooter ? "mind" : "calm";
  byId("button-new-shooter").classList.toggle("wanted", dicePass || !shooter);
  setAvailable(byId("button-correct"), last !== null);

  draw("last", [last, noRoll, rulesRead], () => {
    const voided = noRoll !== null && (last === null || noRoll.seq > last.seq);
    byId("last-roll").dataset.dice = last ? last.dice.join("-") : "";
    byId("last-roll").dataset.corrected = String(last?.corrected ?? false);
    byId("last-roll").classList.toggle("voided", voided);
    byId("last-dice").replaceChildren(...(last ? [...last.dice.map(drawDie), element("b", {}, last.total)] : []));
    const words = last
      ? [TEXT.roll_number(last.number), outcome(last), last.corrected ? TEXT.corrected : null]
      : [TEXT.no_roll_yet];
    if (voided) words.splice(0, words.length, TEXT.no_roll_said(reasonText(noRoll.reason)));
    byId("last-words").textContent = words.filter(Boolean).join(" · ");
  });
  draw("recent", state.recent_rolls, () => {
    byId("recent").replaceChildren(
      ...state.recent_rolls.map(([one, two]) => element("li", { title: `${one}-${two}` }, one + two)),
    );
  });
}

function outcome({ total, point_before: before, point }) {
  if (before !== null && total === 7) return TEXT.seven_out;
  if (before !== null && total === before) return TEXT.point_made;
  if (before === null && point !== null) return TEXT.point_is(point);
  return null;
}

function renderPuck() {
  const { puck, buttons } = state;
  draw("puck", [puck, buttons], () => {
    const wrong = puck.agrees === false || puck.state === "fault";
    const place = (position) => (position === "off" ? TEXT.off_place : String(position));
    const cells = ["off", ...BOXES].map((position) => {
      const here = puck.position === position;
      const expected = puck.expected.position === position;
      const mark = buttons.marks[position];
      const showHere = expected && !here && puck.agrees !== true;
      return element(
        "div",
        {
          class: "puck-cell",
          "data-testid": `puck-box-${position}`,
          "data-puck": here ? (puck.face ?? "") : "",
          "data-expected": String(expected),
          "data-picked": buttons.box === position,
        },
        element("span", { class: "box" }, place(position)),
        here
          ? element("span", { class: `disc ${puck.face}` }, TEXT[`puck_${puck.face}`])
          : showHere
            ? element("span", { class: "target" }, TEXT.put_here)
            : null,
        mark ? element("span", { class: "mark" }, plain(mark)) : null,
      );
    });
    byId("puck").replaceChildren(
      ...cells,
      element(
        "div",
        { id: "puck-message", "data-testid": "puck-message", "data-agrees": String(puck.agrees) },
        puckMessage(puck, place),
      ),
    );
    byId("puck").dataset.mood = wrong ? "alarm" : puck.state === "in_place" ? "calm" : "mind";
  });
}

function puckMessage(puck, place) {
  if (puck.state === "fault") return TEXT.puck_fault;
  if (puck.state === "unknown") return TEXT.puck_unknown;
  if (puck.state === "lifted") return TEXT.puck_lifted;
  if (puck.agrees !== false) return TEXT.puck_right;
  if (puck.position === puck.expected.position) return TEXT.puck_turn(TEXT[`puck_${puck.expected.face}`]);
  return TEXT.puck_move(place(puck.expected.position));
}

/** What must be put right comes first; what the rule set always says stays in one quiet line each. */
function renderAlerts() {
  const standing = (alert) => alert.code === "rule_warning";
  const list = byId("alert-list");
  const sorted = [...state.alerts].sort((a, b) => standing(a) - standing(b));
  list.replaceChildren(
    ...sorted.map((alert) => element("li", { "data-code": alert.code, title: alert.text }, alert.text)),
  );
  countMore(list);
}

function renderResults() {
  const last = state.last_roll;
  const results = last?.results ?? [];
  const collected = results.filter((result) => result.result === "lose");
  const paid = results.filter((result) => result.result !== "lose");
  const sum = (list, of) => list.reduce((total, result) => total + (of(result) ?? 0), 0);
  showPart(
    "collect",
    collected,
    sum(collected, (result) => result.amount),
  );
  showPart("pay", paid, sum(paid, net));
  byId("results").dataset.split =
    collected.length === 0 && paid.length === 0
      ? "none"
      : collected.length === 0
        ? "pay"
        : paid.length === 0
          ? "collect"
          : "both";
  // The rule set's warnings have the room of the results until there is a roll; later the help page has them.
  byId("warning-list").hidden = last !== null;
  byId("warning-list").replaceChildren(
    ...[state.table.title, ...state.table.warnings].map((text) => element("li", {}, text)),
  );
}

const net = (result) => (result.paid ?? 0) - (result.commission ?? 0);

function showPart(part, results, sum) {
  byId(`${part}-count`).textContent = results.length;
  byId(`${part}-sum`).textContent = sum ? money(sum) : "";
  const list = byId(`${part}-list`);
  list.replaceChildren(...results.map(resultRow));
  list.scrollTop = 0;
  countMore(list);
}

function resultRow(result) {
  const { paid = 0, returned = 0, commission = 0, remainder = null } = result;
  let amount = "";
  const notes = [];
  if (result.result === "win") {
    amount = money(net(result));
    notes.push(
      commission ? TEXT.commission(money(paid), money(commission)) : null,
      returned ? TEXT.stake_back(money(returned)) : TEXT.stays_up,
    );
  } else if (result.result === "lose") {
    amount = result.amount ? money(result.amount) : "";
  } else if (result.result === "move") {
    amount = TEXT.moves_to(result.to);
  } else {
    amount = money(returned);
    notes.push(result.result === "push" ? TEXT.push : TEXT.returned);
  }
  if (remainder && remainder[0]) notes.push(TEXT.remainder(remainder[0], remainder[1]));
  return element(
    "li",
    {
      "data-player": result.player,
      "data-kind": result.kind,
      "data-number": result.number,
      "data-result": result.result,
      "data-paid": paid,
      "data-returned": returned,
    },
    element("span", { class: "player", title: result.player }, result.player),
    element("span", { class: "bet" }, betName(result), notesLine(notes)),
    element("b", {}, amount),
  );
}

function notesLine(notes) {
  const said = notes.filter(Boolean);
  return said.length ? element("small", {}, said.join(" · ")) : null;
}

/** Says how many rows of a result list lie below its edge. */
function countMore(list) {
  const edge = list.scrollTop + list.clientHeight;
  const below = [...list.children].filter((row) => row.offsetTop + row.offsetHeight > edge + 4).length;
  const more = list.nextElementSibling;
  more.hidden = below === 0;
  more.textContent = TEXT.more(below);
}
