// Where the answers of a published site come from: the files of the layers, read and
// computed with here. On a server, another file of this name asks it.

import { Damaged, Fault, ServerError, open } from "./awari.js";
import { whole } from "./bytes.js";
import { Refusal, Silence } from "./failure.js";
import { t, t as word } from "./i18n.js";
import * as store from "./parts.js";
import { sum } from "./rules.js";
import { search } from "./search.js";

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
  "/api/distances": async ({ pits }) => (await tables()).distances(board(pits)),
  "/api/search": ({ pits, ms }, signal) => look(board(pits), Number(ms), signal),
  "/api/find": find,
  "/api/hardest": hardest,
  "/api/puzzles": puzzles,
  "/api/charts": () => document("charts.json"),
  "/api/charts/scores": ({ seeds }) => document(`scores-${Number(seeds)}.json`),
};

const board = (text) => text.split(",").map(Number);

// The answer to a question. It fails with a Refusal or a Silence, or as signal says.
export async function get(address, signal) {
  const [path, query] = address.split("?");
  if (!Object.hasOwn(questions, path)) throw new Refusal(t("A published site does not answer this."));
  try {
    return await questions[path](Object.fromEntries(new URLSearchParams(query)), signal);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new (error instanceof Damaged || error instanceof ServerError ? Silence : Refusal)(translated(error.what));
  }
}

// What a fault says, in the language of the page.
function translated({ text, values }) {
  return word(text, Object.fromEntries(Object.entries(values).map(([name, v]) => [name, v?.text ? translated(v) : v])));
}

let opened = null; // promise of the tables of the site

function tables() {
  if (!opened) {
    opened = open(undefined, { store });
    opened.catch(() => { opened = null; });
  }
  return opened;
}

// What was prepared when the site was made.
async function document(name) {
  return JSON.parse(new TextDecoder().decode(await whole(new URL(`data/${name}`, import.meta.url), name)));
}

// The layers, with the means of their scores rounded to a millionth.
async function layers() {
  const { rules, pits, layers: all } = await tables();
  return { rules, pits, layers: all.filter(({ file }) => file !== "").map(({ file, codec, checksum, ...layer }) => ({ ...layer, mean: mean(layer) })) };
}

function mean({ histogram, positions }) {
  const total = sum(Object.entries(histogram).map(([value, count]) => value * count));
  return Math.round((total / positions) * 1e6) / 1e6;
}

const probe = async (pits) => (await tables()).probe(pits);

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

const line = async (pits) => (await tables()).line(pits);

async function look(pits, ms, signal) {
  const { moves } = await probe(pits);
  return search(await tables(), pits, moves, ms, signal);
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

// Puzzles that were drawn when the site was made, of each layer in turn: the one of a board, or some that random says.
async function puzzles({ pits, seeds = String(sum(board(pits))), theme, rating = "0..100", random, count = 1 }) {
  const { rules, maxSeeds, layers: listed } = await tables(), [from, to = from] = seeds.split("..").map(Number), [least, most] = rating.split("..").map(Number);
  const wanted = (z) => (pits ? z.pits.join(",") === pits : z.rating >= least && z.rating <= most && (!theme || z.themes.includes(theme)));
  const layers = Array.from({ length: Math.max(0, Math.min(to, maxSeeds) - from + 1) }, (_, i) => from + i)
    .filter((n) => listed[n].file !== "").map((n) => document(`puzzles-${n}.json`));
  const lists = (await Promise.all(layers)).map((l) => l.puzzles.filter(wanted)), all = [];
  for (let i = 0; lists.some((l) => i < l.length); i++) all.push(...lists.flatMap((l) => l.slice(i, i + 1)));
  const first = Number(random ?? 0) % Math.max(1, all.length);
  return { rules, puzzles: [...all.slice(first), ...all.slice(0, first)].slice(0, Number(count)) };
}

// The positions of a layer that are hardest to win.
async function hardest({ seeds }) {
  const { rules, positions, answers } = await document(`find-${Number(seeds)}-${Number(seeds)}.json`);
  const { hits, boards, plies = [], unmeasured = 0 } = answers["only-win most line"];
  const found = (await Promise.all(boards.map(probe))).map((p, i) => ({ ...p, line: plies[i] }));
  return { rules, seeds: Number(seeds), complete: true, done: positions, positions, hits, unmeasured, found };
}
