// The page about the files of the site: its commands have the address of the site.

import "./shell.js";

const base = new URL("./", import.meta.url).href;

for (const place of document.querySelectorAll(".base")) place.textContent = base;
document.body.dataset.ready = "yes";
