// Words of the page about positions, moves and values.

import { t, tn } from "./i18n.js";
import { letterOf, pitOf, sum } from "./game.js";
import { decides, estimate, isExact, tells } from "./values.js";

// A number with its sign, a real minus sign included.
export const signed = (n) => (n > 0 ? `+${n}` : n < 0 ? `−${-n}` : "0");

export const seeds = (n) => tn(n, "{n} seed", "{n} seeds");

export const name = (player) => [t("South"), t("North")][player];

// A pit as people say it.
export const pit = (player, n) => t("pit {letter}", { letter: letterOf(player, n) });

// The bounds of a value in signs.
function bounds(v) {
  if (v.high >= v.limit) return `≥\u00a0${signed(v.low)}`;
  if (v.low <= -v.limit) return `≤\u00a0${signed(v.high)}`;
  return `${signed(v.low)}…\u200b${signed(v.high)}`; // it may become two lines
}

// The number of a value in signs, or the bounds if they tell something; "" if nothing does.
export function figure(v) {
  if (isExact(v)) return signed(v.low);
  if (tells(v)) return bounds(v);
  return v.guess === null ? "" : `≈\u00a0${signed(v.guess)}`;
}

// The chip for a value: exact, bounds that tell something, or a guess, which looks like one; null if
// there is nothing to say.
export function chip(v) {
  const text = figure(v);
  if (isExact(v)) return { text, kind: v.low > 0 ? "win" : v.low < 0 ? "loss" : "draw" };
  if (tells(v)) return { text, kind: decides(v) ? "bound" : "bound weak" };
  return text ? { text, kind: "guess" } : null;
}

// A number, read out.
const say = (n) => (n < 0 ? t("minus {n}", { n: -n }) : n > 0 ? t("plus {n}", { n }) : t("zero"));

// A value, read out.
export function spoken(v) {
  if (isExact(v)) return t("value {n}", { n: say(v.low) });
  if (!tells(v)) return v.guess === null ? t("value unknown") : t("about {n}, a guess", { n: say(v.guess) });
  if (v.high >= v.limit) return t("value at least {n}", { n: say(v.low) });
  if (v.low <= -v.limit) return t("value at most {n}", { n: say(v.high) });
  return t("value from {low} to {high}", { low: say(v.low), high: say(v.high) });
}

// The meaning of a value for the two players.
export function verdict(p, v) {
  const who = (n) => ({ who: name(n > 0 ? p.turn : 1 - p.turn), other: name(n > 0 ? 1 - p.turn : p.turn), n: Math.abs(n) });
  if (isExact(v)) return v.low === 0 ? t("Even from here on.") : t("{who} takes {n} more than {other} from here on.", who(v.low));
  if (decides(v)) return t("{who} takes at least {n} more than {other} from here on.", who(v.low > 0 ? v.low : v.high));
  if (tells(v) && v.low === 0) return t("{who} does not lose from here on.", who(1));
  if (tells(v) && v.high === 0) return t("{who} does not win from here on.", who(1));
  const n = estimate(v);
  if (n === null) return t("Who is better off is not known yet.");
  return n === 0 ? t("Probably about even.") : t("Probably {who} takes about {n} more than {other}.", who(n));
}

// The result of the game, with the seeds taken before.
export function outcome(p, v) {
  if (!isExact(v) || sum(p.taken) === 0) return "";
  const lead = p.taken[p.turn] - p.taken[1 - p.turn] + v.low;
  if (lead === 0) return t("The game ends even.");
  return t("{who} wins the game by {n}.", { who: name(lead > 0 ? p.turn : 1 - p.turn), n: Math.abs(lead) });
}

// Why a game ended: the opponent of a player without a move takes the rest.
export function ended(p) {
  const rest = sum(p.pits);
  return rest > 0 ? tn(rest, "{who} has no move; {other} takes the last seed.", "{who} has no move; {other} takes the {n} seeds left.", { who: name(p.turn), other: name(1 - p.turn) }) : t("No seeds are left.");
}

// Why a game ended that could go on for ever.
export function repeated(p) {
  return tn(sum(p.pits), "This position was there before: play can go on for ever, and the last seed counts for nobody.", "This position was there before: play can go on for ever, and the {n} seeds left count for nobody.");
}

// What both have at the end of a game, with the seeds left if the rules give them to somebody.
export function finalScore(p, over) {
  const taken = [...p.taken];
  if (over) taken[1 - p.turn] += sum(p.pits);
  return taken;
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

// What the rules say about a move that leaves the opponent without seeds.
export function starving(rules) {
  if (rules === "strict") return t("A move that leaves the opponent without seeds is never legal.");
  const last = t("A move that leaves the opponent without seeds is legal only if there is no other kind of move; it takes everything left.");
  return rules === "abapa" ? `${t("A move that would capture all seeds of the opponent captures nothing.")} ${last}` : last;
}
