// The virtual table's panel of faults: pick a kind, a place and a strength, see what is wrong, mend it. What kinds there
// are, where and how strong they can be comes from the terminal (GET /api/virtual); only the words are here.

import { element } from "./terminal.js";
import { decimal, t, tc, tn, whole } from "./translation.js";

const TEXT = {
  button: t("Faults"),
  button_active: (count) => tn("Faults: 1 active", "Faults: {count} active", count),
  groups: { contact: t("Contacts"), line: t("Line and node") },
  kinds: {
    bounce: t("Bounce"),
    lost_edge: t("Lost edges"),
    stuck: t("Stuck"),
    dead: t("Dead pin"),
    noise: t("Noise"),
    drop: t("Lost bytes"),
    duplicate: t("Double bytes"),
    silent: t("Silent node"),
    unplug: t("Unplug"),
    restart: t("Restart"),
  },
  place: tc("fault", "Place"),
  every_place: t("Every contact"),
  parameters: {
    bounces: t("At most"),
    spread_ms: t("Burst lasts"),
    chance: t("Untold"),
    rate: t("Bytes hit"),
    away_ms: t("Away for"),
  },
  units: {
    ms: (value) => (value < 1000 ? `${whole(value)} ms` : `${decimal(value / 1000)} s`),
    times: (value) => tn("1 time", "{count} times", value),
    "of 100": (value) => `${whole(value)} %`,
    "of 10000 bytes": (value) => `${decimal(value / 100)} %`,
  },
  flags: { active: { true: t("Stays active"), false: t("Stays inactive") } },
  seed: t("Seed"),
  new_seed: t("New seed"),
  seed_is: (seed) => t("seed {seed}", { seed }),
  mend: t("Mend"),
  buttons: { on: "ON", off: "OFF", buy: "BUY", lay: "LAY" },
  puck_at: (place) => t("Puck at {place}", { place }),
  second_puck_at: (place) => t("Puck 2 at {place}", { place }),
  button_named: (name) => t("Button {name}", { name }),
  slot: (place) => t("Slot {place}", { place }),
  dice_key: (place) => t("Dice key {place}", { place }),
  lid: t("Lid"),
  door: t("Door"),
};

const SEED_MAX = 2 ** 32 - 1;
// Short enough to be said aloud to whoever is to make the same fault.
const DRAWN_SEEDS = 1_000_000;
const byId = (id) => document.getElementById(id);
const freshSeed = () => crypto.getRandomValues(new Uint32Array(1))[0] % DRAWN_SEEDS;

/** A contact's name in words. */
function placeText(name) {
  const [, kind, place] = /^(puck|second_puck|box|slot|dice_key)_(.+)$/.exec(name) ?? [];
  const at = place === "off" ? "OFF" : place;
  switch (kind) {
    case "puck":
      return TEXT.puck_at(at);
    case "second_puck":
      return TEXT.second_puck_at(at);
    case "box":
      return TEXT.button_named(place);
    case "slot":
      return TEXT.slot(place);
    case "dice_key":
      return TEXT.dice_key(place);
    default:
      return TEXT[name] ?? TEXT.button_named(TEXT.buttons[name]);
  }
}

/** The panel. `act` sends one thing to do; the answer is an object whose `show` takes what GET /api/virtual says. */
export function faultPanel(act) {
  const panel = byId("faults");
  let kinds = null;
  let shown = "";
  let chosen = null;

  function kindButton(kind) {
    return element(
      "button",
      {
        type: "button",
        "data-testid": `fault-kind-${kind.kind}`,
        "data-kind": kind.kind,
        "aria-pressed": "false",
        onclick: () => choose(kind),
      },
      TEXT.kinds[kind.kind],
    );
  }

  function buildKinds() {
    const group = (words, targets) => [
      element("h2", {}, words),
      element("div", { class: "grid" }, ...kinds.filter(({ target }) => targets.includes(target)).map(kindButton)),
    ];
    byId("fault-kinds").replaceChildren(
      ...group(TEXT.groups.contact, ["header", "contact"]),
      ...group(TEXT.groups.line, ["line", "cable"]),
    );
    choose(kinds[0]);
  }

  function choose(kind) {
    chosen = kind;
    for (const button of document.querySelectorAll("#fault-kinds button"))
      button.setAttribute("aria-pressed", String(button.dataset.kind === kind.kind));
    byId("fault-title").textContent = TEXT.kinds[kind.kind];
    byId("fault-about").textContent = kind.about;
    byId("fault-fields").replaceChildren(
      ...(kind.names.length > 0 ? [placeField(kind)] : []),
      ...kind.parameters.map((parameter) =>
        typeof parameter.default === "boolean" ? flagField(parameter) : numberField(parameter),
      ),
      ...(kind.seeded ? [seedField()] : []),
    );
  }

  function placeField(kind) {
    const select = element("select", { name: "name", "data-testid": "fault-place" });
    if (!kind.one_name) select.append(element("option", { value: "" }, TEXT.every_place));
    select.append(...kind.names.map((name) => element("option", { value: name }, placeText(name))));
    return element("label", {}, element("span", {}, TEXT.place), select);
  }

  function numberField({ name, unit, lowest, highest, default: usual }) {
    const output = element("output", {}, TEXT.units[unit](usual));
    const slider = element("input", {
      type: "range",
      name,
      min: lowest,
      max: highest,
      value: usual,
      "data-testid": `fault-parameter-${name}`,
    });
    slider.addEventListener("input", () => {
      output.textContent = TEXT.units[unit](Number(slider.value));
    });
    return element("label", {}, element("span", {}, TEXT.parameters[name]), slider, output);
  }

  function flagField({ name, default: usual }) {
    const select = element("select", { name, "data-flag": "", "data-testid": `fault-parameter-${name}` });
    for (const value of [usual, !usual])
      select.append(element("option", { value: String(value) }, TEXT.flags[name][value]));
    return element("label", {}, element("span", {}, byId("fault-title").textContent), select);
  }

  function seedField() {
    const input = element("input", {
      type: "number",
      name: "seed",
      min: 0,
      max: SEED_MAX,
      required: true,
      inputmode: "numeric",
      value: freshSeed(),
      "data-testid": "fault-seed",
    });
    const draw = () => {
      input.value = freshSeed();
    };
    return element(
      "div",
      { class: "field" },
      element("label", {}, element("span", {}, TEXT.seed), input),
      element("button", { type: "button", "data-testid": "fault-new-seed", onclick: draw }, TEXT.new_seed),
    );
  }

  function make() {
    const fault = { kind: chosen.kind };
    for (const field of byId("fault-form").elements) {
      if (!field.name || field.value === "") continue;
      if (field.name === "name") fault.name = field.value;
      else fault[field.name] = "flag" in field.dataset ? field.value === "true" : Number(field.value);
    }
    act({ fault });
  }

  function strengthText(fault) {
    const kind = kinds.find((known) => known.kind === fault.kind);
    const strengths = kind.parameters.map(({ name, unit, default: usual }) =>
      typeof usual === "boolean" ? TEXT.flags[name][fault[name]] : TEXT.units[unit](fault[name]),
    );
    return [...strengths, ...(kind.seeded ? [TEXT.seed_is(fault.seed)] : [])].join(", ");
  }

  function faultRow(fault) {
    const everywhere = kinds.find((known) => known.kind === fault.kind).names.length > 0 ? TEXT.every_place : null;
    const place = fault.name === null ? everywhere : placeText(fault.name);
    const mend = fault.name === null ? { mend: fault.kind } : { mend: fault.kind, name: fault.name };
    const id = fault.name === null ? fault.kind : `${fault.kind}-${fault.name}`;
    return element(
      "li",
      { "data-kind": fault.kind },
      element(
        "span",
        {},
        element("b", {}, [TEXT.kinds[fault.kind], place].filter(Boolean).join(": ")),
        element("small", {}, strengthText(fault)),
      ),
      element("button", { type: "button", "data-testid": `fault-mend-${id}`, onclick: () => act(mend) }, TEXT.mend),
    );
  }

  byId("faults-open").addEventListener("click", () => kinds && panel.showModal());
  byId("faults-close").addEventListener("click", () => panel.close());
  byId("mend-all").addEventListener("click", () => act({ mend: "all" }));
  byId("fault-form").addEventListener("submit", (event) => {
    event.preventDefault();
    make();
  });

  return {
    show({ faults, fault_kinds }) {
      if (kinds === null) {
        kinds = fault_kinds;
        buildKinds();
      }
      // A list that is made anew under a finger would not be touched.
      const now = JSON.stringify(faults);
      if (now === shown) return;
      shown = now;
      byId("faults-open").dataset.active = String(faults.length);
      byId("faults-open").textContent = faults.length > 0 ? TEXT.button_active(faults.length) : TEXT.button;
      byId("fault-list").replaceChildren(...faults.map(faultRow));
      byId("fault-none").hidden = faults.length > 0;
      byId("mend-all").hidden = faults.length === 0;
    },
  };
}
