// What the page says.

import { NAMES, pitOf, sum } from "./game.js";

// A number with its sign, a real minus sign included.
export const signed = (n) => (n > 0 ? `+${n}` : n < 0 ? `−${-n}` : "0");

export const seeds = (n) => (n === 1 ? "1 seed" : `${n} seeds`);

// An estimate of a value: {low, high}, both included, or null.
export const isExact = (v) => v !== null && v.low === v.high;

// The chip for a value.
export function chip(v, total) {
  if (isExact(v)) return { text: signed(v.low), kind: v.low > 0 ? "win" : v.low < 0 ? "loss" : "draw" };
  if (v === null || (v.low <= -total && v.high >= total)) return { text: "?", kind: "unknown" };
  if (v.high >= total) return { text: `≥ ${signed(v.low)}`, kind: "bound" };
  if (v.low <= -total) return { text: `≤ ${signed(v.high)}`, kind: "bound" };
  return { text: `${signed(v.low)}…${signed(v.high)}`, kind: "bound" };
}

// A value, read out.
export function spoken(v, total) {
  const number = (n) => (n < 0 ? `minus ${-n}` : n > 0 ? `plus ${n}` : "zero");
  if (isExact(v)) return `value ${number(v.low)}`;
  if (v === null || (v.low <= -total && v.high >= total)) return "value unknown";
  if (v.high >= total) return `value at least ${number(v.low)}`;
  if (v.low <= -total) return `value at most ${number(v.high)}`;
  return `value from ${number(v.low)} to ${number(v.high)}`;
}

// What a value means for the two players.
export function verdict(p, v) {
  const [mover, other] = [NAMES[p.turn], NAMES[1 - p.turn]];
  const total = sum(p.pits);
  if (isExact(v)) {
    if (v.low === 0) return "Even from here on.";
    const [winner, loser] = v.low > 0 ? [mover, other] : [other, mover];
    return `${winner} takes ${Math.abs(v.low)} more than ${loser} from here on.`;
  }
  if (v === null || (v.low <= -total && v.high >= total)) return "What this is worth is not known.";
  if (v.low > 0) return `${mover} takes at least ${v.low} more than ${other} from here on.`;
  if (v.high < 0) return `${other} takes at least ${-v.high} more than ${mover} from here on.`;
  return `Worth between ${signed(v.low)} and ${signed(v.high)} to ${mover}.`;
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
