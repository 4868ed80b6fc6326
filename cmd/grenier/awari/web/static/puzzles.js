// Puzzles: positions of the tables with the line that solves them. They come drawn and rated
// (/api/puzzles); what moves do, and what refutes a wrong one, comes from the tables too.

import "./shell.js";
import * as address from "./address.js";
import * as api from "./api.js";
import * as board from "./board.js";
import { t } from "./i18n.js";
import { link } from "./link.js";
import { recall, remember } from "./memory.js";
import { PLAY } from "./source.js";
import * as words from "./words.js";
import { SOUTH, after, letterOf, ownerOf, pitOf, position, view } from "./game.js";

const $ = (id) => document.getElementById(id);

// What lines are about, in the words of the lessons.
const THEMES = {
  capturing: () => t("capturing"), restraint: () => t("not capturing"), sacrifice: () => t("giving seeds"), defending: () => t("defending"),
  counting: () => t("counting round the board"), tempo: () => t("tempo"), starving: () => t("starving"),
};
const FIRST = 5, LAST = 8, STEP = 4; // seeds of the smallest puzzles, in groups
const AT_ONCE = 10; // puzzles that are asked for

let pits = 12;
let solved = -1;
let puzzle = null; // {pits, value, line, rating, themes}, or null
let at = 0; // moves of the line that were made
let p = null; // the position that is shown
let probe = null; // what the tables know about it
let back = null; // {p, probe} before a wrong move that is refuted
let busy = false; // moves are being shown
let done = false;
let clean = true; // no wrong move and no help
let queue = []; // puzzles that were not shown yet, and what they were asked for
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
  const found = await find({ seeds: `${FIRST + (day % (solved - FIRST + 1))}..${solved}`, random: day, count: 1 });
  if (found) set(found[0], t("The puzzle of {date}", { date: today.toLocaleDateString(document.documentElement.lang, { dateStyle: "long" }) }));
}

// Another puzzle of the seeds, rating and theme that are chosen.
async function next() {
  const wanted = { seeds: $("seeds").value, rating: $("rating").value };
  if ($("theme").value !== "") wanted.theme = $("theme").value;
  const name = Object.values(wanted).join(" ");
  if (queue.length === 0 || queued !== name) {
    const found = await find({ ...wanted, random: Math.floor(Math.random() * 1e6), count: AT_ONCE });
    if (!found) return;
    const others = found.filter((z) => z.pits.join() !== puzzle?.pits.join());
    queue = others.length > 0 ? others : found;
    queued = name;
  }
  set(queue.pop(), "");
}

// Puzzles, or null if there are none.
async function find(query) {
  const mine = ++asking;
  complain("");
  say(t("Looking for a puzzle …"));
  try {
    const { puzzles } = await api.puzzles(query);
    if (mine !== asking) return null;
    say("");
    if (puzzles.length > 0) return [...puzzles];
    complain(query.pits ? t("This is no puzzle, or none that is kept here.") : t("There is no such puzzle in these layers."));
  } catch (error) {
    if (mine === asking) {
      say("");
      complain(error.message);
    }
  }
  return null;
}

// Shows a puzzle and keeps it in the address; the bare one leaves no entry in the history.
function set(found, title) {
  const how = address.isBare(location) ? "replaceState" : "pushState";
  history[how]({ title }, "", `${location.pathname}?pits=${found.pits.join(",")}`);
  return show(found, title);
}

// ---- solving ----------------------------------------------------------------

const moves = () => (puzzle.line.length + 1) / 2; // of the solver

// Shows a puzzle, or an empty board.
async function show(found, title) {
  const mine = ++asking;
  puzzle = found;
  at = 0;
  back = probe = null;
  busy = done = false;
  clean = true;
  board.settle();
  $("title").textContent = title || t("Puzzle");
  $("after").hidden = true;
  $("about").textContent = found ? t("{n} of 100 simple players fail.", { n: found.rating }) : "";
  complain("");
  p = position(found?.pits ?? Array(pits).fill(0));
  draw();
  if (!found) return;
  try {
    const known = await api.probe(view(p));
    if (mine !== asking) return;
    probe = known;
  } catch (error) {
    if (mine === asking) complain(error.message);
    return;
  }
  say(t("{who} moves and wins: find the one move that does, {n} times.", { who: words.name(SOUTH), n: moves() }));
  draw();
}

// Draws the position, whose last move began at a pit of the page.
function draw(origin = -1) {
  board.show(p.pits, p.taken);
  board.turn(p.turn);
  const waits = probe && !busy && !done && !back;
  for (let pit = 0; pit < pits; pit++) {
    const { player, number } = ownerOf(pit, pits);
    const legal = Boolean(waits && player === p.turn && probe.moves[number].legal);
    const name = [words.name(player), words.pit(player, number)];
    if (legal) name.push(t("can be played"));
    board.mark(pit, { label: name.join(", "), chip: null, playable: legal, origin: pit === origin, best: false });
  }
  for (const [id, shown] of [["hint", waits], ["solution", waits], ["again", back && !busy]]) $(id).hidden = !shown;
}

// Makes moves one after the other, each with a function that is given what is known about the position, and calls then in the end,
// unless another puzzle has come. A question that fails takes nothing back.
async function make(choices, then) {
  const mine = asking;
  busy = true;
  try {
    for (const choose of choices) {
      const move = choose(probe);
      if (!move) continue;
      const place = (n) => pitOf(p.turn, n, pits), from = place(move.pit), next = after(p, move);
      draw();
      await board.fly(from, move.sown.map(place), (move.taken ?? []).map(place), p.turn, p.pits, p.taken);
      const known = await api.probe(view(next));
      if (mine !== asking) return;
      p = next;
      probe = known;
      draw(from);
    }
    busy = false;
    then();
  } catch (error) {
    busy = false;
    if (mine === asking) complain(error.message);
  }
  if (mine === asking) draw();
}

const ofLine = (i) => ({ moves: all }) => all[puzzle.line[i]];

function play(pit) {
  if (back) again();
  const { player, number } = ownerOf(pit, pits);
  const move = probe && player === p.turn ? probe.moves[number] : null;
  if (!move?.legal || busy || done) return;
  if (number === puzzle.line[at]) right(move);
  else wrong(move);
}

// Shows why a move does not win: the best answer to it.
function wrong(move) {
  spoil();
  const who = p.turn, total = p.taken[who] - p.taken[1 - who] + move.value;
  const values = { pit: words.pit(who, move.pit), other: words.name(1 - who), n: -total };
  let answer = null;
  back = { p, probe };
  make([() => move, ({ value, moves: all }) => { answer = all.find((m) => m.legal && m.value === value); return answer; }], () => {
    const verdict = total === 0 ? t("No: after {pit} nobody is ahead.", values) : t("No: after {pit} {other} takes {n} more.", values);
    say(answer ? `${verdict} ${t("{who} answers with {move}.", { who: values.other, move: words.short(1 - who, answer.pit, answer.captured) })}` : verdict);
  });
}

// Goes back to before a wrong move.
function again() {
  if (busy || !back) return;
  ({ p, probe } = back);
  back = null;
  say(t("Move {n} of {all}.", { n: at / 2 + 1, all: moves() }));
  draw();
}

function right(move) {
  const before = at;
  at = Math.min(at + 2, puzzle.line.length);
  const last = at === puzzle.line.length;
  let answer = null;
  make(last ? [() => move] : [() => move, (known) => (answer = ofLine(before + 1)(known))], () => {
    if (last) finish(t("Right"));
    else say(`${t("Right.")} ${t("{who} answers with {move}.", { who: words.name(1 - p.turn), move: words.short(1 - p.turn, answer.pit, answer.captured) })} ${t("Move {n} of {all}.", { n: at / 2 + 1, all: moves() })}`);
  });
}

// Names two pits, one of which is right.
function hint() {
  clean = false;
  const right = puzzle.line[at], others = probe.moves.filter((m) => m.legal && m.pit !== right).sort((a, b) => b.value - a.value);
  const two = [right, ...others.slice(0, 1).map((m) => m.pit)].sort((a, b) => a - b).map((n) => words.pit(p.turn, n));
  say(two.length === 1 ? t("It is {a}.", { a: two[0] }) : t("It is {a} or {b}.", { a: two[0], b: two[1] }));
}

function solution() {
  spoil();
  const rest = puzzle.line.slice(at).map((_, i) => ofLine(at + i));
  at = puzzle.line.length;
  make(rest, () => finish(t("Solution")));
}

// Ends a puzzle: its line, what it is worth and about, and the way to look at it.
function finish(how) {
  done = true;
  if (clean) remember("streak", String(Number(recall("streak") ?? 0) + 1));
  tally();
  const { line, value, themes } = puzzle, letters = line.map((pit, i) => letterOf(i % 2, pit));
  say(t("{how}: {line}. {who} takes {n} more than {other}.", { how, line: letters.join(" "), n: value, who: words.name(SOUTH), other: words.name(1 - SOUTH) }));
  if (themes.length > 0) $("about").textContent += ` ${t("Themes: {themes}.", { themes: themes.map((name) => THEMES[name]()).join(", ") })}`;
  $("look").href = `${PLAY}?pits=${puzzle.pits.join(",")}&turn=south&moves=${letters.join("")}&seats=you,0`;
  $("after").hidden = false;
}

function spoil() {
  clean = false;
  remember("streak", "0");
  tally();
}

function tally() {
  $("streak").textContent = t("Solved in a row: {n}", { n: recall("streak") ?? 0 });
}

// ---- beginning --------------------------------------------------------------

// Shows the puzzle of the address, or the puzzle of the day.
async function open() {
  await show(null, history.state?.title ?? "");
  if (address.isBare(location)) return ofTheDay();
  try {
    const found = await find({ pits: address.read(location, pits).start.pits.join(",") });
    return found && show(found[0], history.state?.title ?? "");
  } catch (error) {
    complain(t("The link was not understood: {why}.", { why: error.message }));
    return null;
  }
}

// The groups of layers that puzzles are drawn from, the first one chosen.
function groups() {
  for (let low = FIRST; low <= solved; low += STEP) {
    const high = Math.min(low + STEP - 1, solved);
    $("seeds").append(new Option(t("{low} to {high} seeds", { low, high }), `${low}..${high}`));
  }
}

async function main() {
  const tables = await api.layers();
  pits = tables.pits;
  solved = api.lastSeeds(tables);
  groups();
  board.build(pits, (pit) => play(pit));
  board.choose(0);
  for (const [id, run] of Object.entries({ next, day: ofTheDay, hint, solution, again })) $(id).addEventListener("click", run);
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
  if (solved < LAST) {
    complain(t("Puzzles need layers up to {n} seeds.", { n: LAST }));
    return;
  }
  await open();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select")) return;
  if (/^[1-9]$/.test(event.key) && Number(event.key) <= pits / 2) play(Number(event.key) - 1);
  else if (event.key === "n") next();
  else if (event.key === "h" && !$("hint").hidden) hint();
  else if (event.key.startsWith("Arrow")) board.focus(board.focused() < 0 ? 0 : board.neighbour(board.focused(), event.key));
  else return;
  event.preventDefault();
}

main().catch((error) => complain(error.message)).finally(() => { document.body.dataset.ready = "yes"; });
