// The knowledge of values. A value is {low, high, guess, limit}: proven bounds, both
// included, for the player to move; a guess between them or null; and the seeds on
// the board, so that low and high say nothing if they are -limit and limit.

import { NORTH, sum } from "./game.js";
import { isEnd, line } from "./tree.js";

export const isExact = (v) => v.low === v.high;

// Whether bounds say who will take more.
export const decides = (v) => v.low > 0 || v.high < 0;

// Whether bounds leave at most half of what is possible; others say nothing worth showing.
export const tells = (v) => v.high - v.low <= v.limit;

// The number that stands for a value: it is exact, or a guess; null if there is none.
export const estimate = (v) => (isExact(v) ? v.low : v.guess);

const open = (limit) => ({ low: -limit, high: limit, guess: null, limit });

// The value that two values give together.
function both(a, b) {
  const low = Math.max(a.low, b.low), high = Math.min(a.high, b.high);
  const guess = [a.guess, b.guess].find((g) => g !== null && g >= low && g <= high) ?? null;
  return { low, high, guess, limit: a.limit };
}

// The tables' value, or else the value of a search, or else nothing.
function told(value, searched, limit) {
  if (typeof value === "number") return { low: value, high: value, guess: null, limit };
  if (searched) return { low: searched.lower, high: searched.upper, guess: searched.estimate, limit };
  return open(limit);
}

// The value of a node without a look at its moves.
const own = (node) => told(node.probe?.value, node.found, sum(node.position.pits));

// The value of a move, seen by who makes it; the value after it counts as well.
export function valueOfMove(node, pit) {
  const limit = sum(node.position.pits);
  const move = node.probe.moves[pit];
  const v = told(move.value, node.found?.moves[pit], limit);
  const next = node.children.find((c) => c.move.pit === pit);
  if (!next || isExact(v)) return v;
  const { low, high } = own(next);
  return both(v, { low: move.captured - high, high: move.captured - low, guess: null, limit });
}

export const legalMoves = (node) => node.probe?.moves.filter((m) => m.legal) ?? [];

// The value of a position for its player. It is worth as much as its best move.
export function valueOf(node) {
  const v = own(node);
  const moves = legalMoves(node).map((m) => valueOfMove(node, m.pit));
  if (isExact(v) || moves.length === 0) return v;
  const [low, high] = [Math.max(...moves.map((m) => m.low)), Math.max(...moves.map((m) => m.high))];
  return both(v, { low, high, guess: null, limit: v.limit });
}

// The value of a position in its game: at the end, what the rules say.
function inGame(node) {
  if (!isEnd(node)) return valueOf(node);
  const limit = sum(node.position.pits), value = node.probe?.over ? -limit : 0;
  return { low: value, high: value, guess: null, limit };
}

// By how much South will be ahead at the end, as an interval. It tells if the value does.
export function outcome(node) {
  const { low, high, guess } = inGame(node);
  const { taken, turn } = node.position;
  const lead = taken[0] - taken[1], limit = sum(node.position.pits);
  if (turn === NORTH) return { low: lead - high, high: lead - low, guess: guess === null ? null : lead - guess, limit };
  return { low: lead + low, high: lead + high, guess: guess === null ? null : lead + guess, limit };
}

// The seeds that the move that led to a node gave away: the least and the most.
export function givenAway(node) {
  const best = valueOf(node.parent), got = valueOfMove(node.parent, node.move.pit);
  return { least: Math.max(0, best.low - got.high), most: Math.max(0, best.high - got.low) };
}

// The value of the best move, if no other can be better; otherwise null.
export function bestValue(node) {
  const values = legalMoves(node).map((m) => valueOfMove(node, m.pit));
  if (values.length === 0) return null;
  const best = Math.max(...values.map((v) => v.low));
  return values.every((v) => v.high <= best) ? best : null;
}

// Whether a move is known to be best.
export function isBest(node, pit) {
  const best = bestValue(node);
  return best !== null && valueOfMove(node, pit).low === best;
}

// The move to play: the first of the best line, or one that is best, the quickest if that wins and the slowest if it
// loses, as far as the tables know, or the best move of a search; null if nothing is known.
export function bestMove(node) {
  if (!node.probe) return null;
  const sign = Math.sign(bestValue(node) ?? 0);
  const best = legalMoves(node).filter((m) => isBest(node, m.pit)).sort((a, b) => sign * ((a.plies ?? 0) - (b.plies ?? 0)));
  const pit = node.best?.moves?.[0]?.pit ?? best[0]?.pit ?? node.found?.best;
  return typeof pit === "number" ? node.probe.moves[pit] : null;
}

// A move that gives away at most the given seeds, a random one of these; where values are not
// exact, as a search guesses. null if there is no guess either.
export function looseMove(node, seeds) {
  const moves = legalMoves(node).map((m) => ({ move: m, worth: estimate(valueOfMove(node, m.pit)) ?? -Infinity }));
  const best = Math.max(...moves.map((m) => m.worth));
  if (best === -Infinity) return null;
  const fair = moves.filter(({ worth }) => worth >= best - seeds);
  return fair[Math.floor(Math.random() * fair.length)].move;
}

// The nodes of the line through a node whose moves gave seeds away for certain: {node, least, most}.
export const mistakes = (at) => line(at).filter((n) => n.parent?.probe).map((node) => ({ node, ...givenAway(node) })).filter((m) => m.least > 0);
