// The best line from the position: what both take in it, and its moves; a click plays it up to there.

import { element } from "./dom.js";
import { t, tn } from "./i18n.js";
import * as words from "./words.js";
import { NAMES, sum } from "./game.js";
import { isEnd } from "./tree.js";

const $ = (id) => document.getElementById(id);
const SHOWN = 16; // moves, unless the reader wants all

let whole = null; // the node whose line is shown to its end

// Shows the best line of a node; play gets the pits of the moves up to the one clicked.
export function show(node, play) {
  const moves = movesOf(node), shown = whole === node ? moves : moves.slice(0, SHOWN);
  const player = (i) => (i % 2 === 0 ? node.position.turn : 1 - node.position.turn);
  $("line-total").textContent = total(node);
  $("line-captures").textContent = captures(node, player);
  $("line-hint").textContent = hint(node);
  $("line").replaceChildren(...shown.map((move, i) => {
    const item = element("li");
    const button = element("button", NAMES[player(i)].toLowerCase(), words.short(player(i), move.pit, move.captured));
    button.type = "button";
    button.setAttribute("aria-label", t("Play the line up to {pit}, {n} moves", { pit: words.pit(player(i), move.pit), n: i + 1 }));
    button.addEventListener("click", () => play(moves.slice(0, i + 1).map((m) => m.pit)));
    item.append(button);
    return item;
  }));
  const more = moves.length - shown.length;
  $("line-more").hidden = more === 0;
  $("line-more").textContent = tn(more, "{n} more ply follows: show it", "{n} more plies follow: show them");
  $("line-more").onclick = () => {
    whole = node;
    show(node, play);
  };
}

// The moves of the line; of the line of a search, only the first one has its capture.
function movesOf(node) {
  if (isEnd(node)) return [];
  if (node.best?.moves) return node.best.moves;
  return (node.found?.line ?? []).map((pit, i) => ({ pit, captured: i === 0 ? node.probe.moves[pit].captured : 0 }));
}

// What both take in the best line from a solved position, those left at the end included.
function total(node) {
  if (isEnd(node) || !node.best?.moves) return "";
  const { moves, value, end } = node.best, { turn, pits } = node.position;
  const taken = [0, 1].map((side) => sum(moves.filter((_, i) => i % 2 === side).map((m) => m.captured)));
  if (end === "finished") taken[value > taken[0] - taken[1] ? 0 : 1] += sum(pits) - sum(taken);
  return tn(moves.length, "{who} takes {a}, {other} {b}: {value} in {n} ply.", "{who} takes {a}, {other} {b}: {value} in {n} plies.",
    { who: words.name(turn), a: taken[0], other: words.name(1 - turn), b: taken[1], value: words.signed(value) });
}

// The moves of the line that capture, with their numbers.
function captures(node, player) {
  if (isEnd(node) || !node.best?.moves) return "";
  const all = node.best.moves.flatMap((m, i) => (m.captured > 0 ? [`${i + 1}. ${words.short(player(i), m.pit, m.captured)}`] : []));
  return all.length > 0 ? t("Captures: {list}", { list: all.join(", ") }) : "";
}

function hint(node) {
  if (!node.probe || isEnd(node)) return "";
  if (!node.probe.solved) return node.found ? t("To the search depth. Only an exact value vouches for its first move, nothing for the others.") : t("Searching …");
  if (!node.best) return t("Looking …");
  if (node.best.failed) return node.best.failed;
  return node.best.end === "repetition" ? t("In the end the position repeats; the seeds left count for nobody.") : t("Then the game is over.");
}
