// Bets that another program proposes: one at a time, the oldest first, taken or left at one touch. Nothing of them is
// booked before that, and the next roll ends them.

import { TEXT } from "./console_text.js";
import {
  act,
  betName,
  button,
  byId,
  draw,
  isPosition,
  money,
  render,
  rulesRead,
  setAvailable,
  state,
} from "./console_state.js";
import { element } from "./terminal.js";

// A finger that was on its way, or lands twice, meant what stood there before: what comes after it is not answered yet.
const REST_MS = 600;

let answers = []; // the two buttons
let shown = null; // the proposal that stands there
let restTimer = 0;

function rest() {
  const letAnswer = (may) => answers.forEach((node) => setAvailable(node, may));
  letAnswer(false);
  clearTimeout(restTimer);
  restTimer = setTimeout(() => {
    letAnswer(true);
    render();
  }, REST_MS);
}

function answer(way, { source, proposal }) {
  act(`/api/proposals/${way}`, { source, proposal }, TEXT.actions[way](source));
}

/** A player's bets in one line: "Place 6 30, Field 5". */
const spoken = (bets) => bets.map((bet) => `${betName(bet)} ${money(bet.amount)}`).join(", ");

export function renderProposals() {
  const { proposals } = state;
  const bar = byId("proposals");
  bar.hidden = proposals.length === 0;
  const [first, ...more] = proposals;
  const key = first ? JSON.stringify([first.source, first.proposal]) : null;
  if (key !== null && key !== shown) rest();
  shown = key;
  if (first === undefined) {
    delete bar.dataset.proposal;
    return;
  }
  bar.dataset.proposal = first.proposal;
  draw("proposals", [first, more.length, rulesRead], () => {
    const players = [...new Set(first.bets.map(({ player }) => player))];
    byId("proposals-bets").replaceChildren(
      ...players.map((player) => {
        const bets = first.bets.filter((bet) => bet.player === player);
        const named = isPosition(player) ? null : "named";
        return element("span", {}, element("b", { class: named }, TEXT.proposal_of(first.source, player)), ` ${spoken(bets)}`);
      }),
    );
    // Of many bets not all are to be read in the bar: what is accepted is said whole.
    const sum = first.bets.reduce((total, { amount }) => total + amount, 0);
    answers[0].replaceChildren(TEXT.accept, element("small", {}, TEXT.proposal_sum(first.bets.length, money(sum))));
    byId("proposals-more").textContent = more.length ? TEXT.proposal_more(more.length) : "";
  });
}

export function buildProposals() {
  const first = () => state.proposals[0];
  const touched = (way) => () => {
    if (first()) answer(way, first());
  };
  answers = [
    button("proposal-accept", TEXT.accept, touched("accept"), { entry: true, className: "primary" }),
    button("proposal-refuse", TEXT.do_not_accept, touched("refuse"), { entry: true }),
  ];
  byId("proposals").append(
    element("p", { id: "proposals-bets" }),
    element("small", { id: "proposals-more" }),
    ...answers,
  );
}
