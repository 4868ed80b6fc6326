// Exact scores of awari boards, read from solved layers on any web server that hands out files and answers range
// requests. docs/publish.md describes this module; a published site has it as awari.js, in one piece, and its pages use it.
//
//   const tables = await open(address);
//   await tables.score([1, 1, 1, 1, 1, 2, 4, 2, 3, 0, 0, 0]);
//
// A board is the seeds of its pits, those of the player to move first.

import { Parts, crc32c, damaged, raise, ticket, whole } from "./bytes.js";
import * as faults from "./fault.js";
import { t } from "./fault.js";
import { LayerFile } from "./layerfile.js";
import { best, distances } from "./line.js";
import * as game from "./rules.js";

const MANIFEST = "manifest.json";
const BEGINNING = '{\n  "format": "grenier-manifest",\n';
const SUM = 25; // bytes of the line with the checksum and the one behind it
const VERSIONS = [1, 2, 3, 4];
const KEPT_BLOCKS = 512; // of up to 64 KiB
const MAX_SEEDS = 48;

export const version = "1.2.0";

// What the rules say about each pit of the mover, and the number of a board among those with as many seeds.
export const plays = game.plays;
export const rank = game.rank;

export const Fault = faults.Fault;
export const BadBoard = faults.BadBoard;
export const Unsolved = faults.Unsolved;
export const Limit = faults.Limit;
export const Contradiction = faults.Contradiction;
export const Damaged = faults.Damaged;
export const ServerError = faults.ServerError;

// Opens the tables at an address, that of a directory with a manifest; without one those beside this module. blocks
// is how many blocks of up to 64 KiB are kept; store keeps parts of files for times without the network: {keep(name,
// bytes), kept(name)}.
export async function open(address = new URL("tables/", import.meta.url), { blocks = KEPT_BLOCKS, store = null } = {}) {
  const base = new URL(address, import.meta.url);
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  const bytes = await whole(new URL(MANIFEST, base), MANIFEST);
  return new Tables(base, read(bytes), blocks, store);
}

function read(bytes) {
  const text = new TextDecoder().decode(bytes), ends = `  "crc32c": "${crc32c(bytes.subarray(0, Math.max(0, bytes.length - SUM))).toString(16).padStart(8, "0")}"\n}\n`;
  if (!text.startsWith(BEGINNING)) throw damaged(MANIFEST, t("this is no list of layers"));
  if (!text.endsWith(ends)) throw damaged(MANIFEST, t("its checksum"));
  const all = JSON.parse(text);
  const fits = VERSIONS.includes(all.version) && all.game === "awari" && game.isKnown(all.rules) && all.layers.every((l, n) => l.seeds === n && l.positions === (l.file === "" ? 0 : game.boards(all.pits, n)));
  if (!fits) throw damaged(MANIFEST, t("another game or a newer version"));
  return all;
}

// Solved layers. rules: "awari", "strict" or "abapa". pits: of the whole board. maxSeeds: of the largest layer. layers: as the
// manifest lists them; one that is left out has the file "".
export class Tables {
  #base;
  #store;
  #most;
  #files = new Map(); // promises of layer files, by seeds; those of distances by ~seeds
  #opened = new Map(); // those that are open
  #blocks = new Map(); // {promise, scores, mine} by the key of the file and number; the latest last

  constructor(base, { rules, pits, layers }, most, store) {
    Object.assign(this, { rules, pits, layers, maxSeeds: layers.length - 1, reads: 0 }); // reads: blocks that were asked for
    this.#base = base;
    this.#most = most;
    this.#store = store;
  }

  // The score of a board: the seeds that the mover takes from now on minus those of the opponent. Rejected with
  // BadBoard, Unsolved, Damaged, ServerError.
  async score(board) {
    const pits = this.#solved(board);
    return this.#read(pits, game.sum(pits));
  }

  // The plies to the next capture, or to the end, if both keep the score, the player whom it favours hurries and the other
  // one delays; 0 if the score is 0, null if there are no distances of the layer. Rejected like score.
  async plies(board) {
    const pits = this.#solved(board), seeds = game.sum(pits);
    return this.layers[seeds].distances ? (await this.#read(pits, ~seeds)) & 255 : null;
  }

  // What a file has for a board.
  async #read(pits, key) {
    const file = await this.#open(key), { block, offset } = place(pits, file);
    return (await this.#load(file, key, block))[offset];
  }

  // The scores of boards, in their order; their blocks are asked for at the same time.
  async scores(boards) {
    return Promise.all(boards.map((board) => this.score(board)));
  }

  // The score of a board if its block is at hand, otherwise undefined.
  peek(board, key = game.sum(board)) {
    const file = this.#opened.get(key);
    if (!file) return undefined;
    const { block, offset } = place(board, file);
    return this.#kept(`${key} ${block}`)?.scores?.[offset];
  }

  // The same of its plies, of a layer with distances.
  peekPlies(board) {
    const plies = this.peek(board, ~game.sum(board));
    return plies === undefined ? undefined : plies & 255;
  }

  // What the tables know about a board, and where each move leads: an object like an answer to GET /api/probe of
  // grenier awari serve. Boards above the tables have the value null, unless all moves lead into them. Rejected like
  // score, and with Contradiction if the score is not what the moves give.
  async probe(board) {
    const pits = this.#board(board), seeds = game.sum(pits), solved = seeds <= this.maxSeeds;
    const moves = game.plays(pits, this.rules), legal = moves.filter((m) => m.legal);
    const valueOf = async (m) => (m.legal && game.sum(m.child) <= this.maxSeeds ? m.captured - (await this.score(m.child)) : null);
    const [stored, ...values] = await Promise.all([solved ? this.score(pits) : null, ...moves.map(valueOf)]);
    moves.forEach((m, i) => { m.value = values[i]; });
    const value = legal.length === 0 ? -seeds : legal.some((m) => m.value === null) ? null : Math.max(...legal.map((m) => m.value));
    if (stored !== null && stored !== value) throw new Contradiction(t("The scores of the tables contradict each other at the board {board}.", { board: pits.join(" ") }));
    return { rules: this.rules, seeds, pits, solved, over: legal.length === 0, value, moves };
  }

  // A best line, in which the winner makes progress: {rules, pits, value, moves, end}, like an answer to GET /api/line.
  // Rejected like probe, and with Limit if finding it takes more than 300 blocks, 65,536 positions or 10 s.
  async line(board) {
    const pits = this.#solved(board);
    return { rules: this.rules, pits, ...(await best(this, pits)) };
  }

  // The plies to the next capture after each move: {rules, pits, plies}, like an answer to GET /api/distances. Rejected like line.
  async distances(board) {
    const pits = this.#solved(board);
    return { rules: this.rules, pits, plies: await distances(this, pits) };
  }

  // The pits of a board.
  #board(board) {
    const pits = Array.from(board);
    if (pits.length !== this.pits) throw new BadBoard(t("The board of these tables has {n} pits.", { n: this.pits }));
    if (!pits.every((n) => Number.isInteger(n) && n >= 0) || game.sum(pits) > MAX_SEEDS) throw new BadBoard(t("A board has whole numbers of seeds, {n} at most.", { n: MAX_SEEDS }));
    return pits;
  }

  #solved(board) {
    const pits = this.#board(board);
    if (game.sum(pits) > this.maxSeeds) throw new Unsolved(t("The tables end at {solved} seeds.", { solved: this.maxSeeds }));
    if (this.layers[game.sum(pits)].file === "") throw new Unsolved(t("The layer of {seeds} seeds is left out of these tables.", { seeds: game.sum(pits) }));
    return pits;
  }

  // The open file of the layer with so many seeds; for ~seeds of its distances, which are listed.
  #open(key) {
    if (!this.#files.has(key)) {
      const seeds = Math.max(key, ~key), layer = this.layers[seeds], { bytes, checksum } = key < 0 ? layer.distances : layer;
      const name = key < 0 ? `distance-${String(seeds).padStart(2, "0")}.gd` : layer.file;
      const parts = new Parts(new URL(name, this.#base), name, bytes, checksum, this.#store);
      const of = { rules: this.rules, pits: this.pits, seeds, positions: layer.positions, checksum, scores: key < 0 ? layer.fnv1a64 : null };
      const file = LayerFile.open(parts, of);
      this.#files.set(key, file);
      file.then((f) => this.#opened.set(key, f), () => this.#files.delete(key));
    }
    return this.#files.get(key);
  }

  // A block that was read, moved to those used last.
  #kept(key) {
    const block = this.#blocks.get(key);
    if (block) {
      this.#blocks.delete(key);
      this.#blocks.set(key, block);
    }
    return block;
  }

  #load(file, of, number) {
    const key = `${of} ${number}`, known = this.#kept(key);
    if (known) {
      raise(known.mine);
      return known.promise;
    }
    const mine = ticket(), block = { promise: file.block(number, mine), scores: null, mine };
    block.promise.then((scores) => { block.scores = scores; }, () => this.#blocks.delete(key));
    this.reads++;
    this.#blocks.set(key, block);
    if (this.#blocks.size > this.#most) this.#blocks.delete(this.#blocks.keys().next().value);
    return block.promise;
  }
}

// Where the score of a board is.
function place(board, { blockSize }) {
  const r = game.rank(board);
  return { block: Math.floor(r / blockSize), offset: r % blockSize };
}
