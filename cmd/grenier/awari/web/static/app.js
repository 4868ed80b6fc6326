// The page: keeps the game, asks the server about each position, and lets board.js
// draw. game.js has positions, words.js what is said, editor.js editing, layers.js
// the charts, api.js the questions.

import * as api from "./api.js";
import * as board from "./board.js";
import * as editor from "./editor.js";
import * as words from "./words.js";
import { showLayers } from "./layers.js";
import { MAX_SEEDS, NAMES, SOUTH, after, fromHash, ownerOf, pitOf, position, same, sum, toHash, view } from "./game.js";

const $ = (id) => document.getElementById(id);

const PROGRAM_WAIT = 700; // ms before the program moves, so that one sees what it answers to
const SEARCH_TIMES = [400, 4000]; // ms: a first answer soon, a better one later

let pits = 12; // of the board, both players together
let solved = -1; // seeds of the highest solved layer
let past = []; // {position, move}: where the game was, and the move made there
let now = null; // the position shown
let future = []; // what was undone, nearest last
let known = null; // what the server said about now, or null while it is asked
let line = null; // best line from now, or null
let found = null; // what a search found out about now where the tables do not tell, or null
let searching = new AbortController(); // ends the search for a position that is left
let asking = 0; // number of the latest question; answers to earlier ones are out of date
let asked = false; // the server is being asked about now
let moving = false; // seeds are flying
let trouble = ""; // what was wrong with the link that was followed

// ---- what is shown ----------------------------------------------------------

// Shows the position: first the seeds, then, when the server has told, the rest.
async function show() {
  const mine = ++asking;
  known = line = found = null;
  asked = true;
  searching.abort();
  searching = new AbortController();
  board.settle();
  if (!$("editor").hidden) editor.close();
  history.replaceState(null, "", toHash(now));
  board.show(now.pits, now.taken);
  board.turn(now.turn);
  render();
  try {
    const answer = await api.probe(view(now));
    if (mine !== asking) return;
    known = answer;
    complain(trouble);
  } catch (error) {
    if (mine !== asking) return;
    complain(error.message);
  }
  asked = false;
  render();
  if (!known) return;
  if (isEnd()) {
    announce(endText());
    return;
  }
  const answered = known.solved ? findLine(mine) : look(mine);
  if (seat(now.turn) !== "program") return;
  await Promise.all([answered, new Promise((resolve) => setTimeout(resolve, PROGRAM_WAIT))]);
  if (mine === asking) playBest();
}

// Asks for the best line from a solved position.
async function findLine(mine) {
  try {
    const answer = await api.line(view(now));
    if (mine !== asking) return;
    line = answer;
  } catch (error) {
    if (mine !== asking) return;
    line = { failed: error.message };
  }
  renderLine();
}

// Has a position searched that is not solved, some time longer each time, until its
// value is known. Ends after the first time if it is the turn of the program.
async function look(mine) {
  for (const ms of SEARCH_TIMES) {
    try {
      const answer = await api.search(view(now), ms, searching.signal);
      if (mine !== asking) return;
      found = answer;
    } catch (error) {
      if (mine !== asking) return;
      complain(error.message);
      return;
    }
    render();
    if (found.exact || seat(now.turn) === "program") return;
  }
}

// Everything but the seeds.
function render() {
  const hints = $("hints").checked;
  renderPits(hints);
  renderVerdict(hints);
  renderMoves(hints);
  renderLine();
  renderPast();
  $("undo").disabled = past.length === 0;
  $("redo").disabled = future.length === 0;
  $("best").disabled = !known || isEnd() || !bestMove();
  $("moves-card").hidden = $("line-card").hidden = !hints;
}

function renderPits(hints) {
  const best = bestValue();
  const last = past.at(-1);
  const origin = last ? pitOf(last.position.turn, last.move.pit, pits) : -1;
  for (let pit = 0; pit < pits; pit++) {
    const { player, number } = ownerOf(pit, pits);
    const move = player === now.turn ? known?.moves[number] : undefined;
    const value = move?.legal ? valueOfMove(move) : undefined;
    let label = `${NAMES[player]}, pit ${number}, ${words.seeds(now.pits[pit])}`;
    if (move?.legal) label += hints ? `, ${words.spoken(value)}` : ", can be played";
    if (move && !move.legal && move.starves) label += ", may not be played: it leaves the opponent without seeds";
    board.mark(pit, {
      label,
      chip: hints && move?.legal ? words.chip(value) : null,
      playable: Boolean(move?.legal) && !isEnd(),
      origin: pit === origin,
      best: hints && isBest(move, best),
    });
  }
}

function renderVerdict(hints) {
  const verdict = $("verdict");
  $("turn").textContent = isEnd() ? "The game is over." : `${NAMES[now.turn]} to move${seat(now.turn) === "program" ? " (the program)" : ""}.`;
  if (!known) verdict.textContent = "";
  else if (isEnd()) verdict.textContent = endText();
  else if (!hints) verdict.textContent = "";
  else {
    const value = valueOfBoard();
    verdict.textContent = `${words.verdict(now, value)} ${words.outcome(now, value)}`;
    verdict.append(badge(value));
  }
}

function badge(value) {
  const { kind } = words.chip(value);
  if (words.isExact(value)) return board.element("span", "badge exact", "exact");
  const text = { bound: "proven bound", guess: "a guess", unknown: found ? "unknown" : "searching …" }[kind];
  return board.element("span", `badge ${kind}`, text);
}

function renderMoves(hints) {
  const body = $("moves").tBodies[0];
  const legal = hints && known ? known.moves.filter((m) => m.legal) : [];
  const best = bestValue();
  body.replaceChildren(...legal.map((move) => moveRow(move, best)));
  $("moves").hidden = legal.length === 0;
  $("moves-hint").textContent = movesHint();
}

function moveRow(move, best) {
  const value = valueOfMove(move);
  const row = board.element("tr", isBest(move, best) ? "best" : "");
  const play = board.element("button", "move", `${NAMES[now.turn][0]}${move.pit}`);
  play.type = "button";
  play.setAttribute("aria-label", `Play pit ${move.pit}`);
  play.addEventListener("click", () => playPit(move.pit));
  const chip = words.chip(value);
  const cells = [play, String(move.captured || "–"), board.element("span", `chip ${chip.kind}`, chip.text), meter(value)];
  for (const content of cells) {
    const cell = board.element("td");
    cell.append(content);
    row.append(cell);
  }
  if (!words.isExact(value)) row.lastChild.append(board.element("span", "proven", words.proven(value, sum(now.pits))));
  return row;
}

// A bar from the middle to the right for what is won, to the left for what is lost;
// where only bounds are known, a paler one from bound to bound.
function meter(value) {
  const total = Math.max(1, sum(now.pits));
  const place = (n) => 0.5 + n / total / 2;
  const exact = words.isExact(value);
  const m = board.element("span", exact ? "meter" : "meter open");
  const [from, to] = exact ? [Math.min(0, value.low), Math.max(0, value.low)] : [value.low, value.high];
  if (from === to) return m;
  const bar = board.element("span", !exact ? "between" : value.low > 0 ? "win" : "loss");
  bar.style.setProperty("--from", place(from));
  bar.style.setProperty("--part", place(to) - place(from));
  m.append(bar);
  return m;
}

function movesHint() {
  if (!known) return asked ? "Asking the tables …" : "No answer.";
  if (isEnd()) return "There is no move.";
  if (known.solved) return "Exact, from the tables.";
  const tables = `The board has ${words.seeds(sum(now.pits))}, the tables end at ${solved}.`;
  if (!found) return `${tables} Searching …`;
  if (found.exact) return `${tables} A search proved the value: ${effort()}.`;
  return `${tables} “≈” is a guess by a search (${effort()}), “≥” and “≤” are proven by it.`;
}

// How much was searched.
function effort() {
  return `${found.depth} plies deep, ${new Intl.NumberFormat("en").format(found.nodes)} positions in ${(found.milliseconds / 1000).toFixed(1)} s`;
}

function renderLine() {
  const list = $("line");
  $("line-hint").textContent = lineHint();
  const moves = line?.moves ?? found?.line.map((pit, i) => ({ pit, captured: i === 0 ? known.moves[pit].captured : 0 })) ?? [];
  list.replaceChildren(...moves.map((move, i) => {
    const player = i % 2 === 0 ? now.turn : 1 - now.turn;
    return board.element("li", NAMES[player].toLowerCase(), words.short(player, move.pit, move.captured));
  }));
}

function lineHint() {
  if (!known || isEnd()) return "";
  if (!known.solved) return found ? "As far as the search looked. Only an exact value vouches for its first move, nothing for the others." : "Searching …";
  if (!line) return "Looking …";
  if (line.failed) return line.failed;
  return line.end === "repetition" ? "Then the position repeats: endless play, worth 0." : "Then the game is over.";
}

function renderPast() {
  const list = $("past");
  list.replaceChildren(...past.map(({ position: p, move }, i) => {
    const item = board.element("li", NAMES[p.turn].toLowerCase());
    const back = board.element("button", "", words.short(p.turn, move.pit, move.captured));
    back.type = "button";
    back.setAttribute("aria-label", `Back to before move ${i + 1}: ${words.told(p, move)}`);
    back.addEventListener("click", () => undo(past.length - i));
    item.append(back);
    return item;
  }));
  $("past-hint").hidden = past.length > 0;
}

function announce(text) {
  $("live").textContent = text;
}

function complain(text) {
  $("problem").textContent = text;
  $("problem").hidden = text === "";
}

// ---- what is known ----------------------------------------------------------

// What the tables say exactly, as an interval; otherwise what a search found out, if
// it did; otherwise that nothing is known.
function interval(value, searched) {
  if (value !== null) return { low: value, high: value, guess: null };
  if (searched) return { low: searched.lower, high: searched.upper, guess: searched.estimate };
  return { low: -sum(now.pits), high: sum(now.pits), guess: null };
}

const valueOfBoard = () => interval(known.value, found);
const valueOfMove = (move) => interval(move.value, found?.moves[move.pit]);

// The largest exact value of a move if no other can be better, or null.
function bestValue() {
  if (!known) return null;
  const values = known.moves.filter((m) => m.legal).map(valueOfMove);
  if (values.length === 0) return null;
  const best = Math.max(...values.map((v) => v.low));
  return values.every((v) => v.high <= best) ? best : null;
}

// Whether a move is known to be best; where nothing is proven, whether the search
// takes it for the best.
function isBest(move, best) {
  if (!move?.legal) return false;
  if (best !== null) return valueOfMove(move).low === best;
  return found !== null && found.best === move.pit;
}

// The move to play, if it is known.
function bestMove() {
  if (line?.moves?.length > 0) return known.moves[line.moves[0].pit];
  const best = bestValue();
  return known?.moves.find((move) => isBest(move, best)) ?? null;
}

const isEnd = () => Boolean(known?.over) || repeats();

// Whether the player to move had this board before: it can go on for ever.
const repeats = () => past.some(({ position: p }) => same(p, now));

function endText() {
  if (known?.over) return words.ended(now);
  return `This position was there before: play can go on for ever, and the ${words.seeds(sum(now.pits))} left count for nobody. ${words.score(now.taken)}`;
}

const seat = (player) => $(`seat-${player}`).value;

// ---- what happens -----------------------------------------------------------

async function playPit(number) {
  const move = known?.moves[number];
  if (!move || moving || isEnd()) return;
  if (!move.legal) {
    announce(move.starves ? `Pit ${number} may not be played: it leaves the opponent without seeds.` : `Pit ${number} is empty.`);
    return;
  }
  const from = now;
  past.push({ position: from, move });
  future = [];
  trouble = "";
  now = after(from, move);
  announce(`${words.told(from, move)} ${NAMES[now.turn]} to move.`);
  const mine = ++asking; // what was asked about the position before does not matter now
  searching.abort();
  known = line = found = null;
  asked = moving = true;
  render();
  const place = (pit) => pitOf(from.turn, pit, pits);
  await board.fly(place(move.pit), move.sown.map(place), (move.taken ?? []).map(place), from.turn, from.pits, from.taken);
  if (mine !== asking) return; // something else was asked for meanwhile
  moving = false;
  show();
}

async function playBest() {
  if (!known || isEnd()) return;
  const mine = asking;
  if (known.solved && !line) await findLine(mine);
  if (mine !== asking) return;
  const move = bestMove();
  if (move) playPit(move.pit);
  else announce("The best move is not known yet.");
}

function undo(steps = 1) {
  // Against the program one goes back to one's own turn.
  if (steps === 1 && past.length > 1 && seat(past.at(-1).position.turn) === "program") steps = 2;
  for (; steps > 0 && past.length > 0; steps--) {
    future.push({ position: now, move: past.at(-1).move });
    now = past.pop().position;
  }
  stopFlying();
  announce(`Taken back. ${NAMES[now.turn]} to move.`);
  show();
}

function redo() {
  const next = future.pop();
  if (!next) return;
  past.push({ position: now, move: next.move });
  now = next.position;
  stopFlying();
  announce(`Played again. ${NAMES[now.turn]} to move.`);
  show();
}

function stopFlying() {
  moving = false;
  asking++;
  searching.abort();
  board.settle();
}

// Begins a game at a position. If that is not the one that a link asked for, problem
// says why.
function begin(p, problem = "") {
  past = [];
  future = [];
  now = p;
  trouble = problem;
  stopFlying();
  show();
}

// Begins at the position of the address, or at the usual one.
function beginAtAddress() {
  const usual = position(Array(pits).fill(firstStart()), SOUTH);
  if (location.hash.length < 2) {
    begin(usual);
    return;
  }
  try {
    begin(fromHash(location.hash, pits));
  } catch (error) {
    begin(usual, `The link was not understood: ${error.message}.`);
  }
}

function newGame() {
  const choice = $("start").value;
  begin(choice.startsWith("scatter-") ? scattered(Number(choice.slice(8))) : position(Array(pits).fill(Number(choice))));
  announce(`New game with ${words.seeds(sum(now.pits))}. ${NAMES[now.turn]} to move.`);
}

// A position with so many seeds, each in a pit taken at random.
function scattered(seeds) {
  const board = Array(pits).fill(0);
  for (; seeds > 0; seeds--) board[Math.floor(Math.random() * pits)]++;
  return position(board);
}

async function share() {
  const address = location.href;
  try {
    await navigator.clipboard.writeText(address);
    flash("share", "Link copied");
  } catch {
    flash("share", "The link is in the address bar");
  }
}

// Shows a text on a button for a moment, and reads it out.
function flash(id, text) {
  const button = $(id);
  button.dataset.text ??= button.textContent;
  button.textContent = text;
  announce(text);
  setTimeout(() => { button.textContent = button.dataset.text; }, 1600);
}

function startEditing() {
  stopFlying();
  editor.open(now, {
    done: (p) => {
      begin(p);
      announce(`Position set: ${words.seeds(sum(p.pits))}. ${NAMES[p.turn]} to move.`);
      board.focus(pitOf(now.turn, 0, pits));
    },
    cancel: () => {
      show();
      board.focus(pitOf(now.turn, 0, pits));
    },
  });
}

// ---- keys -------------------------------------------------------------------

const shortcuts = {
  u: () => undo(), r: redo, b: playBest, e: startEditing, n: newGame, s: share,
  h: () => { $("hints").click(); }, "?": () => $("help").showModal(),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  if (event.target.closest("input[type=text], select")) return;
  if (event.key.startsWith("Arrow") && !event.target.closest("input, .scroll, .moves, summary")) {
    const at = board.focused();
    board.focus(at < 0 ? pitOf(now.turn, 0, pits) : board.neighbour(at, event.key));
    event.preventDefault();
    return;
  }
  if (editor.isOpen()) {
    if (editor.onKey(event)) event.preventDefault();
    return;
  }
  if (/^\d$/.test(event.key) && Number(event.key) < pits / 2) {
    playPit(Number(event.key));
    event.preventDefault();
    return;
  }
  const act = shortcuts[event.key];
  if (act) {
    act();
    event.preventDefault();
  }
}

function onPit(pit, event) {
  if (editor.isOpen()) {
    editor.onPit(pit, event.shiftKey);
    return;
  }
  const { player, number } = ownerOf(pit, pits);
  if (player === now.turn) playPit(number);
  else announce(`This is ${NAMES[player]}’s pit; ${NAMES[now.turn]} is to move.`);
}

// ---- beginning --------------------------------------------------------------

// The games one can begin, those that the tables know first in mind.
function fillStarts() {
  const options = [];
  for (let each = Math.floor(MAX_SEEDS / pits); each > 0; each--) {
    const seeds = each * pits;
    options.push(new Option(`${each} in each pit (${seeds}${seeds > solved ? ", searched" : ""})`, each));
  }
  for (const seeds of new Set([solved, 24, 16, 10].filter((n) => n > 0 && n <= solved))) {
    options.push(new Option(`${seeds} at random`, `scatter-${seeds}`));
  }
  $("start").replaceChildren(...options);
  $("start").value = firstStart();
}

// The seeds in each pit to begin with: as many as are solved.
const firstStart = () => Math.max(1, Math.min(Math.floor(MAX_SEEDS / pits), Math.floor(solved / pits)));

function describe(tables) {
  const rules = tables.rules === "awari" ? "awari rules" : `${tables.rules} rules`;
  $("about").textContent = `${rules}, ${pits} pits, ` + (solved < 0 ? "nothing solved yet" : `every position with up to ${words.seeds(solved)} solved`);
  $("help-last").textContent = pits / 2 - 1;
  $("help-rules").textContent = tables.rules === "awari"
    ? "A move that leaves the opponent without seeds is legal only if there is no other kind of move; it takes everything left."
    : "A move that leaves the opponent without seeds is never legal.";
  $("help-rules").textContent += " Who has no move loses the seeds left on the board.";
}

function wire() {
  const clicks = {
    undo: () => undo(), redo, best: playBest, edit: startEditing, share, new: newGame,
    "help-open": () => $("help").showModal(),
  };
  for (const [id, act] of Object.entries(clicks)) $(id).addEventListener("click", act);
  for (const player of [0, 1]) $(`seat-${player}`).addEventListener("change", () => show());
  $("hints").addEventListener("change", render);
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", beginAtAddress);
}

async function main() {
  wire();
  try {
    const tables = await api.layers();
    pits = tables.pits;
    solved = tables.layers.length - 1;
    describe(tables);
    showLayers(tables, complain).catch((error) => complain(error.message));
  } catch (error) {
    complain(error.message);
    return;
  }
  board.build(pits, onPit);
  board.choose(0);
  fillStarts();
  beginAtAddress();
}

main();
