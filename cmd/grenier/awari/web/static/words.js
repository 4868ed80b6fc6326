// What the page says.

import { NAMES, pitOf, sum } from "./game.js";

// A number with its sign, a real minus sign included.
export const signed = (n) => (n > 0 ? `+${n}` : n < 0 ? `−${-n}` : "0");

export const seeds = (n) => (n === 1 ? "1 seed" : `${n} seeds`);

// What is known about a value is {low, high, guess}: proven bounds, both included,
// and a guess between them, or null where nobody guesses.
export const isExact = (v) => v.low === v.high;

// Whether bounds say who will take more.
const decides = (v) => v.low > 0 || v.high < 0;

// A bound in signs.
const bound = (v) => (v.low > 0 ? `≥ ${signed(v.low)}` : `≤ ${signed(v.high)}`);

// The chip for a value.
export function chip(v) {
  if (isExact(v)) return { text: signed(v.low), kind: v.low > 0 ? "win" : v.low < 0 ? "loss" : "draw" };
  if (decides(v)) return { text: bound(v), kind: "bound" };
  if (v.guess !== null) return { text: `≈ ${signed(v.guess)}`, kind: "guess" };
  return { text: "?", kind: "unknown" };
}

// What is proven about a value that is not exact, on a board with so many seeds.
export function proven(v, total) {
  if (v.low <= -total && v.high >= total) return "nothing proven";
  if (v.high >= total) return `at least ${signed(v.low)}`;
  if (v.low <= -total) return `at most ${signed(v.high)}`;
  return `${signed(v.low)} to ${signed(v.high)}`;
}

// A value, read out.
export function spoken(v) {
  const number = (n) => (n < 0 ? `minus ${-n}` : n > 0 ? `plus ${n}` : "zero");
  if (isExact(v)) return `value ${number(v.low)}`;
  if (v.low > 0) return `value at least ${number(v.low)}`;
  if (v.high < 0) return `value at most ${number(v.high)}`;
  if (v.guess !== null) return `value about ${number(v.guess)}, a guess`;
  return "value unknown";
}

// What a value means for the two players.
export function verdict(p, v) {
  const [mover, other] = [NAMES[p.turn], NAMES[1 - p.turn]];
  const more = (n, how) => (n > 0 ? `${mover} takes ${how}${n} more than ${other} from here on.` : `${other} takes ${how}${-n} more than ${mover} from here on.`);
  if (isExact(v)) return v.low === 0 ? "Even from here on." : more(v.low, "");
  if (decides(v)) return more(v.low > 0 ? v.low : v.high, "at least ");
  if (v.guess !== null) return v.guess === 0 ? "About even, by the look of it." : more(v.guess, "perhaps ");
  return "What this is worth is not known.";
}

// What it will come to, with what was taken before.
export function outcome(p, v) {
  if (!isExact(v) || sum(p.taken) === 0) return "";
  const lead = p.taken[p.turn] - p.taken[1 - p.turn] + v.low;
  if (lead === 0) return "The game ends even.";
  return `${NAMES[lead > 0 ? p.turn : 1 - p.turn]} wins the game by ${Math.abs(lead)}.`;
}

// How a game ended: the opponent of a player without a move takes what is left.
export function ended(p) {
  const rest = sum(p.pits);
  const taken = [...p.taken];
  taken[1 - p.turn] += rest;
  const left = rest > 0 ? `${NAMES[p.turn]} has no move; ${NAMES[1 - p.turn]} takes the ${seeds(rest)} left. ` : "No seeds are left. ";
  return left + score(taken);
}

// The result of a game.
export function score([south, north]) {
  if (south === north) return `Even, ${south} to ${north}.`;
  return south > north ? `South wins, ${south} to ${north}.` : `North wins, ${north} to ${south}.`;
}

// A move that was made, read out.
export function told(p, move) {
  const from = p.pits[pitOf(p.turn, move.pit, p.pits.length)];
  const took = move.captured > 0 ? `, takes ${move.captured}` : "";
  return `${NAMES[p.turn]} plays pit ${move.pit}, ${seeds(from)}${took}.`;
}

// A move in short: who, which pit, what it took.
export function short(player, pit, captured) {
  return `${NAMES[player][0]}${pit}${captured > 0 ? ` ×${captured}` : ""}`;
}
