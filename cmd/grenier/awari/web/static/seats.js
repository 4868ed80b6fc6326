// Who plays South and North: the reader, or the program at a level. A level is how many
// seeds the program may give away with each move.

import { t } from "./i18n.js";
import { session } from "./session.js";

const LEVELS = [0, 1, 2, 4, 8, 48];

const selects = [0, 1].map((player) => document.getElementById(`seat-${player}`));

function text(level) {
  if (level === "you") return t("you");
  if (level === "0") return t("program: gives nothing away");
  if (level === "48") return t("program: plays anything");
  return t("program: gives up to {n} a move", { n: level });
}

// Shows who plays.
export function show() {
  for (const [player, select] of selects.entries()) {
    const now = session.seats[player];
    if (![...select.options].some((o) => o.value === now)) select.add(new Option(text(now), now));
    select.value = now;
  }
}

export const read = () => selects.map((select) => select.value);

export function wire(changed) {
  for (const select of selects) {
    select.replaceChildren(...["you", ...LEVELS.map(String)].map((level) => new Option(text(level), level)));
    select.addEventListener("change", changed);
  }
}
