// The commissioning of a table: one step at a time, which passes by itself when it is seen. The terminal knows the
// steps and keeps what they came to; the page shows it and sends what the technician says.

import { button, byId, dayTime, draw, hideNotice, notice, render, whenChanged } from "./console_state.js";
import { picture } from "./commission_picture.js";
import { TEXT } from "./commission_text.js";
import { longName } from "./hardware.js";
import { buildAsk, ask, isAsking, keyInAsk } from "./supervisor_ask.js";
import { element, get, giveSignOfLife, send } from "./terminal.js";
import { LANGUAGE } from "./translation.js";

const PATH = "/api/commissioning";
const ASK_AGAIN_MS = 1000; // of a terminal, which does not wait until there is something new
const TRY_AGAIN_MS = 500;
const WHY_MAX = 200;
// The report's name ends with the time of its end: …-20261130T040506Z.html
const REPORT_TIME = /(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/;

let view = null; // what the terminal told last
let reachable = true;
let dialog = null; // {kind, step}: what is being asked, and which step it is about
let name = null; // of who begins, where nobody signs in
let handing = null; // what is said while the terminal and the commissioning take turns
let sending = false;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const stepOf = (one) => view.steps.find((step) => step.name === one);
const named = (names) => names.map(longName).join(", ");

/** Asks what is new, for as long as the page is open. */
async function follow() {
  for (;;) {
    const told = await get(view === null ? PATH : `${PATH}?version=${view.version}`).catch(() => null);
    reachable = told !== null;
    if (told !== null) take(told);
    render();
    giveSignOfLife();
    if (told === null) await pause(TRY_AGAIN_MS);
    else if (told.mode === "terminal") await pause(ASK_AGAIN_MS);
  }
}

function take(told) {
  // The table plays again.
  if (view?.mode === "commissioning" && told.mode === "terminal") location.assign("/");
  if (view?.mode !== told.mode) handing = null;
  view = told;
  if (dialog !== null && dialog.step !== (view.now?.step ?? null)) closeDialog();
}

async function doIt(deed, more = {}) {
  if (sending) return null;
  sending = true;
  const answer = await send(PATH, { do: deed, ...more }, { once: true });
  sending = false;
  if (answer.outcome === "done") hideNotice();
  else tellNotDone(answer);
  return answer;
}

function tellNotDone({ outcome, body }) {
  notice(body?.message ?? TEXT.not_reached, body?.refused ?? outcome);
}

const doOfStep = (deed, more = {}) => doIt(deed, { step: view.now.step, ...more });

async function leave() {
  closeDialog();
  handing = TEXT.starting;
  const answer = await doIt("leave");
  if (answer?.outcome !== "done") handing = null;
  render();
}

// Beginning

async function begin() {
  handing = TEXT.beginning;
  render();
  const who = view.sign_in || view.name ? {} : { name };
  const answer = await send(PATH, { table: view.table, ...who }, { once: true, signed: true });
  if (answer.outcome === "done") return;
  handing = null;
  tellNotDone(answer);
  render();
}

function askName() {
  ask({ title: TEXT.name, kind: "names", value: name ?? "", length: 40 }, (text) => {
    name = text || null;
  });
}

/** What keeps it from beginning; null: nothing does. */
function obstacle() {
  if (view.open) return TEXT.is_open;
  if (!view.may) return TEXT.sign_in_first;
  return view.sign_in || view.name || name ? null : TEXT.name_missing;
}

function reportRow(file) {
  const [, year, month, day, hour, minute, second] = REPORT_TIME.exec(file);
  const time = dayTime(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  const link = (path, words, more = {}) =>
    element("a", { class: "page-link", href: `/commission/report/${path}`, "data-testid": `report-${path}`, ...more }, words);
  return element(
    "li",
    {},
    link(file, TEXT.report_of(time), { target: "_blank" }),
    link(file.replace(".html", ".json"), "JSON", { download: "" }),
  );
}

function drawBegin() {
  draw("begin", [view, name, handing], () => {
    const why = obstacle();
    const { begun, fault } = view;
    const goesOn = begun?.same_configuration && begun.done > 0;
    const before = begun === null || (begun.same_configuration && begun.done === 0) ? "" : goesOn ? TEXT.goes_on(dayTime(begun.at), begun.done) : TEXT.anew(dayTime(begun.at));
    byId("begin-title").textContent = TEXT.begin_title;
    byId("begin-about").textContent = TEXT.begin_about;
    byId("begin-says").replaceChildren(
      ...[handing ?? why, before, fault].filter(Boolean).map((said) => element("span", {}, said)),
    );
    byId("begin-deeds").replaceChildren(
      ...[
        view.sign_in && !view.may
          ? element("a", { class: "page-link", href: "/supervisor", "data-testid": "begin-sign-in" }, TEXT.sign_in)
          : null,
        view.sign_in || view.name
          ? null
          : button("begin-name", name === null ? TEXT.name : TEXT.name_is(name), askName, { className: "named" }),
        button("begin-now", goesOn ? TEXT.go_on : TEXT.begin, begin, { className: "primary" }),
      ].filter(Boolean),
    );
    byId("begin-deeds").lastChild.disabled = why !== null || handing !== null || fault !== null;
    byId("reports").replaceChildren(...view.reports.map(reportRow));
  });
}

// A step

function hint() {
  const { unread, begins_wrong: wrong, others, kind, wanted } = view.now;
  if (unread !== null) return TEXT.unread(unread);
  if (others.length > 0) return TEXT.others(named(others));
  if (wrong) return TEXT.contrary;
  return kind === "network" && wanted === "plugged" ? view.centre_error : null;
}

function answers() {
  const { asked, wanted } = view.now;
  if (!asked) return [];
  if (wanted === "turned") return [button("answer-yes", TEXT.lies_there, () => doOfStep("yes"), { className: "primary" })];
  return [
    button("answer-no", TEXT.not_lit, () => doOfStep("no")),
    button("answer-yes", TEXT.lit, () => doOfStep("yes"), { className: "primary" }),
  ];
}

function drawStep() {
  const { now } = view;
  draw("step", [now, view.centre_error], () => {
    const step = stepOf(now.step);
    byId("step").dataset.step = now.step;
    byId("step").dataset.wanted = now.wanted;
    byId("picture").replaceChildren(picture(now));
    byId("what").replaceChildren(step.text, ...(step.pin === null ? [] : [" ", element("small", {}, step.pin)]));
    byId("do").textContent = TEXT.do({ ...now, place: now.place.toUpperCase() });
    byId("hint").textContent = hint() ?? "";
    byId("hint").hidden = hint() === null;
    byId("answers").replaceChildren(...answers());
  });
}

function outcomeOf(step) {
  const why = {
    also: () => TEXT.also(named(step.names)),
    both_faces: () => TEXT.both_faces(named(step.names)),
    not_lit: () => TEXT.was_not_lit,
    said: () => step.said,
  }[step.reason]?.();
  const bounce = step.bounce_us === null || step.verdict === "skipped" ? null : TEXT.bounce(step.bounce_us);
  return [TEXT[step.verdict], why, bounce].filter(Boolean).join(", ");
}

function drawLast() {
  const step = view.last === null ? null : stepOf(view.last);
  byId("last").hidden = step === null || view.now === null;
  draw("last", [step], () => {
    if (step === null) return;
    byId("last").dataset.verdict = step.verdict;
    byId("last").textContent = `${step.text}: ${outcomeOf(step)}`;
  });
}

// At the end

function drawReview() {
  const { steps, finished } = view;
  draw("review", [steps, finished, handing], () => {
    const of = (verdict) => steps.filter((step) => step.verdict === verdict);
    const [failed, skipped, passed] = ["failed", "skipped", "passed"].map(of);
    byId("review").dataset.finished = String(finished !== null);
    byId("outcome").textContent =
      passed.length === steps.length ? TEXT.all_passed : TEXT.counted(failed.length, skipped.length, passed.length);
    byId("outcome").dataset.verdict = failed.length ? "failed" : skipped.length ? "skipped" : "passed";
    const row = (step) =>
      element(
        "li",
        { "data-verdict": step.verdict },
        element("span", {}, element("b", {}, step.text), " ", element("span", { class: "named" }, outcomeOf(step))),
        finished === null ? button(`again-${step.name}`, TEXT.again, () => doIt("again", { step: step.name })) : null,
      );
    byId("not-passed").replaceChildren(...[...failed, ...skipped].map(row));
    byId("finished").replaceChildren(...(finished === null ? [] : finishedParts(finished)));
    byId("review-deeds").replaceChildren(
      ...(finished === null
        ? [
            button("review-back", TEXT.back, () => doIt("back")),
            button("review-leave", TEXT.leave, () => openDialog("leave")),
            button("finish", TEXT.finish, () => doIt("finish"), { className: "primary" }),
          ]
        : [
            element("a", { class: "page-link", href: `/commission/report/${finished.report}`, target: "_blank", "data-testid": "print" }, TEXT.print),
            button("start", handing ?? TEXT.start, leave, { className: "primary" }),
          ]),
    );
  });
}

function finishedParts({ key, seq, timing, replace }) {
  return [
    element("p", { "data-testid": "signed" }, TEXT.signed, " ", element("code", {}, key)),
    element("p", {}, TEXT.event(seq)),
    ...(timing.length ? [element("p", { class: "mind" }, TEXT.timing), element("pre", { "data-testid": "timing" }, timing.join("\n"))] : []),
    ...replace.map((one) => element("p", { class: "mind" }, TEXT.replace(longName(one)))),
  ];
}

// What is asked over the page

function openDialog(kind) {
  dialog = { kind, step: view.now?.step ?? null };
  render();
  byId("dialog-choices").firstChild.focus();
}

function closeDialog() {
  dialog = null;
}

function because(kind, why) {
  closeDialog();
  if (kind === "end") doIt("end", { why });
  else doOfStep(kind, { why });
  render();
}

function askWhy({ kind, step }) {
  ask({ title: TEXT[`${kind}_title`], kind: "sentence", length: WHY_MAX }, (text) => {
    // While the words were found, the step may have come to its end.
    if (text && (kind === "end" || view.now?.step === step)) because(kind, text);
  });
}

function drawDialog() {
  byId("dialog").hidden = dialog === null;
  byId("page").inert = dialog !== null || isAsking();
  draw("dialog", [dialog], () => {
    if (dialog === null) return;
    const asked = dialog;
    byId("dialog").dataset.kind = asked.kind;
    byId("dialog-title").textContent = TEXT[`${asked.kind}_title`];
    const stay = button("dialog-cancel", TEXT.stay, () => {
      closeDialog();
      render();
    });
    byId("dialog-choices").replaceChildren(
      ...(asked.kind === "leave"
        ? [
            button("leave-now", TEXT.leave_now, leave),
            ...(asked.step === null ? [] : [button("end-here", TEXT.end_here, () => openDialog("end"))]),
          ]
        : [
            ...TEXT.reasons[asked.kind].map((why, index) => button(`reason-${index + 1}`, why, () => because(asked.kind, why))),
            button("reason-other", TEXT.other_words, () => askWhy(asked)),
          ]),
      stay,
    );
  });
}

// The page

function drawPage() {
  byId("offline").hidden = reachable;
  if (view === null) return;
  const trying = view.mode === "commissioning";
  byId("title").textContent = TEXT.title(view.table);
  byId("by").textContent = trying ? view.by : (view.name ?? "");
  byId("links").hidden = trying;
  byId("strip").hidden = !trying;
  byId("begin").hidden = trying;
  byId("step").hidden = !trying || view.now === null;
  byId("deeds").hidden = byId("step").hidden;
  byId("review").hidden = !trying || view.now !== null;
  byId("progress").hidden = byId("step").hidden;
  if (!trying) {
    byId("last").hidden = true;
    closeDialog();
    drawBegin();
  } else {
    drawStrip();
    drawLast();
    if (view.now === null) drawReview();
    else drawStep();
  }
  drawDialog();
}

function drawStrip() {
  const at = view.steps.findIndex(({ name: one }) => one === view.now?.step);
  draw("strip", [view.steps.map(({ verdict }) => verdict), at], () => {
    const said = TEXT.progress(at < 0 ? view.steps.length : at + 1, view.steps.length);
    byId("progress").textContent = said;
    byId("strip").setAttribute("aria-label", said);
    byId("strip").replaceChildren(
      ...view.steps.map(({ verdict }, index) => element("i", { "data-verdict": verdict ?? "", "data-now": index === at })),
    );
  });
}

const KEYS = {
  Enter: ["answer-yes"],
  y: ["answer-yes"],
  n: ["answer-no"],
  b: ["back", "review-back"],
  s: ["skip"],
  f: ["fail"],
  q: ["leave", "review-leave"],
};

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (isAsking()) {
    keyInAsk(event);
    return;
  }
  if (event.key === "Escape") {
    hideNotice();
    closeDialog();
    render();
    return;
  }
  // A button that the keyboard has come to is pressed by Enter itself.
  if (event.key === "Enter" && event.target.closest("button, a")) return;
  if (dialog !== null || event.repeat) return;
  const targets = (KEYS[event.key] ?? []).map((one) => document.querySelector(`[data-testid="${one}"]`));
  const target = targets.find((one) => one?.checkVisibility());
  if (target !== undefined) {
    event.preventDefault();
    target.click();
  }
}

function build() {
  document.documentElement.lang = LANGUAGE;
  byId("offline").textContent = TEXT.offline;
  byId("links").append(element("a", { class: "page-link", href: "/", "data-testid": "to-console" }, TEXT.to_console));
  byId("deeds").append(
    button("back", TEXT.back, () => doIt("back")),
    button("skip", TEXT.skip, () => openDialog("skip")),
    button("fail", TEXT.fail, () => openDialog("fail")),
    button("leave", TEXT.leave, () => openDialog("leave")),
  );
  byId("notice-text").addEventListener("click", hideNotice);
  document.addEventListener("keydown", onKey);
  document.addEventListener("contextmenu", (event) => event.preventDefault());
  buildAsk();
}

whenChanged(drawPage);
build();
follow();
