// Who has signed in on this page: the word that shows it, which goes along with every question and with what they do
// themselves, not with what is done at the boxman's screen while they are signed in (the cookie goes along with all, so
// it shows nothing). It lasts as long as the tab, and the terminal forgets it sooner.

const KEPT = "boxman-page";

const word = () => sessionStorage.getItem(KEPT);

/** What a request carries to be known as of whoever has signed in on this page. */
export function pageHeaders() {
  return word() === null ? {} : { "X-Boxman-Page": word() };
}

/**
 * What ask() answers; null where it fails, and where somebody has signed in or out meanwhile: it is of before that.
 */
export async function asIHaveSignedIn(ask) {
  const before = word();
  const told = await ask().catch(() => null);
  return word() === before ? told : null;
}

/** Somebody has signed in here and got this word; null: nobody is signed in any more. */
export function keepWord(word) {
  if (word === null) sessionStorage.removeItem(KEPT);
  else sessionStorage.setItem(KEPT, word);
}

/** Whether somebody may be signed in here. */
export const mayBeSignedIn = () => word() !== null;
