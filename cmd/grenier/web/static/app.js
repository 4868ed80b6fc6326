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

const TABLES_WAIT = 700; // ms before the tables move, so that one sees what they answer to

let pits = 12; // of the board, both players together
let solved = -1; // seeds of the highest solved layer
let past = []; // {position, move}: where the game was, and the move made there
let now = null; // the position shown
let future = []; // what was undone, nearest last
let known = null; // what the server said about now, or null while it is asked
let line = null; // best line from now, or null
let asking = 0; // number of the latest question; answers to earlier ones are out of date
let moving = false; // seeds are flying

// ---- what is shown ----------------------------------------------------------

// Shows the position: first the seeds, then, when the server has told, the rest.
async function show() {
  const mine = ++asking;
  known = line = null;
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
    complain("");
  } catch (error) {
    if (mine !== asking) return;
    complain(error.message);
  }
  render();
  if (!known) return;
  if (isEnd()) {
    announce(endText());
    return;
  }
  findLine(mine);
  if (seat(now.turn) === "tables") setTimeout(() => mine === asking && playBest(), TABLES_WAIT);
}

// Asks for the best line where there can be one.
async function findLine(mine) {
  if (!known.solved) return;
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
    const value = move?.legal ? valueOf(move) : undefined;
    let label = `${NAMES[player]}, pit ${number}, ${words.seeds(now.pits[pit])}`;
    if (move?.legal) label += hints ? `, ${words.spoken(value, now.pits.reduce((a, b) => a + b))}` : ", can be played";
    if (move && !move.legal && move.starves) label += ", may not be played: North and South must leave each other a seed";
    board.mark(pit, {
      label,
      chip: hints && move?.legal ? words.chip(value, sum(now.pits)) : null,
      playable: Boolean(move?.legal) && !isEnd(),
      origin: pit === origin,
      best: hints && Boolean(move?.legal) && best !== null && words.isExact(value) && value.low === best,
    });
  }
}

function renderVerdict(hints) {
  const verdict = $("verdict");
  $("turn").textContent = isEnd() ? "The game is over." : `${NAMES[now.turn]} to move${seat(now.turn) === "tables" ? " (the tables)" : ""}.`;
  if (!known) verdict.textContent = "";
  else if (isEnd()) verdict.textContent = endText();
  else if (!hints) verdict.textContent = "";
  else {
    const value = valueOf(known);
    verdict.textContent = `${words.verdict(now, value)} ${words.outcome(now, value)}`;
    verdict.append(badge(value));
  }
}

function badge(value) {
  if (words.isExact(value)) return board.element("span", "badge exact", "exact");
  if (value) return board.element("span", "badge bound", "bound");
  return board.element("span", "badge unknown", "not solved");
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
  const value = valueOf(move);
  const row = board.element("tr", words.isExact(value) && value.low === best ? "best" : "");
  const play = board.element("button", "move", `${NAMES[now.turn][0]}${move.pit}`);
  play.type = "button";
  play.setAttribute("aria-label", `Play pit ${move.pit}`);
  play.addEventListener("click", () => playPit(move.pit));
  const chip = words.chip(value, sum(now.pits));
  const cells = [play, String(move.captured || "–"), board.element("span", `chip ${chip.kind}`, chip.text), meter(value)];
  for (const content of cells) {
    const cell = board.element("td");
    cell.append(content);
    row.append(cell);
  }
  return row;
}

// A bar from the middle to the right for what is won, to the left for what is lost.
function meter(value) {
  const m = board.element("span", "meter");
  if (!words.isExact(value) || value.low === 0) return m;
  const bar = board.element("span", value.low > 0 ? "win" : "loss");
  bar.style.setProperty("--part", Math.abs(value.low) / Math.max(1, sum(now.pits)));
  m.append(bar);
  return m;
}

function movesHint() {
  if (!known) return "Asking the tables …";
  if (isEnd()) return "There is no move.";
  if (known.solved) return "";
  const seeds = sum(now.pits);
  return `The board has ${seeds} seeds, the tables end at ${solved}. Only moves that lead into them have an exact value.`;
}

function renderLine() {
  const list = $("line");
  list.replaceChildren();
  $("line-hint").textContent = lineHint();
  if (!line?.moves) return;
  let player = now.turn;
  for (const move of line.moves) {
    list.append(board.element("li", NAMES[player].toLowerCase(), words.short(player, move.pit, move.captured)));
    player = 1 - player;
  }
}

function lineHint() {
  if (!known || isEnd()) return "";
  if (!known.solved) return "None: the position is above the solved layers.";
  if (!line) return "Looking …";
  if (line.failed) return line.failed;
  return line.end === "repetition" ? "Then the position repeats: an endless play, worth 0." : "Then the game is over.";
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

// The value of a board or a move as an interval, or null.
function valueOf(thing) {
  return thing.value === null ? null : { low: thing.value, high: thing.value };
}

// The largest exact value of a move if no other can be better, or null.
function bestValue() {
  if (!known) return null;
  const values = known.moves.filter((m) => m.legal).map(valueOf);
  if (values.length === 0 || values.some((v) => v === null)) return null;
  return Math.max(...values.map((v) => v.low));
}

// The move to play, if it is known.
function bestMove() {
  if (line?.moves?.length > 0) return known.moves[line.moves[0].pit];
  const best = bestValue();
  return best === null ? null : known.moves.find((m) => m.legal && m.value === best);
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
  now = after(from, move);
  announce(`${words.told(from, move)} ${NAMES[now.turn]} to move.`);
  await animate(from, move);
  await show();
}

// Lets the seeds of a move fly. Whoever asks for something else meanwhile is not
// made to wait.
async function animate(from, move) {
  const mine = ++asking;
  moving = true;
  try {
    const place = (pit) => pitOf(from.turn, pit, pits);
    await board.fly(place(move.pit), move.sown.map(place), (move.taken ?? []).map(place), from.turn, from.pits, from.taken);
  } finally {
    moving = mine === asking ? false : moving;
  }
}

async function playBest() {
  if (!known || isEnd()) return;
  const mine = asking;
  if (known.solved && !line) await findLine(mine);
  if (mine !== asking) return;
  const move = bestMove();
  if (move) playPit(move.pit);
  else announce("The tables do not know this position.");
}

function undo(steps = 1) {
  // Against the tables one goes back to one's own turn.
  if (steps === 1 && past.length > 1 && seat(past.at(-1).position.turn) === "tables") steps = 2;
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
}

// Begins a game at a position.
function begin(p) {
  past = [];
  future = [];
  now = p;
  stopFlying();
  show();
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
  board.settle();
  board.show(now.pits, now.taken);
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
  if (event.key.startsWith("Arrow") && !event.target.closest("input, .scroll, summary")) {
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
    options.push(new Option(`${each} in each pit (${seeds}${seeds > solved ? ", not solved" : ""})`, each));
  }
  for (const seeds of new Set([solved, 24, 16, 10].filter((n) => n > 0 && n <= solved))) {
    options.push(new Option(`${seeds} at random`, `scatter-${seeds}`));
  }
  $("start").replaceChildren(...options);
  $("start").value = firstStart();
}

// The seeds in each pit to begin with: as many as are solved.
const firstStart = () => Math.max(1, Math.min(Math.floor(MAX_SEEDS / pits), Math.floor(solved / pits)));

function fromAddress() {
  if (location.hash.length < 2) return position(Array(pits).fill(firstStart()), SOUTH);
  try {
    return fromHash(location.hash, pits);
  } catch (error) {
    setTimeout(() => complain(`The link was not understood: ${error.message}.`));
    return position(Array(pits).fill(firstStart()), SOUTH);
  }
}

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
  addEventListener("hashchange", () => begin(fromAddress()));
}

async function main() {
  wire();
  try {
    const tables = await api.layers();
    pits = tables.pits;
    solved = tables.layers.length - 1;
    describe(tables);
    showLayers(tables);
  } catch (error) {
    complain(error.message);
    return;
  }
  board.build(pits, onPit);
  board.choose(0);
  fillStarts();
  begin(fromAddress());
}

main();
