// Questions about positions and layers, and the answers that were given already.

import { Silence } from "./failure.js";
import { get } from "./source.js";

const answers = new Map(); // by address
const MAX_ANSWERS = 5000;

const probeAddress = (pits) => `/api/probe?pits=${pits.join(",")}`;

// The answer of the tables about a board, seen by its mover.
export const probe = (pits) => ask(probeAddress(pits));

// The answers of the tables about a board and the boards after each of some moves: {positions,
// illegal}. Only boards that are not known yet are asked for.
export async function game(pits, moves) {
  const positions = [];
  for (let i = 0; ; i++) {
    const known = answers.get(probeAddress(pits));
    if (!known) return join(positions, i, await walk(pits, moves.slice(i)));
    positions.push(await known);
    if (i === moves.length) return { positions, illegal: null };
    const move = positions[i].moves[moves[i]];
    if (!move?.legal) return { positions, illegal: { index: i, pit: moves[i], starves: Boolean(move?.starves) } };
    pits = move.child;
  }
}

function join(before, count, { positions, illegal }) {
  return { positions: [...before, ...positions], illegal: illegal && { ...illegal, index: illegal.index + count } };
}

// Asks for a game at once; without a server, for each position, which may have been kept.
async function walk(pits, moves) {
  try {
    const answer = await get(`/api/game?pits=${pits.join(",")}&moves=${moves.join(",")}`);
    for (const position of answer.positions) remember(probeAddress(position.pits), Promise.resolve(position));
    return answer;
  } catch (error) {
    if (!(error instanceof Silence)) throw error;
  }
  const positions = [];
  for (const [i, pit] of moves.entries()) {
    const known = await probe(pits);
    positions.push(known);
    if (!known.moves[pit]?.legal) return { positions, illegal: { index: i, pit, starves: Boolean(known.moves[pit]?.starves) } };
    pits = known.moves[pit].child;
  }
  positions.push(await probe(pits));
  return { positions, illegal: null };
}

// The best line from a solved board, seen by its mover.
export const line = (pits) => ask(`/api/line?pits=${pits.join(",")}`);

// The plies to the next capture after each move of a solved board.
export const distances = (pits) => ask(`/api/distances?pits=${pits.join(",")}`);

// The result of a search of a board in some time. It ends when signal does.
export async function search(pits, ms, signal) {
  const address = `/api/search?pits=${pits.join(",")}&ms=${ms}`;
  if (!answers.has(address)) remember(address, Promise.resolve(await get(address, signal)));
  return answers.get(address);
}

// Positions of layers that meet a condition.
export const find = (query) => ask(`/api/find?${new URLSearchParams(query)}`);

// Puzzles of layers, or the one that a board is.
export const puzzles = (query) => ask(`/api/puzzles?${new URLSearchParams(query)}`);

// The positions of a layer that are hardest to win, or how far the search for them is.
export async function hardest(seeds) {
  const address = `/api/hardest?seeds=${seeds}`;
  if (answers.has(address)) return answers.get(address);
  const answer = await get(address);
  if (answer.complete) remember(address, Promise.resolve(answer));
  return answer;
}

// Charts of all layers, and of the scores of one layer.
export const charts = () => ask("/api/charts");
export const scores = (seeds) => ask(`/api/charts/scores?seeds=${seeds}`);

// The solved layers.
export const layers = () => ask("/api/layers");

// The seeds of the last layer of these, -1 without any. One that is left out is not among them.
export const lastSeeds = ({ layers }) => layers.at(-1)?.seeds ?? -1;

// The answer to a question, asked once only.
function ask(address) {
  if (!answers.has(address)) {
    const answer = get(address);
    remember(address, answer);
    answer.catch(() => answers.delete(address));
  }
  return answers.get(address);
}

function remember(address, answer) {
  if (answers.size >= MAX_ANSWERS) answers.delete(answers.keys().next().value);
  answers.set(address, answer);
}
