// The hardware: every input and lamp with its pin and what it is now, the I/O node, and the self-test of this start.
// Read only while it is open.

import { TEXT } from "./console_text.js";
import { button, byId, clockTime, draw, plain, render, sentence } from "./console_state.js";
import { addDialog } from "./dialogs.js";
import { pageBy } from "./scrolling.js";
import { element, get } from "./terminal.js";

const READ_EVERY_MS = 1000;
const PARTS = ["inputs", "lamps", "node", "self_test"];

// So many letters of a name fit its tile in large type.
const SHORT_NAME = 4;
// Reasons that stand above the map; more of them are told at a touch.
const FAULTS_TOLD = 2;

let part = PARTS[0];
let telling = false; // whether all reasons are told
let hardware = null; // as the terminal told it last
let answered = true;
let opening = 0; // which opening of the dialog reads; one that was closed reads no more
let timer = 0;

async function read(turn) {
  const told = await get("/api/hardware").catch(() => null);
  if (turn !== opening) return;
  answered = told !== null;
  hardware = told ?? hardware;
  timer = setTimeout(read, READ_EVERY_MS, turn);
  render();
}

function stopReading() {
  opening += 1;
  clearTimeout(timer);
}

function choosePart(next) {
  part = next;
  byId("hardware-body").scrollTop = 0;
  render();
}

const isFaulty = ({ unavailable, stuck = false }) => unavailable !== null || stuck;
const GROUPED = /^((?:second_)?puck|box|dice_key|slot)_(.+)$/;
const plainName = (name) => TEXT.status_buttons[name] ?? TEXT.input_names[name] ?? sentence(plain(name));
/** The name of an input or a lamp: puck_off is Puck OFF. */
export function longName(name) {
  const [, group, place] = GROUPED.exec(name) ?? [];
  return group === undefined ? plainName(name) : TEXT.input_names[group](plainName(place));
}
/** The same without its group where that is said beside it: OFF in the row of the puck. */
const shortName = (name) => plainName(name.replace(GROUPED, "$2"));

function toggleTelling() {
  telling = !telling;
  render();
}

/** Why inputs do not work: a line each, or one line for all that unfolds at a touch. */
function faultLines() {
  const lines = hardware.inputs
    .filter(isFaulty)
    .map((input) =>
      element("p", { class: "fault" }, input.unavailable ?? TEXT.input_stuck(longName(input.name).toLowerCase(), input.pin)),
    );
  if (lines.length <= FAULTS_TOLD) return lines;
  const words = element(
    "span",
    {},
    element("span", {}, TEXT.many_faults(lines.length)),
    element("b", {}, telling ? TEXT.hide_faults : TEXT.show_faults),
  );
  return [button("hardware-faults", words, toggleTelling, { className: "faults" }), ...(telling ? lines : [])];
}

/** What the counts on the tiles mean, where there are any. */
function legend() {
  const said = [
    ["lost_edges", TEXT.lost_edges_means],
    ["glitches", TEXT.glitches_means],
  ].filter(([count]) => hardware.inputs.some((input) => input[count] > 0));
  return said.map(([, words]) => element("p", { class: "legend" }, words));
}

function levelOf({ active, unavailable, stuck }) {
  if (unavailable !== null) return "unavailable";
  if (stuck) return "stuck";
  return active === null ? "unknown" : active ? "active" : "inactive";
}

function inputTile(input) {
  const level = levelOf(input);
  const counted = [
    [TEXT.lost_edges, input.lost_edges],
    [TEXT.glitches, input.glitches],
  ].filter(([, count]) => count > 0);
  return element(
    "li",
    { "data-testid": `input-${input.name}`, "data-level": level },
    element("b", { "data-long": shortName(input.name).length > SHORT_NAME }, shortName(input.name)),
    element("span", {}, input.pin),
    element("strong", {}, (["reserve", "door"].includes(input.group) && TEXT.shut_levels[level]) || TEXT.levels[level]),
    ...counted.map(([say, count]) => element("small", {}, say(count))),
  );
}

/** The row that a group stands in: with the lid, so that all rows fit a small screen, where there is one. */
function rowOf(group) {
  const besideLid = ["slots", "door"].includes(group) && hardware.inputs.some((input) => input.group === "reserve");
  return besideLid ? "reserve" : group;
}

function inputParts() {
  const groups = [...new Set(hardware.inputs.map(({ group }) => rowOf(group)))];
  return [
    ...faultLines(),
    ...groups.map((group) =>
      element(
        "section",
        { class: "board", "data-group": group },
        element("h2", {}, TEXT.input_groups[group] ?? plain(group)),
        element("ul", {}, ...hardware.inputs.filter((input) => rowOf(input.group) === group).map(inputTile)),
      ),
    ),
    ...legend(),
  ];
}

function lampRow(lamp) {
  const level = lamp.unavailable !== null ? "unavailable" : lamp.lit ? "lit" : "dark";
  return element(
    "li",
    { "data-testid": `lamp-${lamp.name}`, "data-level": level },
    element("i", {}),
    element(
      "span",
      {},
      element("b", {}, longName(lamp.name)),
      element("em", {}, TEXT.pin_and_level(lamp.pin, TEXT.lamp_levels[level])),
    ),
    element("small", {}, lamp.unavailable ?? lamp.meaning),
  );
}

const counterName = (name) => TEXT.counters[name] ?? sentence(plain(name));

function nodeFacts() {
  const { node } = hardware;
  const facts = [
    [TEXT.pin_library, TEXT.pin_libraries[hardware.pin_library] ?? hardware.pin_library],
    [TEXT.node, TEXT[`node_${node.state}`]],
    [TEXT.node_port, node.port],
    [TEXT.node_device, node.device],
    [TEXT.node_firmware, node.firmware],
    [TEXT.node_configuration, node.configuration],
    [TEXT.node_error, node.error],
    ...Object.entries(node.counters ?? {}).map(([name, count]) => [counterName(name), count]),
  ];
  return facts
    .filter(([, value]) => value !== null && value !== undefined)
    .flatMap(([term, value]) => [element("dt", {}, term), element("dd", {}, value)]);
}

/** What the terminal found at its start, check by check. */
function selfTest() {
  const { self_test: test } = hardware;
  if (!test) return [element("p", {}, TEXT.self_test_runs)];
  const checks = test.checks.map(({ check, result, said }) =>
    element(
      "li",
      { "data-testid": `check-${check}`, "data-result": result },
      element("b", {}, TEXT.checks[check] ?? sentence(plain(check))),
      element("strong", {}, TEXT.check_results[result]),
      element("span", {}, said),
    ),
  );
  const verdict = TEXT.self_test_verdict(test.passed, clockTime(test.wall));
  return [element("p", { "data-testid": "self-test-verdict" }, verdict), element("ul", {}, ...checks)];
}

function renderHardware() {
  byId("hardware-silent").hidden = answered;
  byId("hardware-body").classList.toggle("stale", !answered);
  const faults = {
    inputs: hardware?.inputs.filter(isFaulty).length ?? 0,
    lamps: hardware?.lamps.filter(isFaulty).length ?? 0,
    node: Number(hardware?.node.state === "offline"),
    self_test: hardware?.self_test?.checks.filter(({ result }) => result !== "passed").length ?? 0,
  };
  draw("hardware-parts", [part, faults], () => {
    byId("hardware-parts").replaceChildren(
      ...PARTS.map((name) => {
        const count = faults[name] > 0 ? element("b", {}, faults[name]) : null;
        const words = element("span", {}, TEXT.hardware_parts[name], count);
        return button(`hardware-${name}`, words, () => choosePart(name), { pressed: name === part });
      }),
    );
  });
  draw("hardware", [part, hardware, telling], () => {
    byId("hardware-body").dataset.part = part;
    if (hardware === null) byId("hardware-body").replaceChildren(element("p", {}, TEXT.hardware_reading));
    else if (part === "inputs") byId("hardware-body").replaceChildren(...inputParts());
    else if (part === "lamps") byId("hardware-body").replaceChildren(element("ul", {}, ...hardware.lamps.map(lampRow)));
    else if (part === "self_test") byId("hardware-body").replaceChildren(...selfTest());
    else byId("hardware-body").replaceChildren(element("dl", { "data-testid": "hardware-facts" }, ...nodeFacts()));
  });
}

export function buildHardware() {
  pageBy(byId("hardware-body"), byId("hardware-more"), () => byId("hardware-body").querySelectorAll("li, dd"));
  addDialog("hardware", {
    begin: () => {
      hardware = null;
      telling = false;
      answered = true;
      read(opening);
    },
    end: stopReading,
    render: renderHardware,
    digit: (digit) => {
      if (digit >= 1 && digit <= PARTS.length) choosePart(PARTS[digit - 1]);
    },
  });
}
