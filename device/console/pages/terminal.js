// What the console and the virtual table share: following the terminal's state, sending an action once, drawing a die.
// No words for the screen here; each page has its own table of strings.

import { pageHeaders } from "./sign_in.js";
import { inLanguage } from "./translation.js";

const POLL_EVERY_MS = 1000;
// Longer than the silence that counts: a slow answer is an answer, and giving up on it would only ask again.
const POLL_TIMEOUT_MS = 4000;
const SILENCE_MAX_MS = 2000;
const SEND_TIMEOUT_MS = 3000;
const SEND_FOR_MS = 10000;
const SEND_PAUSE_MS = 300;

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children. Text becomes a text node, so markup in a name stays text. */
export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function svgElement(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "onclick") node.addEventListener("click", value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const PIPS = {
  1: [[2, 2]],
  2: [
    [1, 1],
    [3, 3],
  ],
  3: [
    [1, 1],
    [2, 2],
    [3, 3],
  ],
  4: [
    [1, 1],
    [1, 3],
    [3, 1],
    [3, 3],
  ],
  5: [
    [1, 1],
    [1, 3],
    [2, 2],
    [3, 1],
    [3, 3],
  ],
  6: [
    [1, 1],
    [1, 2],
    [1, 3],
    [3, 1],
    [3, 2],
    [3, 3],
  ],
};

/** A die face, value 1 to 6, as SVG. Its size comes from the style sheet. */
export function drawDie(value) {
  const die = svgElement("svg", {
    class: "die",
    viewBox: "0 0 100 100",
    role: "img",
    "aria-label": value,
    "data-value": value,
  });
  die.append(svgElement("rect", { x: 3, y: 3, width: 94, height: 94, rx: 18 }));
  for (const [column, row] of PIPS[value]) die.append(svgElement("circle", { cx: column * 25, cy: row * 25, r: 10.5 }));
  return die;
}

/** Tells the page's watchdog (watchdog.js), where it has one, that all that there is to draw has been drawn. */
export function giveSignOfLife() {
  globalThis.signOfLife?.();
}

/** An id for one action: 32 hexadecimal digits. randomUUID exists only where the browser trusts the origin. */
export function freshId() {
  if (crypto.randomUUID) return crypto.randomUUID().replaceAll("-", "");
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Posts an action and answers {outcome, body}: "done" (200), "refused" (409), "invalid" (another 4xx), "halted" (503), or
 * "unreachable" when no answer came for ten seconds. The same body, so the same id, is sent again after a failure:
 * the terminal does a repeated action once, hence a lost answer does nothing twice. `once`: not sent again, for what
 * has no id; then `forMs` is how long its answer is waited for. `signed`: it is done by whoever has signed in on this page.
 */
export async function send(path, body, { once = false, signed = false, forMs = SEND_FOR_MS } = {}) {
  const until = performance.now() + SEND_FOR_MS;
  do {
    try {
      const answer = await fetch(inLanguage(path), {
        method: "POST",
        headers: { "Content-Type": "application/json", ...(signed ? pageHeaders() : {}) },
        body: JSON.stringify(body),
        cache: "no-store",
        signal: AbortSignal.timeout(once ? forMs : SEND_TIMEOUT_MS),
      });
      const content = await answer.json();
      if (answer.ok) return { outcome: "done", body: content };
      if (answer.status === 409) return { outcome: "refused", body: content };
      if (answer.status === 503 && "halted" in content) return { outcome: "halted", body: content };
      if (answer.status < 500 && answer.status !== 429) return { outcome: "invalid", body: content };
    } catch {
      // No answer, or one cut short: the terminal may or may not have acted. The same id goes out again, as it does
      // when the terminal is busy (429).
    }
    if (once) break;
    await pause(SEND_PAUSE_MS);
  } while (performance.now() < until);
  return { outcome: "unreachable", body: null };
}

/** One GET that answers the JSON, or throws; `forMs` is how long the answer is waited for. */
export async function get(path, { forMs = POLL_TIMEOUT_MS } = {}) {
  const answer = await fetch(inLanguage(path), {
    headers: pageHeaders(),
    cache: "no-store",
    signal: AbortSignal.timeout(forMs),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  // The table is commissioned: what takes the terminal's place sends everyone there.
  if (answer.redirected) throw Object.assign(new Error(`${path}: has moved`), { elsewhere: answer.url });
  return answer.json();
}

/**
 * Follows the terminal: onState(state) for every state that comes, onReach(reachable) when that changes, and
 * onElsewhere(url) while another page has taken the terminal's place.
 * The stream tells of changes at once. A browser does not show its heartbeat to a page, so a cheap poll stands guard: two
 * seconds without a stream message and without an answered poll, and the terminal counts as out of reach. One answered
 * poll, and it is back, whatever the stream does.
 */
export function followState({ onState, onReach, onElsewhere = (url) => location.assign(url) }) {
  let heardAt = performance.now();
  let messages = 0;
  let reachable = null;
  let stream = null;
  // The last event of the newest state that was shown, as long as the stream is the same.
  let shownSeq = 0;

  const show = (state) => {
    shownSeq = state.seq;
    onState(state);
    giveSignOfLife();
  };
  const heard = () => {
    heardAt = performance.now();
    look();
  };
  const look = () => {
    const now = performance.now() - heardAt < SILENCE_MAX_MS;
    if (now !== reachable) {
      reachable = now;
      onReach(now);
    }
    // A page that says that nobody answers lives.
    if (!now) giveSignOfLife();
  };
  const listen = () => {
    stream = new EventSource(inLanguage("/api/stream"));
    stream.onmessage = (message) => {
      messages += 1;
      heard();
      const state = JSON.parse(message.data);
      // On a busy machine the stream brings what is older than an answered poll; the page does not go back to it.
      if (state.seq >= shownSeq) show(state);
    };
    // After a start it may be another journal that is read.
    stream.onerror = () => {
      shownSeq = 0;
    };
  };
  const poll = async () => {
    const before = messages;
    const state = await get("/api/state").catch(({ elsewhere }) => {
      if (elsewhere) onElsewhere(elsewhere);
      return null;
    });
    setTimeout(poll, POLL_EVERY_MS);
    // Silence is measured by look().
    if (state === null) return;
    heard();
    // What the stream said meanwhile is newer than this answer.
    if (messages === before) show(state);
    // After an answer that was no stream, a browser gives up for good: listen again.
    if (stream.readyState === EventSource.CLOSED) listen();
  };
  listen();
  poll();
  setInterval(look, 100);
}
