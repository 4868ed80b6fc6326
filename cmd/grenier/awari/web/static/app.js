// The page on which one plays and analyses: it acts when somebody plays, steps
// through the game, edits or opens a link. session.js has the game; known.js, bestline.js,
// record.js and graph.js show it.

import "./shell.js";
import * as address from "./address.js";
import * as api from "./api.js";
import * as bestline from "./bestline.js";
import * as board from "./board.js";
import * as editor from "./editor.js";
import { Silence } from "./failure.js";
import * as graph from "./graph.js";
import { t } from "./i18n.js";
import { link } from "./link.js";
import * as known from "./known.js";
import { recall, remember } from "./memory.js";
import * as record from "./record.js";
import * as seats from "./seats.js";
import * as sound from "./sound.js";
import * as text from "./text.js";
import * as words from "./words.js";
import { ownerOf, pitOf, position, sum, usualStart, view } from "./game.js";
import { grow, nodeAt, seat, session } from "./session.js";
import * as tree from "./tree.js";
import { bestMove, isExact, looseMove, mistakes, valueOf } from "./values.js";

const $ = (id) => document.getElementById(id);

const COMPUTER_WAIT = 700; // ms before the computer moves, so that one sees the move it answers
const SEARCH_TIMES = [400, 4000]; // ms: a first answer soon, a better one later
const ANALYSIS_TIME = 1000; // ms for each position that is analysed

let searching = new AbortController(); // ends the search for a position that is left
let asking = 0; // number of the latest question; answers to earlier ones are out of date
let asked = false; // the server is being asked about the position
let moving = false; // seeds are flying
let analysing = null; // ends the analysis of a game, or null

// ---- what is shown ----------------------------------------------------------

// Shows a node: first the seeds, then, when the server has told, the rest.
async function show(node) {
  const mine = stop();
  session.at = node;
  if (node.parent) node.parent.chosen = node;
  asked = true;
  if (!$("editor").hidden) editor.close();
  board.show(node.position.pits, node.position.taken);
  board.turn(node.position.turn);
  render();
  try {
    node.probe ??= await api.probe(view(node.position));
  } catch (error) {
    if (mine === asking) complain(error.message);
  }
  if (mine !== asking) return;
  asked = false;
  render();
  if (!node.probe) return;
  if (tree.isEnd(node)) {
    announce(known.endText(node));
    return;
  }
  const answered = node.probe.solved ? findLine(node, mine) : look(node, mine);
  answered.then(() => findPlies(node, mine));
  if (seat(node.position.turn) === "you" || node.children.length > 0) return;
  await Promise.all([answered, new Promise((resolve) => setTimeout(resolve, COMPUTER_WAIT))]);
  if (mine === asking) playComputer(node);
}

// Ends whatever is going on; the number of the next question.
function stop() {
  moving = false;
  searching.abort();
  searching = new AbortController();
  board.settle();
  return ++asking;
}

// Asks for the best line from a solved position.
async function findLine(node, mine) {
  if (!node.best?.moves) {
    try {
      node.best = await api.line(view(node.position));
    } catch (error) {
      node.best = { failed: error.message };
    }
  }
  if (mine === asking) render();
}

// Asks how many plies after each move the next capture comes, if values are shown.
async function findPlies(node, mine) {
  if (mine !== asking || node.plies?.length || !node.probe?.solved || !$("hints").checked) return;
  try {
    node.plies = (await api.distances(view(node.position))).plies;
  } catch {
    node.plies = []; // it takes too long: the page says that they are not known
  }
  if (mine === asking) render();
}

// Has a position searched that is not solved, some time longer each time, until its
// value is known. Ends after the first time if it is the turn of the computer.
async function look(node, mine) {
  for (const ms of SEARCH_TIMES) {
    if (isExact(valueOf(node)) && node.found) return;
    if (!(node.found?.milliseconds >= ms)) {
      try {
        const found = await api.search(view(node.position), ms, searching.signal);
        node.found = found;
      } catch (error) {
        if (mine === asking) complain(error.message);
        return;
      }
    }
    if (mine !== asking) return;
    render();
    if (seat(node.position.turn) !== "you" && node.children.length === 0) return;
  }
}

// Everything but the seeds.
function render() {
  const { at, root } = session;
  known.show(at, asked, tryPit);
  bestline.show(at, playLine);
  record.show(root, at, visit);
  graph.show(at, visit);
  $("setup").hidden = session.analysis;
  $("again").hidden = !session.analysis;
  $("new").classList.toggle("main", root.children.length === 0);
  $("intro").hidden = root.children.length > 0 || session.analysis;
  document.title = record.title();
  $("undo").disabled = !at.parent && !session.before;
  $("redo").disabled = at.children.length === 0;
  $("analyse").textContent = analysing ? t("Stop") : t("Analyse the game");
  $("analyse").disabled = !analysing && unknown().length === 0;
}

const announce = (what) => { $("live").textContent = what; };

function complain(what) {
  $("problem").textContent = what;
  $("problem").hidden = what === "";
}

// Says something that the reader may want to undo.
function notice(what, button, act) {
  $("notice").hidden = what === "";
  $("notice-text").textContent = what;
  $("notice-act").textContent = button;
  $("notice-act").onclick = act;
}

// ---- the address ------------------------------------------------------------

// Keeps the game in the address: as a new entry of the history after a step that can be
// gone back from, else in place of the old one.
function keep(how) {
  const here = address.write(session);
  const state = { before: session.before };
  if (how === "push" && here !== location.pathname + location.search) history.pushState(state, "", here);
  else history.replaceState(state, "", here);
  if (session.root.children.length > 0) remember("last-game", here);
}

// Shows the game that the address asks for; whatever is wrong with it is told, and the
// address stays.
async function open() {
  const mine = stop();
  session.before = history.state?.before ?? "";
  notice("", "", null);
  const bare = address.isBare(location);
  const usual = usualStart(session.pits);
  let game = { root: tree.root(usual), problem: "" }, at = null, silent = "";
  try {
    const asksFor = address.read(location, session.pits);
    at = asksFor.at;
    session.seats = asksFor.seats ?? (bare ? seats.usual() : ["you", "you"]);
    setMode(!asksFor.seats && !bare);
    game.root = tree.root(asksFor.start);
    game = await grow(asksFor.start, asksFor.moves);
  } catch (error) {
    if (session.analysis === null) setMode(true);
    if (error instanceof Silence) silent = error.message;
    else game = { root: tree.root(usual), problem: error.message };
  }
  if (mine !== asking) return;
  try {
    session.at = nodeAt(game.root, game.problem || silent ? null : at);
  } catch (error) {
    session.at = nodeAt(game.root, null);
    game.problem = error.message;
  }
  session.root = game.root;
  complain(game.problem ? t("The link was not understood: {why}.", { why: game.problem }) : silent);
  seats.show();
  if (!game.problem && !silent && !bare) keep("replace");
  if (bare) remind();
  show(session.at);
}

// Offers the last game to somebody who comes back.
function remind() {
  const last = recall("last-game");
  if (!last) return;
  notice(t("Your last game was kept."), t("Go on with it"), () => go(last));
}

// Goes to the address of a game.
function go(to) {
  history.pushState({ before: address.write(session) }, "", to);
  open();
}

// Says whether the reader analyses or plays; where he begins to analyse, values are shown.
function setMode(analysis) {
  if (session.analysis !== analysis) $("hints").checked = analysis;
  session.analysis = analysis;
}

// Begins another game, or an analysis; the one before can be had back.
function begin({ root, at = root, players, analysis = false }, what) {
  const moved = session.root.children.length > 0 || session.analysis;
  session.before = address.write(session);
  Object.assign(session, { root, at, seats: players });
  setMode(analysis);
  seats.show();
  complain("");
  keep("push");
  notice(moved ? what : "", t("Back to the game before"), () => go(session.before));
  show(at);
  announce(`${what} ${words.toMove(at.position.turn)}`);
}

// ---- what happens -----------------------------------------------------------

// The reader wants to play a pit of the player whose turn it is. If he cannot, the board says why.
function tryPit(number) {
  const { position: { turn }, probe, children } = session.at;
  const move = probe?.moves[number], pit = words.pit(turn, number);
  if (!move || moving) return;
  if (tree.isEnd(session.at)) tell(turn, number, t("The game is over."));
  else if (seat(turn) !== "you" && children.length === 0) tell(turn, number, t("The computer moves here."));
  else if (move.starves && !move.legal) tell(turn, number, t("You may not play {pit}: it leaves the opponent without seeds.", { pit }));
  else if (!move.legal) tell(turn, number, t("There is no seed in {pit}.", { pit }));
  else playPit(number);
}

// Says something at a pit, and aloud.
function tell(player, number, what) {
  board.tell(pitOf(player, number, session.pits), what);
  announce(what);
}

async function playPit(number) {
  const node = session.at;
  const move = node.probe?.moves[number];
  if (!move?.legal || moving || tree.isEnd(node)) return;
  const { turn, pits: counts, taken } = node.position;
  const mine = stop();
  complain("");
  notice("", "", null);
  const next = tree.child(node, move);
  session.at = next;
  node.chosen = next;
  keep("push");
  announce(`${words.told(node.position, move)} ${words.toMove(next.position.turn)}`);
  asked = moving = true;
  render();
  const place = (pit) => pitOf(turn, pit, session.pits);
  await board.fly(place(move.pit), move.sown.map(place), (move.taken ?? []).map(place), turn, counts, taken);
  if (mine === asking) show(next); // else something was asked for meanwhile
}

// Plays some moves from here on at once, and shows the last position.
async function playLine(pits) {
  let node = session.at;
  const mine = stop();
  try {
    const { positions } = await api.game(view(node.position), pits);
    if (mine !== asking) return;
    for (const [i, pit] of pits.entries()) {
      node.probe ??= positions[i];
      node = tree.child(node, node.probe.moves[pit]);
    }
  } catch (error) {
    if (mine === asking) complain(error.message);
    return;
  }
  visit(node, "push");
}

async function playBest() {
  const node = session.at, mine = asking;
  if (!node.probe || tree.isEnd(node)) return;
  if (node.probe.solved && !node.best) await findLine(node, mine);
  if (mine !== asking) return;
  const move = bestMove(node);
  if (move) playPit(move.pit);
  else announce(t("The best move is not known yet."));
}

// The move of the computer: the best one, or one that gives away no more than its level
// allows.
function playComputer(node) {
  const loose = Number(seat(node.position.turn));
  const move = loose > 0 ? looseMove(node, loose) : null;
  if (move) playPit(move.pit);
  else playBest();
}

// Shows another point of the game.
function visit(node, how = "replace") {
  if (editor.isOpen()) return;
  complain("");
  session.at = node;
  keep(how);
  announce(node.parent ? `${words.told(node.parent.position, node.move)} ${words.toMove(node.position.turn)}` : t("The start of the game."));
  show(node);
}

// Goes back a move; against the computer to one's own turn; at the start to the game
// before.
function undo() {
  let { at } = session;
  if (!at.parent) {
    if (session.before) go(session.before);
    return;
  }
  at = at.parent;
  if (at.parent && seat(at.position.turn) !== "you" && seat(1 - at.position.turn) === "you") at = at.parent;
  visit(at);
}

function redo() {
  const { at } = session;
  const next = at.chosen ?? at.children[0];
  if (next) visit(next);
}

const toStart = () => visit(session.root);
const toEnd = () => visit(tree.line(session.at).at(-1));

function promote() {
  tree.promote(session.at);
  visit(session.at, "push");
}

function remove() {
  const { at } = session;
  if (!at.parent) return;
  tree.remove(at);
  visit(at.parent, "push");
  notice(t("The moves from there on were removed."), t("Bring them back"), () => history.back());
}

// The points of the line that are neither exact nor searched.
const unknown = () => tree.line(session.at).filter((n) => n.probe && !isExact(valueOf(n)) && !(n.found?.milliseconds >= ANALYSIS_TIME) && !tree.isEnd(n));

// Has all points of the line searched that the tables do not know, from the end on, until
// it is done or stopped.
async function analyse() {
  if (analysing) {
    analysing.abort();
    return;
  }
  const mine = analysing = new AbortController();
  for (const node of unknown().reverse()) {
    render();
    try {
      node.found = await api.search(view(node.position), ANALYSIS_TIME, mine.signal);
    } catch (error) {
      if (!mine.signal.aborted) complain(error.message);
      break;
    }
    if (mine.signal.aborted) break;
  }
  analysing = null;
  render();
}

// Begins a game from a position.
function play(start, players) {
  $("hints").checked = false;
  begin({ root: tree.root(start), players }, t("New game with {seeds}.", { seeds: words.seeds(sum(start.pits)) }));
}

function newGame() {
  const choice = $("start").value, { pits, turn, taken } = session.at.position;
  if (choice === "here") play(position(pits, turn, taken), seats.read());
  else if (choice.startsWith("scatter-")) play(scattered(Number(choice.slice(8))), seats.read());
  else play(position(Array(session.pits).fill(Number(choice))), seats.read());
}

// Another game from the same start, in which the players change sides.
const rematch = () => play(session.root.position, [...session.seats].reverse());

// Goes from the game to its analysis.
function toAnalysis() {
  session.seats = ["you", "you"];
  setMode(true);
  keep("push");
  show(session.at);
  analyse();
}

// Goes to the mistake of the line that is worst, or next or previous from here.
function toMistake(which) {
  const all = mistakes(session.at), here = tree.plies(session.at);
  const found = {
    worst: () => all.reduce((a, b) => (a && a.least >= b.least ? a : b), null),
    next: () => all.find((m) => tree.plies(m.node) > here),
    previous: () => all.findLast((m) => tree.plies(m.node) < here),
  }[which]();
  if (found) visit(found.node);
  else announce(t("There is no such mistake."));
}

// A position with the given number of seeds, each in a pit taken at random.
function scattered(seeds) {
  const pits = Array(session.pits).fill(0);
  for (; seeds > 0; seeds--) pits[Math.floor(Math.random() * session.pits)]++;
  return position(pits);
}

// Takes over a game that was read from a text; tells its mistakes.
async function load({ start, moves, seats: players }) {
  const { root, problem } = await grow(start, moves);
  if (problem) return problem;
  begin({ root, at: nodeAt(root, null), players, analysis: players.every((s) => s === "you") }, t("The game was read."));
  return "";
}

async function share() {
  try {
    await navigator.clipboard.writeText(link());
    flash("share", t("Link copied"));
  } catch {
    flash("share", t("The link is in the address bar"));
  }
}

// Shows a text on a button for a moment, and reads it out.
function flash(id, what) {
  const button = $(id);
  button.dataset.text ??= button.textContent;
  button.textContent = what;
  announce(what);
  setTimeout(() => { button.textContent = button.dataset.text; }, 1600);
}

function startEditing() {
  stop();
  editor.open(session.at.position, {
    done: (p) => {
      begin({ root: tree.root(p), players: ["you", "you"], analysis: true }, t("Position set: {seeds}.", { seeds: words.seeds(sum(p.pits)) }));
      board.focus(pitOf(p.turn, 0, session.pits));
    },
    cancel: () => {
      show(session.at);
      board.focus(pitOf(session.at.position.turn, 0, session.pits));
    },
  });
}

// Before the first move of a game that the reader begins, a choice of players counts at once.
function takeSeats() {
  const players = seats.read();
  if (session.analysis || session.root.children.length > 0 || players[0] !== "you") return;
  session.seats = players;
  keep("replace");
  render();
}

// ---- keys -------------------------------------------------------------------

const shortcuts = {
  u: undo, r: redo, b: playBest, e: startEditing, n: newGame, s: share, t: () => text.open(),
  h: () => { $("hints").click(); }, "?": () => $("help").showModal(), Home: toStart, End: toEnd,
  ",": () => toMistake("previous"), ".": () => toMistake("next"),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input[type=text], select")) return;
  if (act(event)) event.preventDefault();
}

// Does the action of a key; says whether it has one.
function act(event) {
  if (event.key.startsWith("Arrow")) return arrow(event);
  if (editor.isOpen()) return editor.onKey(event);
  if (/^[1-9]$/.test(event.key) && Number(event.key) <= session.pits / 2) {
    tryPit(Number(event.key) - 1);
    return true;
  }
  shortcuts[event.key]?.();
  return event.key in shortcuts;
}

// On the board arrow keys go from pit to pit, elsewhere through the game.
function arrow(event) {
  if (event.target.closest("input, summary, .scroll")) return false;
  const pit = board.focused();
  if (pit >= 0 || editor.isOpen()) {
    board.focus(pit < 0 ? pitOf(session.at.position.turn, 0, session.pits) : board.neighbour(pit, event.key));
    return true;
  }
  ({ ArrowLeft: () => session.at.parent && visit(session.at.parent), ArrowRight: redo, ArrowUp: toStart, ArrowDown: toEnd })[event.key]();
  return true;
}

function onPit(pit, event) {
  if (editor.isOpen()) {
    editor.onPit(pit, event.shiftKey);
    return;
  }
  const { turn } = session.at.position;
  const { player, number } = ownerOf(pit, session.pits);
  if (player === turn) tryPit(number);
  else tell(player, number, `${t("This is a pit of {who}.", { who: words.name(player) })} ${words.toMove(turn)}`);
}

// ---- beginning --------------------------------------------------------------

// The games one can begin.
function fillStarts() {
  const { pits, solved } = session;
  const options = [4, 3, 2, 1].map((each) => new Option(t("{each} in each pit ({all})", { each, all: words.seeds(each * pits) }), each));
  for (const n of new Set([solved, 24, 16, 10].filter((n) => n > 0 && n <= solved))) {
    options.push(new Option(t("{all} at random", { all: words.seeds(n) }), `scatter-${n}`));
  }
  $("start").replaceChildren(...options, new Option(t("this position"), "here"));
}

function describe() {
  const { pits, rules, solved } = session;
  const values = { rules, pits, seeds: words.seeds(solved) };
  $("about").textContent = solved < 0 ? t("{rules} rules, {pits} pits, nothing solved yet", values) : t("{rules} rules, {pits} pits, every position with up to {seeds} solved", values);
  $("help-last").textContent = pits / 2;
  $("help-rules").textContent = `${words.starving(rules)} ${t("Who has no move loses the seeds left on the board.")}`;
}

function wire() {
  const clicks = {
    undo, redo, best: playBest, edit: startEditing, share, new: newGame, again: newGame, rematch, "to-analysis": toAnalysis, promote, remove, analyse,
    previous: () => toMistake("previous"), next: () => toMistake("next"), worst: () => toMistake("worst"),
    "to-start": toStart, "to-end": toEnd, "text-open": () => text.open(), "help-open": () => $("help").showModal(),
  };
  for (const [id, does] of Object.entries(clicks)) $(id).addEventListener("click", () => does());
  seats.wire();
  for (const id of ["who", "level"]) $(id).addEventListener("change", takeSeats);
  text.wire(load);
  $("sound").checked = sound.isOn();
  $("sound").addEventListener("change", () => sound.set($("sound").checked));
  $("hints").addEventListener("change", () => {
    render();
    findPlies(session.at, asking);
  });
  document.addEventListener("keydown", onKey);
  addEventListener("popstate", open);
}

// Asks about the position of the address while the board is being built. Mistakes in either,
// open tells.
function ahead() {
  try {
    const { start, moves } = address.read(location, session.pits);
    if (moves.length === 0) api.probe(view(start)).catch(() => {});
  } catch {
    // There is no such position.
  }
}

async function main() {
  wire();
  try {
    const tables = await api.layers();
    Object.assign(session, { pits: tables.pits, rules: tables.rules, solved: api.lastSeeds(tables) });
  } catch (error) {
    complain(error.message);
    return;
  }
  ahead();
  await new Promise((resolve) => setTimeout(resolve)); // so that the question is on its way
  describe();
  board.build(session.pits, onPit);
  board.choose(0);
  fillStarts();
  open();
}

main();
