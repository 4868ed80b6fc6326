// The address of the page for others: in other languages than the language of the texts the address
// of its short form, which leads to it.

import { language } from "./i18n.js";

export const link = () => {
  const { origin, pathname, search, hash } = location;
  const page = pathname.replace(/\/$/, "/index.html");
  return origin + (language === "en" ? pathname : page.replace(/(\.html)?$/, `.${language}$1`)) + search + hash;
};
