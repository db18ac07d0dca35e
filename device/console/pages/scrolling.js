// Lists that are longer than their place: a button says how much lies below the edge and turns the page.

import { TEXT } from "./console_text.js";
import { element } from "./terminal.js";

/**
 * Gives `list` its button: hidden while everything is in sight, "▼ 10 more" while rows lie below, "▲" at the end.
 * `rows()` are what is counted; they are children of the list at some depth. The button is placed by the caller.
 * `whole`: a row that is cut through at an edge is not shown; it comes with the next page. `cut()` are those rows;
 * head(row) is how much of the list's top a heading covers, in px, where that row is.
 */
export function pageBy(
  list,
  more,
  rows = () => list.children,
  { whole = false, cut = () => list.children, head = () => 0 } = {},
) {
  const look = () => {
    const { top, bottom: edge } = list.getBoundingClientRect();
    const fits = list.scrollHeight <= list.clientHeight + 4;
    const isBelow = (row) => row.getBoundingClientRect().bottom > edge + 4;
    if (whole) {
      const places = [...cut()].map((row) => [row, row.getBoundingClientRect()]);
      const someFit = places.some(([, row]) => row.top >= top - 4 && row.bottom <= edge + 4);
      for (const [row, { top: from, bottom: to }] of places) {
        const upper = top + head(row);
        const isCut = (from < edge - 1 && to > edge + 4) || (from < upper - 4 && to > upper + 1);
        // One that is higher than the list is never whole.
        row.toggleAttribute("data-cut", someFit && isCut && to - from <= edge - upper);
      }
    }
    const below = [...rows()].filter(isBelow).length;
    more.hidden = fits;
    if (more.dataset.below === String(below)) return;
    more.dataset.below = below;
    // Where it is narrow, the style sheet leaves the word out.
    if (below > 0) more.replaceChildren(TEXT.below(below), element("span", {}, ` ${TEXT.more}`));
    else more.replaceChildren(TEXT.back_to_top);
  };
  // A list of rows that nobody can touch is turned by a keyboard as well.
  list.tabIndex = 0;
  more.addEventListener("click", () => {
    const { top, bottom: edge } = list.getBoundingClientRect();
    const end = list.scrollTop + list.clientHeight >= list.scrollHeight - 4;
    const next = [...rows()].find((row) => row.getBoundingClientRect().bottom > edge + 4);
    const rise = next ? next.getBoundingClientRect().top - head(next) - top : 0;
    // A row that was cut at the edge comes whole on the next page; one that is higher than a page, page by page.
    const page = rise > 4 ? rise : Math.max(list.clientHeight - 32, list.clientHeight / 2);
    list.scrollTop = end ? 0 : list.scrollTop + page;
    look();
  });
  list.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(list);
  new MutationObserver(look).observe(list, { childList: true, subtree: true, attributes: true });
  return look;
}
