// Best lines from solved boards. The method, and why it is right, is told in
// pipeline/play/line; this is the same, in the same order, for scores that have to be fetched.
// A step that lacks scores ends with a Missing; they are fetched, and the step is made
// again. What was found out is kept, so it goes on where it stopped.

import { Contradiction, Limit, t } from "./fault.js";
import { plays, sum } from "./rules.js";

const MAX_POSITIONS = 1 << 16; // that are kept
const MAX_READS = 300; // blocks, of 30 KB or so, for one line
const MAX_TIME = 10000; // ms
const NEVER = Infinity;
const UNKNOWN = -1, NOWHERE = -2; // where a quiet move leads, if not to a node

class Missing {
  constructor(fetch) {
    this.fetch = fetch; // gets what is missing
  }
}

// The scores of boards that are at hand.
function known(tables, boards) {
  const found = boards.map((b) => tables.peek(b)), missing = boards.filter((_, i) => found[i] === undefined);
  if (missing.length > 0) throw new Missing(() => tables.scores(missing));
  return found;
}

// The plies of boards that are at hand.
function near(tables, boards) {
  const found = boards.map((b) => tables.peekPlies(b)), missing = boards.filter((_, i) => found[i] === undefined);
  if (missing.length > 0) throw new Missing(() => Promise.all(missing.map((b) => tables.plies(b))));
  return found;
}

const contradiction = (board) => new Contradiction(t("The scores of the tables contradict each other at the board {board}.", { board: board.join(" ") }));

// A best line from a board: {value, moves, end}.
export async function best(tables, board) {
  const player = new Player(tables), moves = [];
  let seen = new Set(), value = null;
  for (let i = 0; ; i++) {
    const key = `${i % 2} ${board.join(" ")}`;
    if (seen.has(key)) return { value, moves, end: "repetition" };
    seen.add(key);
    const { move, score } = await player.next(board);
    value ??= score;
    if (!move) return { value, moves, end: "finished" };
    if (score !== 0 || move.captured > 0) seen = new Set();
    moves.push({ pit: move.pit, captured: move.captured, value: score });
    board = move.child;
  }
}

// The plies to the next capture, or to the end, after each move of a board, that move and that end included; null where
// the move is not legal or nothing can be forced.
export async function distances(tables, board) {
  const plies = [];
  for (const m of plays(board, tables.rules)) plies.push(m.legal ? await distance(tables, m) : null);
  return plies;
}

async function distance(tables, { captured, child }) {
  if (captured > 0) return 1;
  const player = new Player(tables), { move, score } = await player.next(child);
  if (!move) return 2;
  if (score === 0) return move.captured > 0 ? 2 : null;
  return 1 + ((await tables.plies(child)) ?? player.finder.distance(child, score));
}

// Makes the moves of one line.
class Player {
  constructor(tables) {
    Object.assign(this, { tables, rules: tables.rules, finder: null, reads: tables.reads, end: performance.now() + MAX_TIME });
  }

  // The move on a board, null if there is none, and the score of the board.
  async next(board) {
    for (;;) {
      try {
        const [score] = known(this.tables, [board]);
        return { move: score === 0 ? this.keep(board) : this.progress(board, score), score };
      } catch (error) {
        if (!(error instanceof Missing)) throw error;
        await error.fetch();
      }
      this.check();
    }
  }

  check() {
    if (this.tables.reads - this.reads > MAX_READS || performance.now() > this.end) throw tooMuch();
  }

  // A move that keeps the score 0: the largest capture if one does. Scores are asked for only
  // until one is found.
  keep(board) {
    const legal = plays(board, this.rules).filter((m) => m.legal);
    for (const m of legal.sort((x, y) => y.captured - x.captured)) {
      const [score] = known(this.tables, [m.child]);
      if (m.captured === score) return m;
    }
    if (legal.length > 0 || sum(board) !== 0) throw contradiction(board);
    return null;
  }

  // The move of least distance for the winner, of greatest for the loser.
  progress(board, value) {
    if (this.tables.layers[sum(board)].distances) return this.stored(board, value);
    if (!this.finder?.holds(board, value)) this.finder = new Finder(this.tables, board, value, () => this.check());
    const plies = this.finder.distance(board, value);
    const all = plays(board, this.rules);
    return all.some((m) => m.legal) ? all[this.finder.choose(board, plies)] : null;
  }

  // The same by the distances of the tables.
  stored(board, value) {
    const [plies] = near(this.tables, [board]), legal = plays(board, this.rules).filter((m) => m.legal);
    if (legal.length === 0 && plies === 1) return null;
    const some = legal.filter((m) => (plies === 1) === (m.captured > 0)), after = known(this.tables, some.map((m) => m.child));
    let keep = some.filter((m, i) => m.captured - after[i] === value);
    if (plies > 1) {
      const next = near(this.tables, keep.map((m) => m.child));
      keep = keep.filter((_, i) => next[i] === plies - 1);
    }
    if (keep.length === 0) throw contradiction(board);
    return keep.reduce((most, m) => (m.captured > most.captured ? m : most));
  }
}

const tooMuch = () => new Limit(t("Finding the best line takes more than is spent on it here."));

// Finds distances of positions of one layer with one score, seen by the winner.
class Finder {
  constructor(tables, board, value, check) {
    Object.assign(this, { tables, rules: tables.rules, seeds: sum(board), value: Math.abs(value), check, nodes: new Map(), ticks: 0 });
  }

  holds(board, value) {
    return this.seeds === sum(board) && this.value === Math.abs(value);
  }

  // The plies to the next capture or the end. It asks for ever more; a distance beyond the
  // number of positions is infinite.
  distance(board, value) {
    const node = this.node(board, value > 0);
    while (node.within === NEVER) {
      if (node.above > this.nodes.size) throw contradiction(board);
      this.reaches(node, node.above + 1);
    }
    return node.within;
  }

  node(board, wins) {
    const key = String.fromCharCode(...board);
    let node = this.nodes.get(key);
    if (!node) {
      if (this.nodes.size >= MAX_POSITIONS) throw tooMuch();
      node = { board, wins, plays: null, capture: -1, hint: 0, above: 0, within: NEVER, quiet: Array(board.length / 2).fill(UNKNOWN) };
      this.nodes.set(key, node);
    }
    return node;
  }

  // Whether the distance of a node is at most so many plies.
  reaches(node, plies) {
    if (plies === 0) return false;
    if (!node.plays) this.look(node);
    if (node.within <= plies) return true;
    if (node.above >= plies) return false;
    const done = this.expand(node, plies);
    if (done) node.within = plies;
    else node.above = plies;
    return done;
  }

  // Whether one quiet move of the winner, or every one of the loser, leads to less.
  expand(node, plies) {
    if (node.wins && plies === 1) return false;
    const { hint, wins } = node;
    for (let i = 0; i < node.quiet.length; i++) {
      const pit = i <= hint ? (i + hint) % (hint + 1) : i; // the hint first
      const child = this.follow(node, pit);
      if (child !== NOWHERE && this.reaches(child, plies - 1) === wins) {
        node.hint = pit;
        return wins;
      }
    }
    return !wins;
  }

  // Finds out whether the player has a move, and whether a capture keeps the score. Of the
  // loser, the scores after quiet moves will be needed too, and are fetched with the others.
  look(node) {
    if (++this.ticks % 64 === 0) this.check();
    const all = plays(node.board, this.rules), legal = all.filter((m) => m.legal);
    const value = node.wins ? this.value : -this.value;
    const asked = legal.filter((m) => m.captured > 0 || !node.wins);
    const after = known(this.tables, asked.map((m) => m.child));
    let most = 0;
    for (const [i, m] of asked.entries()) {
      if (m.captured > most && m.captured - after[i] === value) {
        node.capture = m.pit;
        most = m.captured;
      }
    }
    node.plays = all;
    if (legal.length === 0 && -sum(node.board) !== value) throw contradiction(node.board);
    if (legal.length === 0 || (node.wins && node.capture >= 0)) node.within = 1;
  }

  // The node that a quiet move leads to, or NOWHERE.
  follow(node, pit) {
    if (node.quiet[pit] !== UNKNOWN) return node.quiet[pit];
    const m = node.plays[pit];
    let to = NOWHERE;
    if (m.legal && m.captured === 0) {
      const [score] = known(this.tables, [m.child]);
      if (-score === (node.wins ? this.value : -this.value)) to = this.node(m.child, !node.wins);
    }
    node.quiet[pit] = to;
    return to;
  }

  // The pit of the best move on a board of the given distance.
  choose(board, plies) {
    const node = this.node(board);
    if (plies === 1) {
      if (node.capture < 0) throw contradiction(board);
      return node.capture;
    }
    for (let pit = 0; pit < node.quiet.length; pit++) {
      const child = this.follow(node, pit);
      if (child !== NOWHERE && this.isFar(child, plies - 1)) return pit;
    }
    throw contradiction(board);
  }

  // Whether the distance of a node is as said, knowing that the winner can do no better
  // and the loser no worse than that after the best move.
  isFar(node, plies) {
    return node.wins ? !this.reaches(node, plies - 1) : this.reaches(node, plies);
  }
}
