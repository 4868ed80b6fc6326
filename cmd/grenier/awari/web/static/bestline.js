// The best line from the position; a click plays it up to there.

import { element } from "./dom.js";
import { t } from "./i18n.js";
import * as words from "./words.js";
import { NAMES } from "./game.js";
import { isEnd } from "./known.js";

const $ = (id) => document.getElementById(id);

// Shows the best line of a node; play gets the pits of the moves up to the one clicked.
export function show(node, play) {
  $("line-hint").textContent = hint(node);
  const moves = movesOf(node);
  $("line").replaceChildren(...moves.map((move, i) => {
    const player = i % 2 === 0 ? node.position.turn : 1 - node.position.turn;
    const item = element("li");
    const button = element("button", NAMES[player].toLowerCase(), words.short(player, move.pit, move.captured));
    button.type = "button";
    button.setAttribute("aria-label", t("Play the line up to {pit}, {n} moves", { pit: words.pit(player, move.pit), n: i + 1 }));
    button.addEventListener("click", () => play(moves.slice(0, i + 1).map((m) => m.pit)));
    item.append(button);
    return item;
  }));
}

// The moves of the line; of the line of a search, only the first one has its capture.
function movesOf(node) {
  if (isEnd(node)) return [];
  if (node.best?.moves) return node.best.moves;
  return (node.found?.line ?? []).map((pit, i) => ({ pit, captured: i === 0 ? node.probe.moves[pit].captured : 0 }));
}

function hint(node) {
  if (!node.probe || isEnd(node)) return "";
  if (!node.probe.solved) return node.found ? t("As far as the search looked. Only an exact value vouches for its first move, nothing for the others.") : t("Searching …");
  if (!node.best) return t("Looking …");
  if (node.best.failed) return node.best.failed;
  return node.best.end === "repetition" ? t("Then the position repeats: endless play, worth 0.") : t("Then the game is over.");
}
