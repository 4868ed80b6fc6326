// A small search for boards above the tables: captures as far as it can look ahead, and
// scores where the tables are at hand. Its values are guesses; what it proves is only what
// the tables know about moves, and that nobody takes more seeds than there are.

import { plays, sum } from "./rules.js";

const MAX_DEPTH = 40;
const SLICE = 20; // ms at a time, so that the page can be used meanwhile
const CHECK_EVERY = 256; // positions

// Thrown when the time is over.
class TimeOver extends Error {}

const rest = () => new Promise((resolve) => setTimeout(resolve, 0));

// What is found out in so many ms about a board, of which moves the tables know some:
// moves are those of a probe.
export async function search(tables, board, moves, ms, signal) {
  const { rules } = tables, seeds = sum(board), start = performance.now();
  const root = moves.map((m) => new Root(m, seeds));
  const s = new Search(tables, start + ms);
  let depth = 0;
  try {
    for (let d = 1; d <= MAX_DEPTH; d++) {
      for (const r of root.filter((m) => m.legal && !m.isExact())) {
        r.next = r.captured - (await s.value(r.child, d - 1, signal));
      }
      for (const r of root) r.take();
      depth = d;
    }
  } catch (error) {
    if (!(error instanceof TimeOver)) throw error;
  }
  return report(board, rules, root, { depth, nodes: s.nodes, milliseconds: Math.round(performance.now() - start), complete: depth === MAX_DEPTH });
}

// A move at the root.
class Root {
  constructor({ pit, legal, captured, value, child }, seeds) {
    Object.assign(this, { pit, legal, captured, child, next: null });
    this.lower = value ?? 2 * captured - seeds;
    this.upper = value ?? seeds;
    this.estimate = value ?? captured;
  }

  isExact() {
    return this.lower === this.upper;
  }

  // Takes what a whole iteration found.
  take() {
    if (this.next !== null) this.estimate = Math.min(this.upper, Math.max(this.lower, this.next));
    this.next = null;
  }
}

function report(board, rules, root, { depth, nodes, milliseconds, complete }) {
  const seeds = sum(board), legal = root.filter((m) => m.legal);
  const best = legal.reduce((a, b) => (a && a.estimate >= b.estimate ? a : b), null);
  const [lower, upper] = legal.length === 0 ? [-seeds, -seeds] : [Math.max(...legal.map((m) => m.lower)), Math.max(...legal.map((m) => m.upper))];
  const exact = lower === upper;
  return {
    rules, seeds, pits: board, exact, lower, upper, estimate: best?.estimate ?? lower, best: best?.pit ?? null, line: best ? [best.pit] : [],
    moves: root.map((m) => (m.legal ? { pit: m.pit, legal: true, captured: m.captured, lower: m.lower, upper: m.upper, estimate: m.estimate } : { pit: m.pit, legal: false, captured: null, lower: null, upper: null, estimate: null })),
    depth, nodes, milliseconds, reason: exact ? "exact" : complete ? "depth" : "time",
  };
}

class Search {
  constructor(tables, end) {
    Object.assign(this, { tables, rules: tables.rules, end, nodes: 0, slice: performance.now() + SLICE, signal: null });
  }

  // The value of a board to its mover, looked at so deep. It lets the page work between
  // the moves of the board.
  async value(board, depth, signal) {
    this.signal = signal;
    const legal = this.moves(board);
    if (legal.length === 0 || depth === 0) return this.visit(board, depth, -Infinity, Infinity);
    let best = -Infinity;
    for (const m of legal) {
      if (performance.now() > this.slice) await this.pause();
      best = Math.max(best, m.captured - this.visit(m.child, depth - 1, -Infinity, m.captured - best));
    }
    return best;
  }

  async pause() {
    await rest();
    this.signal?.throwIfAborted();
    this.slice = performance.now() + SLICE;
  }

  // Legal moves, large captures first.
  moves(board) {
    return plays(board, this.rules).filter((m) => m.legal).sort((a, b) => b.captured - a.captured);
  }

  // The value of a board between low and high.
  visit(board, depth, low, high) {
    if (++this.nodes % CHECK_EVERY === 0 && performance.now() > this.end) throw new TimeOver();
    const known = this.tables.peek(board);
    if (known !== undefined) return known;
    const legal = this.moves(board);
    if (legal.length === 0) return -sum(board);
    if (depth <= 0) return Math.max(0, legal[0].captured);
    let best = -Infinity;
    for (const m of legal) {
      best = Math.max(best, m.captured - this.visit(m.child, depth - 1, m.captured - high, m.captured - Math.max(low, best)));
      if (best >= high) break;
    }
    return best;
  }
}
