// Shows the knowledge of the position: values on the pits, in words, as a bar and as
// a table of moves.

import * as board from "./board.js";
import { element } from "./dom.js";
import { t } from "./i18n.js";
import * as words from "./words.js";
import { NAMES, equal, ownerOf, pitOf, sum, usualStart } from "./game.js";
import { levelName } from "./seats.js";
import { seat, session } from "./session.js";
import { isEnd, path } from "./tree.js";
import { bestMove, estimate, givenAway, isBest, isExact, legalMoves, outcome, tells, valueOf, valueOfMove } from "./values.js";

const $ = (id) => document.getElementById(id);

const endReason = (node) => (node.probe?.over ? words.ended(node.position) : words.repeated(node.position));

// How a game ended, in words.
export const endText = (node) => `${endReason(node)} ${words.score(words.finalScore(node.position, node.probe?.over))}`;

// Draws all of it for a node. waiting says that the server is being asked.
export function show(node, waiting, onMove) {
  const hints = $("hints").checked;
  showPits(node, hints);
  showBanner(node);
  showVerdict(node, hints);
  showBar(node, hints);
  showMoves(node, hints, onMove);
  $("moves-hint").textContent = movesHint(node, waiting);
  $("best").disabled = !node.probe || isEnd(node) || !bestMove(node);
  $("moves-card").hidden = !hints || isEnd(node);
  $("line-card").hidden = !hints || isEnd(node) || (!node.probe && !waiting);
  $("graph-card").hidden = !hints || path(node)[0].children.length === 0;
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

// The result of a finished game, or that one player has more than half of all seeds.
function showBanner(node) {
  const { taken, pits } = node.position, over = isEnd(node);
  const ahead = taken.findIndex((n) => 2 * n > sum(pits) + sum(taken));
  $("banner").hidden = !over && ahead < 0;
  $("rematch").hidden = !over;
  $("to-analysis").hidden = session.analysis;
  if (over) $("result").textContent = words.score(words.finalScore(node.position, node.probe?.over));
  else if (ahead >= 0) $("result").textContent = t("{who} has {n} of {all} seeds: the game is decided.", { who: words.name(ahead), n: taken[ahead], all: sum(pits) + sum(taken) });
}

function showVerdict(node, hints) {
  const p = node.position;
  const program = seat(p.turn) !== "you" && node.children.length === 0;
  $("turn").textContent = isEnd(node) ? t("The game is over.") : program ? t("{who} to move (computer, {level}).", { who: words.name(p.turn), level: levelName(seat(p.turn)) }) : words.toMove(p.turn);
  $("verdict").textContent = "";
  $("gave").textContent = "";
  $("fact").textContent = node.probe ? fact(node, hints) : "";
  if (!node.probe) return;
  if (isEnd(node)) $("verdict").textContent = endReason(node);
  else if (isPublished(node)) $("verdict").textContent = t("With best play on both sides, this is a draw.");
  if (!hints) return;
  if (!isEnd(node) && !isPublished(node)) {
    const value = valueOf(node);
    $("verdict").textContent = `${words.verdict(p, value)} ${words.outcome(p, value)}`;
    $("verdict").append(badge(node, value));
  }
  if (node.parent?.probe) $("gave").textContent = words.gaveWords(node, givenAway(node));
}

// Whether the value of a position is not in the tables, but in the literature.
const isPublished = (node) => session.rules === "awari" && session.pits === 12 && equal(node.position, usualStart(12)) && !isExact(valueOf(node));

// What is known about the game as a whole.
function fact(node, hints) {
  const more = sum(node.position.pits) - session.solved;
  const source = isPublished(node) ? t("J. W. Romein and H. E. Bal, “Awari is solved”, ICGA Journal 25, 2002.") : "";
  if (isEnd(node) || session.solved < 0) return "";
  if (more > 0) return `${source} ${t("From {solved} seeds on I know everything: {more} more to take.", { solved: session.solved, more })}`.trim();
  return hints ? "" : t("I know everything from here on: “Values” shows it.");
}

function badge(node, value) {
  if (isExact(value)) return element("span", "badge exact", t("exact"));
  if (tells(value)) return element("span", "badge bound", t("proven bounds"));
  return element("span", "badge unknown", node.found ? t("a guess") : t("searching …"));
}

// The bar: how far ahead South will be, from the middle. Where only bounds are known, a
// hatched part goes from bound to bound; a guess is paler. Until a value is there, its
// place is kept: what stands below it may be just about to be clicked.
function showBar(node, hints) {
  const bar = $("bar"), lead = node.probe ? outcome(node) : null;
  const known = lead && (tells(lead) || estimate(lead) !== null);
  bar.hidden = !hints;
  bar.classList.toggle("unknown", !known);
  if (!hints || !known) return;
  const total = Math.max(1, sum(node.position.pits) + sum(node.position.taken));
  const { low, high } = tells(lead) ? lead : { low: lead.guess, high: lead.guess };
  const place = (n) => Math.min(1, Math.max(0, 0.5 + n / total / 2));
  bar.style.setProperty("--low", place(low));
  bar.style.setProperty("--high", place(high));
  bar.classList.toggle("guess", !tells(lead));
  const text = !tells(lead) ? `≈\u00a0${words.signed(low)}` : low < high ? `${words.signed(low)}…${words.signed(high)}` : words.signed(low);
  $("bar-text").textContent = text;
  bar.setAttribute("aria-label", t("South will be ahead by {n} at the end", { n: text }));
}

function showMoves(node, hints, onMove) {
  const worth = (move) => estimate(valueOfMove(node, move.pit)) ?? -Infinity;
  const legal = hints && !isEnd(node) ? legalMoves(node).sort((a, b) => worth(b) - worth(a)) : [];
  $("moves").tBodies[0].replaceChildren(...legal.map((move) => moveRow(node, move, onMove)));
  $("moves").hidden = legal.length === 0;
}

function moveRow(node, move, onMove) {
  const { turn, pits } = node.position;
  const value = valueOfMove(node, move.pit), chip = words.chip(value);
  const row = element("tr", isBest(node, move.pit) ? "best" : "");
  const play = element("button", `move ${NAMES[turn].toLowerCase()}`, words.short(turn, move.pit, 0));
  play.type = "button";
  play.setAttribute("aria-label", t("Play {pit}", { pit: words.pit(turn, move.pit) }));
  play.addEventListener("click", () => onMove(move.pit));
  const worth = chip ? element("span", `chip ${chip.kind}`, chip.text) : "";
  const plies = element("span", "", String(node.plies?.[move.pit] ?? "–"));
  if (node.plies?.[move.pit] === undefined && node.plies) {
    plies.textContent = "?";
    plies.title = t("plies unknown");
  }
  for (const content of [play, String(move.captured || "–"), worth, meter(value, Math.max(1, sum(pits))), plies]) {
    const cell = element("td");
    cell.append(content);
    row.append(cell);
  }
  return row;
}

// A bar from the middle to the right for seeds won, to the left for seeds lost;
// where bounds tell something, a paler one from bound to bound.
function meter(value, total) {
  const place = (n) => 0.5 + n / total / 2;
  const exact = isExact(value);
  const m = element("span", exact ? "meter" : "meter open");
  const [from, to] = exact ? [Math.min(0, value.low), Math.max(0, value.low)] : [value.low, value.high];
  if (from === to || !tells(value)) return m;
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
  if (!node.found) return t("Searching …");
  return node.found.exact ? t("A search proved the value.") : t("≈ is a guess of the search; what has no ≈ is proven.");
}
