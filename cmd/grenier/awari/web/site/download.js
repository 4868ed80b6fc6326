// The page about the files of the site: its commands have the address of the site, its numbers the
// form that they have in the language.

import "./shell.js";
import { figures } from "./i18n.js";

const base = new URL("./", import.meta.url).href;

for (const place of document.querySelectorAll(".base")) place.textContent = base;
for (const cell of document.querySelectorAll("td:nth-child(2), td:nth-child(4)")) cell.textContent = figures(cell.textContent);
document.body.dataset.ready = "yes";
