// The game on the page, and how it gets there from an address or a text.

import * as api from "./api.js";
import { t } from "./i18n.js";
import { SOUTH, view } from "./game.js";
import * as tree from "./tree.js";

export const session = {
  pits: 12, // of the board, both players together
  rules: "awari",
  solved: -1, // seeds of the highest solved layer
  root: null, // of the tree of the game
  at: null, // the node that is shown
  seats: ["you", "you"], // or the seeds that the computer may give away with a move
  analysis: null, // whether the reader analyses instead of playing
  before: "", // the address of the game before this one
};

export const seat = (player) => session.seats[player];

// Makes the tree of a game that was read: {start, moves}. Moves after one that cannot be
// played are left out; problem then says which one and why.
export async function grow(start, moves) {
  const root = tree.root(start);
  const problem = await add(root, moves);
  return { root, problem };
}

async function add(node, moves) {
  const all = moves.map(({ letter }) => numberOf(letter));
  const beyond = all.findIndex((n) => n >= session.pits / 2);
  const numbers = beyond < 0 ? all : all.slice(0, beyond);
  const { positions, illegal } = await api.game(view(node.position), numbers);
  for (const [i, { letter, others }] of moves.entries()) {
    node.probe ??= positions[i];
    const problem = refusal(node, letter, illegal?.index === i ? illegal : null);
    if (problem) return problem;
    const next = tree.child(node, node.probe.moves[numbers[i]]);
    for (const other of others) {
      const failed = await add(node, other);
      if (failed) return failed;
    }
    node = next;
  }
  node.probe ??= positions[moves.length];
  return "";
}

// Why a letter is no move, "" if it is one.
function refusal(node, letter, illegal) {
  const n = tree.plies(node) + 1;
  const owner = letter < "a" ? SOUTH : 1 - SOUTH;
  if (numberOf(letter) >= session.pits / 2) return t("move {n}, {letter}: the board has no such pit", { n, letter });
  if (owner !== node.position.turn) return t("move {n}, {letter}: it is the other player’s turn", { n, letter });
  if (!illegal) return "";
  return illegal.starves ? t("move {n}, {letter}: it would leave the opponent without seeds", { n, letter }) : t("move {n}, {letter}: the pit is empty", { n, letter });
}

const numberOf = (letter) => (letter < "a" ? letter.charCodeAt(0) - 65 : letter.charCodeAt(0) - 97);

// The node before which at moves are written, the end of the main line for null.
export function nodeAt(root, at) {
  if (at === null) return tree.line(root).at(-1);
  if (at === 0) return root;
  const node = tree.written(root)[at - 1];
  if (!node) throw new Error(t("the game has no move {n}", { n: at }));
  return node;
}
