// Who plays South and North: the reader, or the computer at a level. A level is how many
// seeds the computer may give away with each move, as text.

import { t } from "./i18n.js";
import { recall, remember } from "./memory.js";
import { session } from "./session.js";

const LEVELS = ["48", "8", "4", "2", "0"];

const $ = (id) => document.getElementById(id);

// The name of a level.
export function levelName(level) {
  const names = { 48: t("first steps"), 8: t("beginner"), 4: t("casual"), 2: t("club"), 0: t("perfect") };
  return names[level] ?? t("gives up to {n} a move", { n: level });
}

// Who plays, by what the reader chooses.
const sides = {
  south: (level) => ["you", level],
  north: (level) => [level, "you"],
  both: () => ["you", "you"],
  none: (level) => [level, level],
};

const sideOf = ([south, north]) => (south === "you" ? (north === "you" ? "both" : "south") : north === "you" ? "north" : "none");

// The players of a first game: the reader begins, against the opponent of last time.
export const usual = () => ["you", recall("opponent") ?? "4"];

// Shows who plays.
export function show() {
  const players = session.analysis ? usual() : session.seats;
  const level = players.find((s) => s !== "you") ?? $("level").value;
  if (![...$("level").options].some((o) => o.value === level)) $("level").add(new Option(levelName(level), level));
  $("who").value = sideOf(players);
  $("level").value = level;
  dim();
}

// There is no level where nobody needs one.
const dim = () => { $("level").disabled = $("who").value === "both"; };

// The players that are chosen for a new game.
export function read() {
  const players = sides[$("who").value]($("level").value);
  remember("opponent", players.find((s) => s !== "you") ?? "you");
  return players;
}

export function wire() {
  $("level").replaceChildren(...LEVELS.map((level) => new Option(levelName(level), level)));
  $("level").value = "4";
  $("who").addEventListener("change", dim);
}
