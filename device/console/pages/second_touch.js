// Buttons whose touch takes much away ask once more: the second touch within three seconds does it.

const ASK_MS = 3000;

/**
 * A touch on `node` shows ask(); a second one on the same button, while subject() is still the same, does it.
 * `words()` are the button's own. Both give a text or an element. `lapsed()`: nothing was done, the second did not come.
 */
export function onSecondTouch(node, { subject, words, ask, act, lapsed = () => {} }) {
  let asked = null;
  let timer = 0;
  const calm = () => {
    clearTimeout(timer);
    asked = null;
    node.removeAttribute("data-asking");
    node.replaceChildren(words());
  };
  node.addEventListener("click", () => {
    const now = JSON.stringify(subject());
    if (asked === now) {
      calm();
      act();
      return;
    }
    clearTimeout(timer);
    asked = now;
    node.setAttribute("data-asking", "");
    node.replaceChildren(ask());
    timer = setTimeout(() => {
      calm();
      lapsed();
    }, ASK_MS);
  });
  node.replaceChildren(words());
}
