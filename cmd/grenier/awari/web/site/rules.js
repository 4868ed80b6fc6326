// The rules of awari, and the numbers of boards, as layers/awari has them for the program.
// Boards are arrays of seeds, the pits of the player to move first.

export const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

const captures = (seeds) => seeds === 2 || seeds === 3;

// Moves by rule set when all of them leave the opponent without seeds: whether they are
// legal, and take everything.
const STARVING = { awari: true, strict: false };

export const isKnown = (rules) => Object.hasOwn(STARVING, rules);

// Pits around the board that the seeds of one go to, never back into it.
function sow(board, pit) {
  const to = [];
  for (let i = pit; to.length < board[pit];) {
    i = (i + 1) % board.length;
    if (i !== pit) to.push(i);
  }
  return to;
}

// The result of playing each pit of the mover by the rules. Of a legal move also: where its
// seeds go, the seeds taken, and the board after it, seen by the next player.
export function plays(board, rules) {
  const all = [];
  for (let pit = 0; pit < board.length / 2; pit++) all.push(play(board, pit));
  const starving = !all.some((m) => m.legal) && STARVING[rules];
  return all.map((m) => (m.starves ? judge(m, starving) : m));
}

function play(board, pit) {
  const half = board.length / 2;
  if (board[pit] === 0) return { pit, legal: false, starves: false, captured: 0 };
  const after = [...board], sown = sow(board, pit), taken = [];
  after[pit] = 0;
  for (const to of sown) after[to]++;
  const full = [...after];
  let captured = 0;
  for (let i = sown.at(-1); i >= half && captures(after[i]); i--) {
    captured += after[i];
    after[i] = 0;
    taken.unshift(i);
  }
  if (after.slice(half).every((n) => n === 0)) return { pit, legal: false, starves: true, captured: 0, full, sown };
  return { pit, legal: true, starves: false, captured, child: [...after.slice(half), ...after.slice(0, half)], sown, taken };
}

// A move that leaves the opponent without seeds.
function judge({ pit, full, sown }, legal) {
  if (!legal) return { pit, legal: false, starves: true, captured: 0 };
  const taken = [...full.keys()].filter((i) => full[i] > 0);
  return { pit, legal: true, starves: true, captured: sum(full), child: full.map(() => 0), sown, taken };
}

const binomials = []; // binomials[k][c]: c choose k

function binomial(c, k) {
  if (!binomials[k]) binomials[k] = [];
  return (binomials[k][c] ??= k === 0 ? 1 : c < k ? 0 : binomial(c - 1, k - 1) + binomial(c - 1, k));
}

// The number of boards with the given seeds; below 2^53 for all boards of up to 12 pits and 48
// seeds, so plain numbers hold it and all ranks.
export const boards = (pits, seeds) => binomial(seeds + pits - 1, pits - 1);

// The number of a board among those with as many seeds, in colex order.
export function rank(board) {
  let c = -1, r = 0;
  for (let i = 0; i < board.length - 1; i++) {
    c += board[i] + 1;
    r += binomial(c, i + 1);
  }
  return r;
}
