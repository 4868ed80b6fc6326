// The address of the page has the whole game: start, moves with variations, the point
// that is shown, and who plays.

import { t } from "./i18n.js";
import { MAX_SEEDS, NAMES, equal, sum, usualStart } from "./game.js";
import { line, written } from "./tree.js";
import { parse, readStart, writeMoves } from "./notation.js";

const FIELDS = ["pits", "turn", "taken", "moves", "at", "seats"];

// The address of a game, or of an analysis, which has no players. at is left out at the end of the main line, and so is all else
// that is as usual.
export function write({ root, at, seats, analysis }) {
  const { pits, turn, taken } = root.position;
  const fields = [];
  if (!equal(root.position, usualStart(pits.length))) {
    fields.push(`pits=${pits.join(",")}`, `turn=${NAMES[turn].toLowerCase()}`);
    if (sum(taken) > 0) fields.push(`taken=${taken.join(",")}`);
  }
  const moves = writeMoves(root);
  if (moves !== "") fields.push(`moves=${moves}`);
  if (at !== line(root).at(-1)) fields.push(`at=${written(root).indexOf(at) + 1}`);
  if (!analysis) fields.push(`seats=${seats.join(",")}`);
  if (fields.length === 0) fields.push("turn=south"); // the bare address is that of a new game
  return `${location.pathname}?${fields.join("&")}`;
}

// Whether an address asks for anything.
export const isBare = ({ search, hash }) => search.length < 2 && hash.length < 2;

// The contents of an address: {start, moves, at, seats}; at is null for the end of the main
// line, otherwise how many moves are written before that point; seats is null where nobody plays,
// for an analysis. Older links have the position after #. Throws an Error that says what is wrong.
export function read({ search, hash }, pits) {
  const fields = split(search.length > 1 ? search : hash);
  const { moves } = parse(fields.moves ?? "");
  return { start: readStart(fields, pits), moves, at: readAt(fields.at), seats: readSeats(fields.seats) };
}

function split(text) {
  const fields = {};
  for (const part of decode(text.replace(/^[?#]/, "")).split("&")) {
    if (part === "") continue;
    const [name, value = ""] = part.split("=", 2);
    if (!FIELDS.includes(name)) throw new Error(t("“{name}” has no place in the link", { name: name.slice(0, 20) }));
    if (name in fields) throw new Error(t("“{name}” is there twice", { name }));
    fields[name] = value;
  }
  return fields;
}

// The text of an address: some programs write commas and parentheses as %2C and %28.
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error(t("it has a % that means nothing"));
  }
}

function readAt(text) {
  if (text === undefined) return null;
  if (!/^\d{1,4}$/.test(text)) throw new Error(t("at must be the number of a move"));
  return Number(text);
}

function readSeats(text) {
  if (text === undefined) return null;
  const seats = text.split(",");
  if (seats.length !== 2 || !seats.every((s) => s === "you" || (/^\d{1,2}$/.test(s) && Number(s) <= MAX_SEEDS))) {
    throw new Error(t("seats must be two of “you” and the seeds that the computer may give away, such as you,0"));
  }
  return seats;
}
