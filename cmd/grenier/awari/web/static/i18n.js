// The language of the page. Texts are written in English where they are used; another
// language is a module like fr.js that has a translation for each of them.

import { fr } from "./fr.js";
import { lent, recall } from "./memory.js";

const languages = { en: {}, fr };

export const LANGUAGES = { en: "English", fr: "Français" };

export const language = choose();

const plural = new Intl.PluralRules(language);

// The language of the link that led here, else the one that was chosen on this page, or the first
// of the reader's that there is.
function choose() {
  const wanted = [lent("lang"), recall("language"), ...navigator.languages].map((l) => l?.slice(0, 2));
  return wanted.find((l) => l in languages) ?? "en";
}

// A text in the language of the page. {name} stands for one of the values.
export function t(text, values = {}) {
  const pattern = languages[language][text] ?? text;
  return pattern.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

// The text for one, or for many.
export function tn(n, one, many, values = {}) {
  return t(plural.select(n) === "one" ? one : many, { n, ...values });
}

export const number = new Intl.NumberFormat(language);

const tenth = new Intl.NumberFormat(language, { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });

// A share as text, to a tenth of a percent.
export const percent = (share) => tenth.format(share);

// A text with its numbers, which are written as in English, as the language writes them.
export function figures(text) {
  return text.replace(/\d[\d,]*(?:\.(\d+))?/g, (n, decimals = "") => {
    const digits = { minimumFractionDigits: decimals.length, maximumFractionDigits: decimals.length };
    return new Intl.NumberFormat(language, digits).format(Number(n.replaceAll(",", "")));
  });
}

// Translates the words of the document itself: the texts of elements with data-t, and the
// attributes that data-t-attributes lists.
export function translate() {
  document.documentElement.lang = language;
  for (const e of document.querySelectorAll("[data-t]")) e.textContent = t(e.textContent.replace(/\s+/g, " ").trim());
  for (const e of document.querySelectorAll("[data-t-attributes]")) {
    for (const name of e.dataset.tAttributes.split(" ")) e.setAttribute(name, t(e.getAttribute(name)));
  }
}
