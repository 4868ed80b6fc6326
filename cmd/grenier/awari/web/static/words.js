// Words of the page about positions, moves and values.

import { number, t, tn } from "./i18n.js";
import { letterOf, pitOf, sum } from "./game.js";
import { decides, isExact, isProven } from "./values.js";

// A number with its sign, a real minus sign included.
export const signed = (n) => (n > 0 ? `+${n}` : n < 0 ? `−${-n}` : "0");

export const seeds = (n) => tn(n, "{n} seed", "{n} seeds");

export const name = (player) => [t("South"), t("North")][player];

// A pit as people say it: counted from 1, with its letter.
export const pit = (player, n) => t("pit {number} ({letter})", { number: n + 1, letter: letterOf(player, n) });

// The bounds of a value in signs.
function bounds(v) {
  if (v.high >= v.limit) return `≥\u00a0${signed(v.low)}`;
  if (v.low <= -v.limit) return `≤\u00a0${signed(v.high)}`;
  return `${signed(v.low)}…\u200b${signed(v.high)}`; // it may become two lines
}

// The chip for a value: only proven bounds.
export function chip(v) {
  if (isExact(v)) return { text: signed(v.low), kind: v.low > 0 ? "win" : v.low < 0 ? "loss" : "draw" };
  if (isProven(v)) return { text: bounds(v), kind: decides(v) ? "bound" : "bound weak" };
  return { text: "?", kind: "unknown" };
}

// The proven bounds of a value that is not exact, and the guess of the search.
export function proven(v) {
  const guess = v.guess === null ? "" : ` ${t("(guess: {n})", { n: signed(v.guess) })}`;
  if (!isProven(v)) return t("nothing proven") + guess;
  if (v.high >= v.limit) return t("at least {n}", { n: signed(v.low) }) + guess;
  if (v.low <= -v.limit) return t("at most {n}", { n: signed(v.high) }) + guess;
  return t("{low} to {high}", { low: signed(v.low), high: signed(v.high) }) + guess;
}

// A number, read out.
const say = (n) => (n < 0 ? t("minus {n}", { n: -n }) : n > 0 ? t("plus {n}", { n }) : t("zero"));

// A value, read out.
export function spoken(v) {
  if (isExact(v)) return t("value {n}", { n: say(v.low) });
  if (!isProven(v)) return t("value unknown");
  if (v.high >= v.limit) return t("value at least {n}", { n: say(v.low) });
  if (v.low <= -v.limit) return t("value at most {n}", { n: say(v.high) });
  return t("value from {low} to {high}", { low: say(v.low), high: say(v.high) });
}

// The meaning of a value for the two players.
export function verdict(p, v) {
  const who = (n) => ({ who: name(n > 0 ? p.turn : 1 - p.turn), other: name(n > 0 ? 1 - p.turn : p.turn), n: Math.abs(n) });
  if (isExact(v)) return v.low === 0 ? t("Even from here on.") : t("{who} takes {n} more than {other} from here on.", who(v.low));
  if (decides(v)) return t("{who} takes at least {n} more than {other} from here on.", who(v.low > 0 ? v.low : v.high));
  if (!isProven(v)) return t("What this is worth is not known.");
  if (v.low === 0) return t("{who} does not lose from here on.", who(1));
  if (v.high === 0) return t("{who} does not win from here on.", who(1));
  return t("Who is better off is not known yet.");
}

// The result of the game, with the seeds taken before.
export function outcome(p, v) {
  if (!isExact(v) || sum(p.taken) === 0) return "";
  const lead = p.taken[p.turn] - p.taken[1 - p.turn] + v.low;
  if (lead === 0) return t("The game ends even.");
  return t("{who} wins the game by {n}.", { who: name(lead > 0 ? p.turn : 1 - p.turn), n: Math.abs(lead) });
}

// How a game ended: the opponent of a player without a move takes the rest.
export function ended(p) {
  const rest = sum(p.pits);
  const taken = [...p.taken];
  taken[1 - p.turn] += rest;
  const left = rest > 0 ? tn(rest, "{who} has no move; {other} takes the last seed.", "{who} has no move; {other} takes the {n} seeds left.", { who: name(p.turn), other: name(1 - p.turn) }) : t("No seeds are left.");
  return `${left} ${score(taken)}`;
}

// How a game ended that goes on for ever.
export function repeated(p) {
  return `${tn(sum(p.pits), "This position was there before: play can go on for ever, and the last seed counts for nobody.", "This position was there before: play can go on for ever, and the {n} seeds left count for nobody.")} ${score(p.taken)}`;
}

// The result of a game.
export function score([south, north]) {
  if (south === north) return t("Even, {a} to {b}.", { a: south, b: north });
  const who = name(south > north ? 0 : 1);
  return t("{who} wins, {a} to {b}.", { who, a: Math.max(south, north), b: Math.min(south, north) });
}

// A move that was made, read out.
export function told(p, move) {
  const from = p.pits[pitOf(p.turn, move.pit, p.pits.length)];
  const values = { who: name(p.turn), pit: pit(p.turn, move.pit), seeds: seeds(from), taken: move.captured };
  return move.captured > 0 ? t("{who} plays {pit}, {seeds}, takes {taken}.", values) : t("{who} plays {pit}, {seeds}.", values);
}

export const toMove = (player) => t("{who} to move.", { who: name(player) });

// A move in short: its letter, the seeds it took.
export const short = (player, n, captured) => letterOf(player, n) + (captured > 0 ? ` ×${captured}` : "");

// The seeds that a move gave away, exactly or at least; null if that may be none.
export function gave({ least, most }) {
  if (least === 0) return most === 0 ? "" : null;
  return least === most ? `−${least}` : `≤ −${least}`;
}

// The same in words.
export function gaveWords(node, { least, most }) {
  const who = name(node.parent.position.turn);
  if (most === 0) return t("{who} gave nothing away here.", { who });
  if (least === 0) return "";
  return least === most ? t("{who} gave away {n} here.", { who, n: least }) : t("{who} gave away at least {n} here.", { who, n: least });
}

// How much a search looked at.
export function effort(found) {
  const seconds = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 1 }).format(found.milliseconds / 1000);
  const depth = tn(found.depth, "{n} ply deep", "{n} plies deep");
  return tn(found.nodes, "{depth}, {nodes} position in {seconds} s", "{depth}, {nodes} positions in {seconds} s", { depth, nodes: number.format(found.nodes), seconds });
}

