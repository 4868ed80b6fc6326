// Where the answers of a published site come from: the files of the layers, read and
// computed with here. On a server, another file of this name asks it.

import { Refusal } from "./failure.js";
import { t } from "./i18n.js";
import { best } from "./line.js";
import { plays, sum } from "./rules.js";
import { search } from "./search.js";
import { list, score } from "./tables.js";
import { whole } from "./bytes.js";

// The page on which one plays.
export const PLAY = "index.html";

// The worker that keeps the files of the site.
export const WORKER = "sw.js";

// The addresses of answers that the worker keeps.
export const KEPT = /\/data\//;

// The seeds of the largest layers that were looked through when the site was made.
export const EXPLORED = { score: 12, swing: 12, hard: 8 };
export const limit = (n) => t("A published site has positions of layers of up to {n} seeds; for larger ones the program is needed (grenier awari serve).", { n });

const questions = {
  "/api/layers": layers,
  "/api/probe": ({ pits }) => probe(board(pits)),
  "/api/game": ({ pits, moves }) => game(board(pits), moves ? moves.split(",").map(Number) : []),
  "/api/line": ({ pits }) => line(board(pits)),
  "/api/search": ({ pits, ms }, signal) => look(board(pits), Number(ms), signal),
  "/api/find": find,
  "/api/hardest": hardest,
  "/api/charts": () => document("charts.json"),
  "/api/charts/scores": ({ seeds }) => document(`scores-${Number(seeds)}.json`),
};

const board = (text) => text.split(",").map(Number);

// The answer to a question. It fails with a Refusal or a Silence, or as signal says.
export async function get(address, signal) {
  const [path, query] = address.split("?");
  if (!Object.hasOwn(questions, path)) throw new Refusal(t("A published site does not answer this."));
  return questions[path](Object.fromEntries(new URLSearchParams(query)), signal);
}

// What was prepared when the site was made.
async function document(name) {
  return JSON.parse(new TextDecoder().decode(await whole(new URL(`data/${name}`, import.meta.url), name)));
}

// The layers, with the means of their scores rounded to a millionth.
async function layers() {
  const { rules, pits, layers: all } = await list();
  return { rules, pits, layers: all.map(({ file, codec, checksum, ...layer }) => ({ ...layer, mean: mean(layer) })) };
}

function mean({ histogram, positions }) {
  const total = sum(Object.entries(histogram).map(([value, count]) => value * count));
  return Math.round((total / positions) * 1e6) / 1e6;
}

// What the tables know about a board, and where each move leads.
async function probe(pits) {
  const { rules, pits: size, layers: all } = await list();
  if (pits.length !== size) throw new Refusal(t("The board of these tables has {n} pits.", { n: size }));
  const seeds = sum(pits), solved = seeds < all.length;
  const moves = plays(pits, rules), over = !moves.some((m) => m.legal);
  const value = solved ? score(pits) : null;
  const valueOf = async (m) => (m.legal && sum(m.child) < all.length ? m.captured - (await score(m.child)) : null);
  const [own, ...values] = await Promise.all([value, ...moves.map(valueOf)]);
  moves.forEach((m, i) => { m.value = values[i]; });
  return { rules, seeds, pits, solved, over, value: worth(pits, own, moves.filter((m) => m.legal)), moves };
}

// The value of a board: that of its best move, which must be the one that is stored. It is
// null unless that of each move is known.
function worth(pits, stored, legal) {
  const value = legal.length === 0 ? -sum(pits) : legal.some((m) => m.value === null) ? null : Math.max(...legal.map((m) => m.value));
  if (stored !== null && stored !== value) throw new Refusal(t("The scores of the tables contradict each other at the board {board}.", { board: pits.join(" ") }));
  return value;
}

// What is known about the positions of a game.
async function game(pits, moves) {
  const positions = [];
  for (let i = 0; ; i++) {
    const known = await probe(pits);
    positions.push(known);
    if (i === moves.length) return { rules: known.rules, positions, illegal: null };
    const move = known.moves[moves[i]];
    if (!move.legal) return { rules: known.rules, positions, illegal: { index: i, pit: moves[i], starves: move.starves } };
    pits = move.child;
  }
}

async function line(pits) {
  const { rules, layers: all } = await list();
  if (sum(pits) >= all.length) throw new Refusal(t("The tables end at {solved} seeds.", { solved: all.length - 1 }));
  return { rules, pits, ...(await best(pits, rules)) };
}

async function look(pits, ms, signal) {
  const { rules, moves } = await probe(pits);
  return search(pits, rules, moves, ms, signal);
}

// Positions that were found when the site was made: those with the most of a fact, or some of
// those that were drawn, which ones random says.
async function find({ seeds, where, most, random, count }) {
  const [from, to] = seeds.includes("..") ? seeds.split("..").map(Number) : [Number(seeds), Number(seeds)];
  const { rules, positions, answers } = await document(`find-${from}-${to}.json`);
  const { hits, boards } = answers[most ? `${where} most ${most}` : where] ?? { hits: 0, boards: [] };
  const first = most ? 0 : Number(random ?? 0) % Math.max(1, boards.length);
  const chosen = [...boards.slice(first), ...boards.slice(0, first)].slice(0, Number(count));
  return { rules, from, to, where, positions, hits, found: await Promise.all(chosen.map(probe)) };
}

// The positions of a layer that are hardest to win.
async function hardest({ seeds }) {
  const { rules, positions, answers } = await document(`find-${Number(seeds)}-${Number(seeds)}.json`);
  const { hits, boards, plies = [], unmeasured = 0 } = answers["only-win most line"];
  const found = (await Promise.all(boards.map(probe))).map((p, i) => ({ ...p, plies: plies[i] }));
  return { rules, seeds: Number(seeds), complete: true, done: positions, positions, hits, unmeasured, found };
}
