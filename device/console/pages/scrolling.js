// Lists that are longer than their place: a button says how much lies below the edge and turns the page.

import { TEXT } from "./console_text.js";
import { element } from "./terminal.js";

/**
 * Gives `list` its button: hidden while everything is in sight, "▼ 10 more" while rows lie below, "▲" at the end.
 * `rows()` are what is counted; they are children of the list at some depth. The button is placed by the caller.
 */
export function pageBy(list, more, rows = () => list.children) {
  const look = () => {
    const edge = list.getBoundingClientRect().bottom;
    const fits = list.scrollHeight <= list.clientHeight + 4;
    const below = [...rows()].filter((row) => row.getBoundingClientRect().bottom > edge + 4).length;
    more.hidden = fits;
    if (more.dataset.below === String(below)) return;
    more.dataset.below = below;
    // Where it is narrow, the style sheet leaves the word out.
    if (below > 0) more.replaceChildren(TEXT.below(below), element("span", {}, TEXT.more));
    else more.replaceChildren(TEXT.back_to_top);
  };
  more.addEventListener("click", () => {
    const end = list.scrollTop + list.clientHeight >= list.scrollHeight - 4;
    // A row that was cut at the edge comes whole on the next page.
    const page = Math.max(list.clientHeight - 32, list.clientHeight / 2);
    list.scrollTop = end ? 0 : list.scrollTop + page;
    look();
  });
  list.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(list);
  new MutationObserver(look).observe(list, { childList: true, subtree: true, attributes: true });
  return look;
}
