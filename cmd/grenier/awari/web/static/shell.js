// The common part of all pages: their language, the choice of it, and the worker that keeps them
// for times without the server.

import { LANGUAGES, language, translate } from "./i18n.js";
import { giveBack, remember } from "./memory.js";
import { KEPT, WORKER } from "./source.js";

const LATER = 2000; // ms until the worker is started: the page itself comes first

translate();

const choice = document.getElementById("language");
choice.append(...Object.entries(LANGUAGES).map(([code, name]) => new Option(name, code)));
choice.value = language;
choice.addEventListener("change", () => {
  remember("language", choice.value);
  giveBack("lang");
  location.reload();
});

// A path without the name that a page has where paths are files.
const path = ({ pathname }) => pathname.replace(/index\.html$/, "");

for (const link of document.querySelectorAll("nav a")) {
  if (path(link) === path(location)) link.setAttribute("aria-current", "page");
}

if ("serviceWorker" in navigator) setTimeout(work, LATER);

// Starts the worker. Files asked for before it ran the first time are asked for again, for it
// to keep.
async function work() {
  const asked = () => performance.getEntriesByType("resource").map((r) => r.name).filter((name) => KEPT.test(name));
  try {
    if (!navigator.serviceWorker.controller) {
      navigator.serviceWorker.addEventListener("controllerchange", () => {
        for (const name of new Set(asked())) fetch(name).catch(() => {});
      }, { once: true });
    }
    await navigator.serviceWorker.register(WORKER);
  } catch {
    // Without it the pages need the server; some frames of other sites may have no worker.
  }
}
