// Shows the knowledge of the position: values on the pits, in words, as a bar and as
// a table of moves.

import * as board from "./board.js";
import { element } from "./dom.js";
import { t } from "./i18n.js";
import * as words from "./words.js";
import { NAMES, ownerOf, pitOf, sum } from "./game.js";
import { seat, session } from "./session.js";
import * as tree from "./tree.js";
import { bestMove, givenAway, isBest, isExact, isProven, legalMoves, outcome, valueOf, valueOfMove } from "./values.js";

const $ = (id) => document.getElementById(id);

export const isEnd = (node) => Boolean(node.probe?.over) || tree.repeats(node);

export const endText = (node) => (node.probe?.over ? words.ended(node.position) : words.repeated(node.position));

// Draws all of it for a node. waiting says that the server is being asked.
export function show(node, waiting, onMove) {
  const hints = $("hints").checked;
  showPits(node, hints);
  showVerdict(node, hints);
  showBar(node, hints, waiting);
  showMoves(node, hints, onMove);
  $("moves-hint").textContent = movesHint(node, waiting);
  $("best").disabled = !node.probe || isEnd(node) || !bestMove(node);
  $("moves-card").hidden = !hints;
  $("line-card").hidden = !hints || isEnd(node) || (!node.probe && !waiting);
  $("graph-card").hidden = !hints || tree.line(node).length < 2;
}

function showPits(node, hints) {
  const { position: p, parent, move: last } = node;
  const origin = last ? pitOf(parent.position.turn, last.pit, session.pits) : -1;
  for (let pit = 0; pit < session.pits; pit++) {
    const { player, number } = ownerOf(pit, session.pits);
    const move = player === p.turn ? node.probe?.moves[number] : undefined;
    const value = move?.legal ? valueOfMove(node, number) : null;
    board.mark(pit, {
      label: pitLabel(node, player, number, pit, hints ? value : null),
      chip: hints && value ? words.chip(value) : null,
      playable: Boolean(value) && !isEnd(node),
      origin: pit === origin,
      best: Boolean(hints && value && isBest(node, number)),
    });
  }
}

function pitLabel(node, player, number, pit, value) {
  const move = player === node.position.turn ? node.probe?.moves[number] : undefined;
  const parts = [words.name(player), words.pit(player, number), words.seeds(node.position.pits[pit])];
  if (value) parts.push(words.spoken(value));
  else if (move?.legal) parts.push(t("can be played"));
  if (move && !move.legal && move.starves) parts.push(t("may not be played: it leaves the opponent without seeds"));
  return parts.join(", ");
}

function showVerdict(node, hints) {
  const p = node.position;
  const program = seat(p.turn) !== "you" && node.children.length === 0;
  $("turn").textContent = isEnd(node) ? t("The game is over.") : program ? t("{who} to move (the program).", { who: words.name(p.turn) }) : words.toMove(p.turn);
  $("verdict").textContent = "";
  $("gave").textContent = "";
  if (!node.probe) return;
  if (isEnd(node)) $("verdict").textContent = endText(node);
  if (!hints) return;
  if (!isEnd(node)) {
    const value = valueOf(node);
    $("verdict").textContent = `${words.verdict(p, value)} ${words.outcome(p, value)}`;
    $("verdict").append(badge(node, value));
  }
  if (node.parent?.probe) $("gave").textContent = words.gaveWords(node, givenAway(node));
}

function badge(node, value) {
  if (isExact(value)) return element("span", "badge exact", t("exact"));
  if (isProven(value)) return element("span", "badge bound", t("proven bounds"));
  return element("span", "badge unknown", node.found ? t("unknown") : t("searching …"));
}

// The bar: how far ahead South will be, from the middle. Where only bounds are known, a
// hatched part goes from bound to bound.
function showBar(node, hints, waiting) {
  const bar = $("bar");
  bar.hidden = !hints || (!node.probe && !waiting); // it shows the value of another position
  if (!node.probe || !hints) return;
  const total = Math.max(1, sum(node.position.pits) + sum(node.position.taken));
  const { low, high } = outcome(node);
  const place = (n) => Math.min(1, Math.max(0, 0.5 + n / total / 2));
  bar.style.setProperty("--low", place(low));
  bar.style.setProperty("--high", place(high));
  const text = low === high ? words.signed(low) : `${words.signed(low)}…${words.signed(high)}`;
  $("bar-text").textContent = text;
  bar.setAttribute("aria-label", t("South will be ahead by {n} at the end", { n: text }));
}

function showMoves(node, hints, onMove) {
  const legal = hints && !isEnd(node) ? legalMoves(node) : [];
  $("moves").tBodies[0].replaceChildren(...legal.map((move) => moveRow(node, move, onMove)));
  $("moves").hidden = legal.length === 0;
}

function moveRow(node, move, onMove) {
  const { turn, pits } = node.position;
  const value = valueOfMove(node, move.pit);
  const row = element("tr", isBest(node, move.pit) ? "best" : "");
  const play = element("button", `move ${NAMES[turn].toLowerCase()}`, words.short(turn, move.pit, 0));
  play.type = "button";
  play.setAttribute("aria-label", t("Play {pit}", { pit: words.pit(turn, move.pit) }));
  play.addEventListener("click", () => onMove(move.pit));
  const chip = words.chip(value);
  const cells = [play, String(move.captured || "–"), element("span", `chip ${chip.kind}`, chip.text), meter(value, Math.max(1, sum(pits)))];
  for (const content of cells) {
    const cell = element("td");
    cell.append(content);
    row.append(cell);
  }
  if (!isExact(value)) row.lastChild.append(element("span", "proven", words.proven(value)));
  return row;
}

// A bar from the middle to the right for seeds won, to the left for seeds lost;
// where only bounds are known, a paler one from bound to bound.
function meter(value, total) {
  const place = (n) => 0.5 + n / total / 2;
  const exact = isExact(value);
  const m = element("span", exact ? "meter" : "meter open");
  const [from, to] = exact ? [Math.min(0, value.low), Math.max(0, value.low)] : [value.low, value.high];
  if (from === to) return m;
  const bar = element("span", !exact ? "between" : value.low > 0 ? "win" : "loss");
  bar.style.setProperty("--from", place(from));
  bar.style.setProperty("--part", place(to) - place(from));
  m.append(bar);
  return m;
}

function movesHint(node, waiting) {
  if (!node.probe) return waiting ? t("Asking the tables …") : t("No answer.");
  if (isEnd(node)) return node.probe.over ? t("There is no move.") : t("The game ends here.");
  if (node.probe.solved) return t("Exact, from the tables.");
  const all = sum(node.position.pits);
  const tables = t("The board has {seeds}, the tables end at {solved}: they know all of it once {more} more are taken.", { seeds: words.seeds(all), solved: session.solved, more: all - session.solved });
  if (!node.found) return `${tables} ${t("Searching …")}`;
  const effort = words.effort(node.found);
  if (node.found.exact) return `${tables} ${t("A search proved the value: {effort}.", { effort })}`;
  return `${tables} ${t("What a search proved so far ({effort}); its guesses prove nothing.", { effort })}`;
}
