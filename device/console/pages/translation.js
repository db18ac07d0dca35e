// The page's words in its language: English words are looked up in the catalogue of the language (/words.js), as gettext
// does; where there is none, they stand as they are. The catalogues are in device/languages.

import { LANGUAGE, LANGUAGES, LOCALE, WORDS } from "/words.js";

export { LANGUAGE, LANGUAGES, LOCALE };

const CONTEXT_END = "\u0004";
const YEAR_S = 365 * 24 * 3600;

const filled = (words, parts) => words.replace(/\{(\w+)\}/g, (_, name) => parts[name]);

/** The words of English ones, parts in braces filled in: t("Roll {number}", { number }). */
export function t(english, parts = {}) {
  return filled(WORDS[english] ?? english, parts);
}

/** The same for words that mean different things in different places. */
export function tc(context, english, parts = {}) {
  return filled(WORDS[context + CONTEXT_END + english] ?? english, parts);
}

/** The words of what is counted: tn("1 bet", "{count} bets", count). A language has one form, or one for 1 and one for others. */
export function tn(one, others, count, parts = {}) {
  const forms = WORDS[one] ?? [one, others];
  return filled(count === 1 ? forms[0] : forms.at(-1), { count: whole(count), ...parts });
}

const wholeNumbers = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });

/** A whole number, such as an amount in chip units, as the locale writes it. */
export function whole(number) {
  return wholeNumbers.format(number);
}

/** A number as the locale writes it: with so many decimals, or with those that it has. */
export function decimal(number, places) {
  return new Intl.NumberFormat(LOCALE, { minimumFractionDigits: places, maximumFractionDigits: places ?? 3 }).format(number);
}

/** The path of a request that is to be answered in the page's language; without one, the terminal answers in English. */
export function inLanguage(path) {
  if (LANGUAGE === "en") return path;
  return `${path}${path.includes("?") ? "&" : "?"}language=${LANGUAGE}`;
}

/** Takes another language for this browser, from now on. */
export function chooseLanguage(language) {
  document.cookie = `language=${language}; path=/; max-age=${YEAR_S}; samesite=strict`;
  location.reload();
}
