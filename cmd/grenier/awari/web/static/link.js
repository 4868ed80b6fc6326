// The address of the page for others. A published site has another file of this name (../site).

import { language } from "./i18n.js";

// With its language, if that is not the one of the texts.
export const link = () => {
  const { origin, pathname, search, hash } = location;
  return origin + pathname + (language === "en" ? search : `${search || "?"}${search ? "&" : ""}lang=${language}`) + hash;
};
