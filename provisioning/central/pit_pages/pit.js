// The pit's page: follows the service and shows all tables, those in trouble first. It decides nothing; how a table stands is
// the service's word, and when the service falls silent the page says so itself (the dead man's switch in pit.css).

import { element } from "/console/terminal.js";
import { LANGUAGE, LANGUAGES, chooseLanguage, inLanguage, whole } from "/console/translation.js";
import {
  TROUBLE,
  buildDetail,
  drawDetail,
  drawTile,
  makeTile,
  mood,
  openDetail,
  shownTable,
  whenTouched,
} from "./pit_table.js";
import { TEXT, WARNING, clock, time } from "./pit_words.js";

const LISTEN_AGAIN_MS = 2000;

const byId = (id) => document.getElementById(id);
const tables = new Map(); // "site/table" -> {view, heard, node}
let warnings = [];
let names = []; // of people who have taken note of something lately
let now = 0; // the centre's clock, as last told
let view = "all";

const inTrouble = (entry) => TROUBLE.includes(entry.view.state);
const VIEWS = {
  all: () => true,
  trouble: inTrouble,
  open: (entry) => entry.view.open,
  closed: (entry) => !entry.view.open,
};
const VIEW_WORDS = { all: TEXT.all, trouble: TEXT.in_trouble, open: TEXT.all_open, closed: TEXT.all_closed };

// Names with numbers in the order of the numbers.
const order = new Intl.Collator(LANGUAGE, { numeric: true });
const byName = (one, other) =>
  order.compare(one.view.site, other.view.site) || order.compare(one.view.table, other.view.table);
const worstFirst = (one, other) =>
  TROUBLE.indexOf(one.view.state) - TROUBLE.indexOf(other.view.state) || byName(one, other);
const openFirst = (one, other) => Number(other.view.open) - Number(one.view.open) || byName(one, other);

function take(message) {
  const told = JSON.parse(message.data);
  if (told.whole) for (const entry of tables.values()) entry.node.remove();
  if (told.whole) tables.clear();
  ({ now, warnings, names } = told);
  for (const [name, at] of Object.entries(told.heard)) {
    const entry = tables.get(name);
    if (entry) entry.heard = at;
  }
  for (const fresh of told.tables) {
    const name = `${fresh.site}/${fresh.table}`;
    const entry = tables.get(name) ?? { node: makeTile(fresh, open), heard: undefined };
    entry.view = fresh;
    entry.heard = told.heard[name] ?? entry.heard;
    tables.set(name, entry);
    drawTile(entry.node, fresh, entry.heard, now);
  }
  drawHead();
  drawWarnings();
  if (told.tables.length > 0) place();
  drawOpen();
  // Last: what failed on the way here must not look alive.
  document.body.dataset.wound = document.body.dataset.wound === "a" ? "b" : "a";
}

function open(site, table) {
  openDetail(site, table);
  drawOpen();
}

function drawOpen() {
  const shown = shownTable();
  const entry = shown && tables.get(shown.join("/"));
  const dead = warnings.filter((warning) => warning.dead).map(warningWords);
  if (entry) drawDetail(byId("detail"), entry.view, entry.heard, now, names, dead);
}

function drawHead() {
  const entries = [...tables.values()];
  const worst = entries.filter(inTrouble).map((entry) => mood(entry.view.state));
  byId("title").replaceChildren(TEXT.title, element("small", {}, TEXT.tables(entries.length)));
  byId("clock").textContent = clock(now);
  for (const [name, belongs] of Object.entries(VIEWS)) {
    const button = byId(`show-${name}`);
    button.setAttribute("aria-pressed", String(name === view));
    button.querySelector("b").textContent = whole(entries.filter(belongs).length);
  }
  const dead = warnings.some((warning) => warning.dead);
  byId("show-trouble").dataset.mood = dead || worst.includes("alarm") ? "alarm" : worst.length > 0 ? "mind" : "";
  // How many are in trouble, nobody can know then.
  if (dead) byId("show-trouble").querySelector("b").textContent = "?";
}

const warningWords = (warning) =>
  WARNING[warning.kind]({ ...warning, since: warning.since === undefined ? "" : time(warning.since, now) });

function drawWarnings() {
  const bars = warnings.map((warning) =>
    element(
      "p",
      {
        class: warning.dead ? "bar" : "bar mind",
        "data-testid": `warning-${warning.kind}`,
        "data-dead": warning.dead,
      },
      warningWords(warning),
    ),
  );
  const look = bars.map((bar) => bar.outerHTML).join("");
  // A bar that stands is not read out again every second.
  if (byId("warnings").innerHTML !== look) byId("warnings").replaceChildren(...bars);
  document.body.classList.toggle("dead", warnings.some((warning) => warning.dead));
}

/** Puts every tile that is shown where it belongs, and moves no other. */
function place() {
  const wanted = byId("filter").value.trim().toLowerCase();
  const shown = [...tables.values()].filter(
    (entry) => VIEWS[view](entry) && `${entry.view.site}/${entry.view.table}`.toLowerCase().includes(wanted),
  );
  const troubled = shown.filter(inTrouble).sort(worstFirst);
  byId("trouble").hidden = troubled.length === 0;
  fill(byId("trouble").querySelector(".tiles"), troubled);
  const sites = new Map();
  for (const entry of shown.filter((entry) => !inTrouble(entry)).sort(openFirst)) {
    if (!sites.has(entry.view.site)) sites.set(entry.view.site, []);
    sites.get(entry.view.site).push(entry);
  }
  const sorted = [...sites.entries()].sort(([one], [other]) => order.compare(one, other));
  inOrder(
    byId("sites"),
    sorted.map(([site, entries]) => section(site, entries)),
  );
  byId("none").hidden = shown.length > 0;
  byId("none").textContent = tables.size > 0 ? TEXT.none : TEXT.nothing;
}

function section(site, entries) {
  const known = byId("sites").querySelector(`[data-site="${CSS.escape(site)}"]`);
  const home =
    known ??
    element(
      "section",
      { "data-site": site },
      element("h2", {}, site, element("small")),
      element("div", { class: "tiles", "data-testid": `site-${site}` }),
    );
  // Of the whole casino: its tables in trouble stand above.
  const all = [...tables.values()].filter((entry) => entry.view.site === site);
  home.querySelector("small").textContent = TEXT.open_of(all.filter((entry) => entry.view.open).length, all.length);
  fill(home.querySelector(".tiles"), entries);
  return home;
}

const fill = (home, entries) =>
  inOrder(
    home,
    entries.map((entry) => entry.node),
  );

function inOrder(home, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...home.children]) if (!wanted.has(child)) child.remove();
  nodes.forEach((node, at) => {
    if (home.children[at] !== node) home.insertBefore(node, home.children[at] ?? null);
  });
}

/** The tile that lies nearest in a direction, as the arrow keys go. */
function neighbour(tile, key) {
  const from = tile.getBoundingClientRect();
  const ahead = {
    ArrowRight: (box) => box.left - from.left,
    ArrowLeft: (box) => from.left - box.left,
    ArrowDown: (box) => box.top - from.top,
    ArrowUp: (box) => from.top - box.top,
  }[key];
  const aside = key === "ArrowLeft" || key === "ArrowRight" ? "top" : "left";
  let best = null;
  for (const other of document.querySelectorAll(".tile")) {
    const box = other.getBoundingClientRect();
    const far = ahead(box) + 3 * Math.abs(box[aside] - from[aside]);
    if (ahead(box) > 1 && (best === null || far < best.far)) best = { other, far };
  }
  return best?.other ?? null;
}

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || byId("detail").open) return;
  if (event.key === "/" && document.activeElement !== byId("filter")) {
    event.preventDefault();
    byId("filter").focus();
  } else if (event.key === "Escape" && document.activeElement === byId("filter")) {
    byId("filter").value = "";
    place();
  } else if (event.key.startsWith("Arrow") && !document.activeElement.matches("select")) {
    const active = document.activeElement;
    if (active === byId("filter") && event.key !== "ArrowDown") return;
    const next = active.matches(".tile") ? neighbour(active, event.key) : document.querySelector(".tile");
    if (next === null) return;
    event.preventDefault();
    next.focus();
  }
}

function listen() {
  const stream = new EventSource(inLanguage("/api/stream"));
  stream.onmessage = take;
  stream.onerror = () => {
    // After an answer that was no stream, a browser gives up for good.
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, LISTEN_AGAIN_MS);
  };
}

function build() {
  document.documentElement.lang = LANGUAGE;
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = TEXT[node.dataset.text];
  byId("title").textContent = TEXT.title;
  byId("none").textContent = TEXT.loading;
  byId("none").hidden = false;
  byId("filter").placeholder = `${TEXT.filter} /`;
  byId("filter").setAttribute("aria-label", TEXT.filter);
  byId("filter").addEventListener("input", place);
  byId("language").setAttribute("aria-label", TEXT.language);
  byId("language").append(
    ...Object.entries(LANGUAGES).map(([name, called]) =>
      element("option", { value: name, selected: name === LANGUAGE }, called),
    ),
  );
  byId("language").addEventListener("change", (event) => chooseLanguage(event.target.value));
  byId("views").append(
    ...Object.entries(VIEW_WORDS).map(([name, words]) => {
      const choose = () => {
        view = name;
        drawHead();
        place();
      };
      const look = { id: `show-${name}`, type: "button", "data-testid": `show-${name}`, onclick: choose };
      return element("button", look, words, element("b", {}, "0"));
    }),
  );
  buildDetail(byId("detail"));
  whenTouched(drawOpen);
  document.addEventListener("keydown", onKey);
  // Winds the switch up once, so that a service that never speaks is said as well.
  document.body.dataset.wound = "a";
  listen();
}

build();
