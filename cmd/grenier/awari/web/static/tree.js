// The tree of a game: a node for each position that was reached. The first child of a
// node is the main line, the others are variations.
//
// A node: position; parent and move, how it came about (move as the server describes
// it); children; chosen, the child that was visited last. Answers of the server about
// the position are kept with it: probe, found by a search, best the best line, plies to the next
// capture after each move.

import { after, letterOf, same } from "./game.js";

export function root(position) {
  return { position, parent: null, move: null, children: [], chosen: null, probe: null, found: null, best: null, plies: null };
}

// The node that a move leads to, a new one if it was not played there before.
export function child(node, move) {
  let next = node.children.find((c) => c.move.pit === move.pit);
  if (!next) {
    next = { ...root(after(node.position, move)), parent: node, move };
    node.children.push(next);
  }
  return next;
}

// The nodes from the root to a node.
export function path(node) {
  const nodes = [];
  for (let n = node; n; n = n.parent) nodes.push(n);
  return nodes.reverse();
}

// The nodes of the line that goes through a node, to its end.
export function line(node) {
  const nodes = path(node);
  for (let n = node.children[0]; n; n = n.children[0]) nodes.push(n);
  return nodes;
}

// How many moves led to a node.
export const plies = (node) => path(node).length - 1;

export const isMain = (node) => path(node).every((n) => !n.parent || n.parent.children[0] === n);

// The letter of the move that led to a node.
export const letter = (node) => letterOf(node.parent.position.turn, node.move.pit);

// The moves after a node, in the order in which they are written: a node for each move,
// and "(" and ")" around moves that could have been played instead.
export function* tokens(top) {
  for (let n = top; n.children.length > 0; n = n.children[0]) {
    yield n.children[0];
    for (const other of n.children.slice(1)) {
      yield "(";
      yield other;
      yield* tokens(other);
      yield ")";
    }
  }
}

// All nodes but the root, in that order.
export const written = (top) => [...tokens(top)].filter((token) => typeof token !== "string");

// Whether the position of a node was there before with the same player to move: play can
// then go on for ever.
export function repeats(node) {
  for (let n = node.parent; n; n = n.parent) if (same(n.position, node.position)) return true;
  return false;
}

// Whether the game ends at a node.
export const isEnd = (node) => Boolean(node.probe?.over) || repeats(node);

// Makes the line through a node the main line.
export function promote(node) {
  for (let n = node; n.parent; n = n.parent) {
    const siblings = n.parent.children;
    siblings.splice(siblings.indexOf(n), 1);
    siblings.unshift(n);
  }
}

// Removes a node with all that follows.
export function remove(node) {
  const { parent } = node;
  parent.children.splice(parent.children.indexOf(node), 1);
  if (parent.chosen === node) parent.chosen = null;
}
