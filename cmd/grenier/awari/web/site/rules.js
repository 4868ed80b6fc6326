// The rules of awari, and the numbers of boards, as layers/awari has them for the program.
// Boards are arrays of seeds, the pits of the player to move first.

export const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

const captures = (seeds) => seeds === 2 || seeds === 3;

// The rule sets. quietSlam: a move that would capture all seeds of the opponent captures nothing;
// starving: moves are legal, and take everything, when all of them leave the opponent without seeds.
const RULES = {
  awari: { quietSlam: false, starving: true },
  strict: { quietSlam: false, starving: false },
  abapa: { quietSlam: true, starving: true },
};

export const isKnown = (rules) => Object.hasOwn(RULES, rules);

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
  const all = [], { quietSlam, starving: allowed } = RULES[rules];
  for (let pit = 0; pit < board.length / 2; pit++) all.push(play(board, pit, quietSlam));
  const starving = !all.some((m) => m.legal) && allowed;
  return all.map((m) => (m.starves ? judge(m, starving) : m));
}

function play(board, pit, quietSlam) {
  const half = board.length / 2;
  if (board[pit] === 0) return { pit, legal: false, starves: false, captured: 0 };
  const full = [...board], sown = sow(board, pit);
  full[pit] = 0;
  for (const to of sown) full[to]++;
  let after = [...full], taken = [], captured = 0;
  for (let i = sown.at(-1); i >= half && captures(after[i]); i--) {
    captured += after[i];
    after[i] = 0;
    taken.unshift(i);
  }
  const starves = () => after.slice(half).every((n) => n === 0);
  if (quietSlam && starves()) [after, taken, captured] = [full, [], 0];
  if (starves()) return { pit, legal: false, starves: true, captured: 0, full, sown };
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
