// Puzzles: positions of the tables in which only one move wins. The server finds them
// (/api/find); which move is right comes from the tables too.

import "./shell.js";
import * as address from "./address.js";
import * as api from "./api.js";
import * as board from "./board.js";
import { t } from "./i18n.js";
import { link } from "./link.js";
import { recall, remember } from "./memory.js";
import { PLAY } from "./source.js";
import * as words from "./words.js";
import { ownerOf, pitOf, position, view } from "./game.js";

const $ = (id) => document.getElementById(id);

// The kinds of puzzles, as conditions of /api/find. There is always one winning move, and
// no draw.
const KINDS = {
  only: "only-win moves>=3",
  greedy: "winning=1 drawing=0 moves>=3 taken=0 capture>=2",
  sacrifice: "sacrifice drawing=0 moves>=2",
};
const LEVELS = { easy: "5..8", medium: "9..11", hard: "12..14" }; // seeds
const AT_ONCE = 20; // puzzles that are asked for

let pits = 12;
let puzzle = null; // {position, probe}, or null
let tried = false; // a wrong move was made
let done = false;
let queue = []; // boards of puzzles that were not shown yet, and the kind they were asked for
let queued = "";
let asking = 0;

const say = (what) => { $("message").textContent = what; };

function complain(what) {
  $("problem").textContent = what;
  $("problem").hidden = what === "";
}

// ---- choosing ---------------------------------------------------------------

// The puzzle of a day, the same for everybody with these layers.
async function ofTheDay() {
  const today = new Date();
  const day = Math.floor(Date.UTC(today.getFullYear(), today.getMonth(), today.getDate()) / 86400000);
  const kinds = Object.keys(KINDS);
  const level = Object.keys(LEVELS).filter((l) => canHave(l)).at(-1) === "easy" ? "easy" : "medium";
  await choose({ seeds: LEVELS[level], where: KINDS[kinds[day % kinds.length]], random: day, count: 1 }, t("The puzzle of {date}", { date: today.toLocaleDateString(document.documentElement.lang, { dateStyle: "long" }) }));
}

// Another puzzle of the kind and level that are chosen.
async function next() {
  const wanted = `${$("kind").value} ${$("level").value}`;
  if (queue.length === 0 || queued !== wanted) {
    const found = await find({ seeds: LEVELS[$("level").value], where: KINDS[$("kind").value], random: Math.floor(Math.random() * 1e6), count: AT_ONCE });
    if (!found) return;
    queue = found;
    queued = wanted;
  }
  set(queue.pop(), "");
}

async function choose(query, title) {
  const found = await find(query);
  if (found) set(found[0], title);
}

// Positions that the server finds, or null if there are none.
async function find(query) {
  const mine = ++asking;
  complain("");
  say(t("Looking for a puzzle …"));
  try {
    const { found } = await api.find(query);
    if (mine !== asking) return null;
    if (found.length > 0) return found.map((p) => p.pits);
    say(t("There is no such puzzle in these layers."));
  } catch (error) {
    if (mine === asking) {
      say("");
      complain(error.message);
    }
  }
  return null;
}

// Shows a puzzle and keeps it in the address; the bare one leaves no entry in the history.
function set(board, title) {
  const how = address.isBare(location) ? "replaceState" : "pushState";
  history[how]({ title }, "", `${location.pathname}?pits=${board.join(",")}`);
  show(position(board), title);
}

// ---- solving ----------------------------------------------------------------

async function show(p, title) {
  const mine = ++asking;
  puzzle = null;
  tried = done = false;
  board.settle();
  board.show(p.pits, p.taken);
  board.turn(p.turn);
  $("title").textContent = title || t("Puzzle");
  $("after").hidden = true;
  complain("");
  try {
    const probe = await api.probe(view(p));
    if (mine !== asking) return;
    puzzle = { position: p, probe };
  } catch (error) {
    if (mine === asking) complain(error.message);
    return;
  }
  const wins = puzzle.probe.moves.filter((m) => m.value > 0).length;
  if (!puzzle.probe.solved || wins !== 1) {
    complain(whyNot(puzzle.probe, wins));
    puzzle = null;
  } else {
    say(t("{who} moves and wins. Only one move does.", { who: words.name(p.turn) }));
  }
  mark();
}

// Why a position, of which wins moves win, is no puzzle.
function whyNot({ solved }, wins) {
  if (!solved) return t("This is no puzzle: the board has more seeds than are solved.");
  return wins === 0 ? t("This is no puzzle: no move wins.") : t("This is no puzzle: {n} moves win.", { n: wins });
}

// Marks the pits; with values once the puzzle is solved.
function mark() {
  const p = puzzle?.position;
  for (let pit = 0; pit < pits; pit++) {
    const { player, number } = ownerOf(pit, pits);
    const move = p && player === p.turn ? puzzle.probe.moves[number] : null;
    const name = [words.name(player), words.pit(player, number)];
    if (move?.legal) name.push(t("can be played"));
    board.mark(pit, { label: name.join(", "), chip: null, playable: Boolean(move?.legal && !done), origin: false, best: false });
  }
}

async function play(pit) {
  const { player, number } = ownerOf(pit, pits);
  const p = puzzle?.position;
  const move = p && player === p.turn ? puzzle.probe.moves[number] : null;
  if (!move?.legal || done) return;
  if (move.value <= 0) {
    wrong(p, move);
    return;
  }
  done = true;
  mark();
  const place = (n) => pitOf(p.turn, n, pits);
  await board.fly(place(number), move.sown.map(place), (move.taken ?? []).map(place), p.turn, p.pits, p.taken);
  right(p, move);
}

function wrong(p, move) {
  tried = true;
  remember("streak", "0");
  tally();
  const values = { pit: words.pit(p.turn, move.pit), other: words.name(1 - p.turn), n: -move.value };
  say(move.value === 0 ? t("No: after {pit} nobody is ahead. Try another.", values) : t("No: after {pit} {other} takes {n} more. Try another.", values));
}

function right(p, move) {
  if (!tried) remember("streak", String(Number(recall("streak") ?? 0) + 1));
  tally();
  for (let pit = 0; pit < pits; pit++) {
    const { player, number } = ownerOf(pit, pits);
    const m = player === p.turn ? puzzle.probe.moves[number] : null;
    const chip = m?.legal ? words.chip({ low: m.value, high: m.value, guess: null, limit: 48 }) : null;
    board.mark(pit, { label: `${words.name(player)}, ${words.pit(player, number)}`, chip, playable: false, origin: pit === pitOf(p.turn, move.pit, pits), best: m === move });
  }
  board.show(p.pits, p.taken);
  say(t("Right: {pit} takes {n} more than {other} can.", { pit: words.pit(p.turn, move.pit), n: move.value, other: words.name(1 - p.turn) }));
  $("look").href = `${PLAY}?pits=${p.pits.join(",")}&turn=south&moves=${words.short(p.turn, move.pit, 0)}&seats=you,0`;
  $("after").hidden = false;
}

function tally() {
  $("streak").textContent = t("Solved in a row: {n}", { n: recall("streak") ?? 0 });
}

// ---- beginning --------------------------------------------------------------

let solved = -1;
const canHave = (level) => Number(LEVELS[level].split("..")[1]) <= solved;

// Shows the puzzle of the address, or the puzzle of the day.
function open() {
  if (address.isBare(location)) return ofTheDay();
  try {
    return show(address.read(location, pits).start, history.state?.title ?? "");
  } catch (error) {
    complain(t("The link was not understood: {why}.", { why: error.message }));
    return null;
  }
}

async function main() {
  const tables = await api.layers();
  pits = tables.pits;
  solved = tables.layers.length - 1;
  for (const option of $("level").options) option.disabled = !canHave(option.value);
  board.build(pits, (pit) => play(pit));
  board.choose(0);
  $("next").addEventListener("click", next);
  $("day").addEventListener("click", ofTheDay);
  $("share").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(link());
      $("shared").textContent = t("Link copied");
    } catch {
      $("shared").textContent = t("The link is in the address bar");
    }
  });
  document.addEventListener("keydown", onKey);
  addEventListener("popstate", open);
  tally();
  if (!canHave("easy")) {
    complain(t("Puzzles need layers up to {n} seeds.", { n: 8 }));
    return;
  }
  await open();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select")) return;
  if (/^[1-9]$/.test(event.key) && Number(event.key) <= pits / 2) play(Number(event.key) - 1);
  else if (event.key === "n") next();
  else if (event.key.startsWith("Arrow")) board.focus(board.focused() < 0 ? 0 : board.neighbour(board.focused(), event.key));
  else return;
  event.preventDefault();
}

main().catch((error) => complain(error.message)).finally(() => { document.body.dataset.ready = "yes"; });
