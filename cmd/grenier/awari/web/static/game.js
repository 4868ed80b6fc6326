// Positions as the page shows them. Pits 0 to Q-1 are South's, from left to
// right; Q to P-1 are North's, from right to left. Sowing goes up through the
// numbers. The server sees a board from the mover's side; view and swap turn
// boards from one to the other. No rule of the game is in here.

export const SOUTH = 0;
export const NORTH = 1;
export const NAMES = ["South", "North"];

// The most seeds there can be in a game.
export const MAX_SEEDS = 48;

// A position: seeds in each pit, who is to move, seeds that both have taken so far.
export function position(pits, turn = SOUTH, taken = [0, 0]) {
  return { pits: [...pits], turn, taken: [...taken] };
}

// The start of a game on a board of the given number of pits.
export const usualStart = (pits) => position(Array(pits).fill(4));

export const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

// The seeds of the board as its mover numbers the pits.
export function view(p) {
  return p.turn === SOUTH ? p.pits : swap(p.pits);
}

// The other player's numbering of the pits.
function swap(pits) {
  const half = pits.length / 2;
  return [...pits.slice(half), ...pits.slice(0, half)];
}

// The pit on the page that a player calls by the given number.
export function pitOf(player, number, pits) {
  return (number + (player === NORTH ? pits / 2 : 0)) % pits;
}

// Who owns a pit on the page, and how he numbers it, from 0.
export function ownerOf(pit, pits) {
  const half = pits / 2;
  return { player: pit < half ? SOUTH : NORTH, number: pit % half };
}

// The letter of a pit: A, B ... from South's left, a, b ... from North's.
export function letterOf(player, number) {
  return String.fromCharCode((player === SOUTH ? 65 : 97) + number);
}

// The position after a move, as the server described the move.
export function after(p, move) {
  const turn = 1 - p.turn;
  const taken = [...p.taken];
  taken[p.turn] += move.captured;
  return { pits: turn === SOUTH ? [...move.child] : swap(move.child), turn, taken };
}

export function same(a, b) {
  return a.turn === b.turn && a.pits.every((n, i) => n === b.pits[i]);
}

// Whether two positions are the same, with the seeds taken.
export function equal(a, b) {
  return same(a, b) && a.taken.every((n, i) => n === b.taken[i]);
}
