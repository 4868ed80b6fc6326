// Positions as the page shows them. Pits 0 to Q-1 are South's, from left to
// right; Q to P-1 are North's, from right to left. Sowing goes up through the
// numbers. The server sees a board from the mover's side; view and unview turn
// boards from one to the other. No rule of the game is in here.

export const SOUTH = 0;
export const NORTH = 1;
export const NAMES = ["South", "North"];

// The most seeds there can be in a game.
export const MAX_SEEDS = 48;

// A position: seeds in each pit, who is to move, what both have taken so far.
export function position(pits, turn = SOUTH, taken = [0, 0]) {
  return { pits: [...pits], turn, taken: [...taken] };
}

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

// Who owns a pit on the page, and how he numbers it.
export function ownerOf(pit, pits) {
  const half = pits / 2;
  return { player: pit < half ? SOUTH : NORTH, number: pit % half };
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

// The position as part of an address.
export function toHash(p) {
  const parts = [`pits=${p.pits.join(",")}`, `turn=${NAMES[p.turn].toLowerCase()}`];
  if (sum(p.taken) > 0) parts.push(`taken=${p.taken.join(",")}`);
  return `#${parts.join("&")}`;
}

// The position that an address asks for, on a board of so many pits. Throws an
// Error that says what is wrong with it.
export function fromHash(hash, pits) {
  const fields = new Map();
  for (const part of decode(hash.replace(/^#/, "")).split("&")) {
    const [name, value = ""] = part.split("=", 2);
    if (!["pits", "turn", "taken"].includes(name) || fields.has(name)) {
      throw new Error(`“${name.slice(0, 20)}” has no place in the link`);
    }
    fields.set(name, value);
  }
  const turn = ["south", "north"].indexOf(fields.get("turn") ?? "south");
  if (turn < 0) throw new Error("turn must be south or north");
  const p = position(
    readNumbers(fields.get("pits") ?? "", pits, "pits"),
    turn,
    fields.has("taken") ? readNumbers(fields.get("taken"), 2, "taken") : [0, 0],
  );
  if (sum(p.pits) + sum(p.taken) > MAX_SEEDS) {
    throw new Error(`a game has at most ${MAX_SEEDS} seeds, these are ${sum(p.pits) + sum(p.taken)}`);
  }
  return p;
}

// The text of an address: some programs write commas and blanks as %2C and %20.
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error("it has a % that means nothing");
  }
}

// So many numbers of seeds, separated by commas or blanks.
export function readNumbers(text, count, what) {
  const fields = text.trim().split(/[\s,]+/);
  if (fields.length !== count || !fields.every((f) => /^\d{1,2}$/.test(f))) {
    throw new Error(`${what} must be ${count} numbers, such as ${Array(count).fill(4).join(",")}`);
  }
  return fields.map(Number);
}
