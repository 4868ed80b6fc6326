// Scores of boards, from the layer files beside the page.

import { Parts, crc32c, damaged, raise, ticket, whole } from "./bytes.js";
import { t } from "./i18n.js";
import { LayerFile } from "./layerfile.js";
import { boards, isKnown, rank, sum } from "./rules.js";

const MANIFEST = "manifest.json";
const BEGINNING = '{\n  "format": "grenier-manifest",\n';
const SUM = 25; // bytes of the line with the checksum and the one behind it
const VERSIONS = [1, 2];
const KEPT_BLOCKS = 512; // of up to 64 KiB

const address = (name) => new URL(`tables/${name}`, import.meta.url);

let manifest = null; // promise of the list of layers
const files = new Map(); // promises of layer files, by seeds
const opened = new Map(); // those that are open
const blocks = new Map(); // {promise, scores, mine} by seeds and number; the latest last
let fetched = 0; // blocks

// How many blocks were read.
export const reads = () => fetched;

// The list of layers: {rules, pits, layers}.
export function list() {
  if (!manifest) {
    manifest = read();
    manifest.catch(() => { manifest = null; });
  }
  return manifest;
}

async function read() {
  const bytes = await whole(address(MANIFEST), MANIFEST);
  const text = new TextDecoder().decode(bytes), ends = `  "crc32c": "${crc32c(bytes.subarray(0, Math.max(0, bytes.length - SUM))).toString(16).padStart(8, "0")}"\n}\n`;
  if (!text.startsWith(BEGINNING)) throw damaged(MANIFEST, t("this is no list of layers"));
  if (!text.endsWith(ends)) throw damaged(MANIFEST, t("its checksum"));
  const all = JSON.parse(text);
  const fits = VERSIONS.includes(all.version) && all.game === "awari" && isKnown(all.rules) && all.layers.every((l, n) => l.seeds === n && l.positions === boards(all.pits, n));
  if (!fits) throw damaged(MANIFEST, t("another game or a newer version"));
  return all;
}

// The open file of the layer with so many seeds.
function open({ rules, pits, layers }, seeds) {
  if (!files.has(seeds)) {
    const { file: name, bytes, positions, checksum } = layers[seeds];
    const file = LayerFile.open(new Parts(address(name), name, bytes, checksum), { rules, pits, seeds, positions, checksum });
    files.set(seeds, file);
    file.then((f) => opened.set(seeds, f), () => files.delete(seeds));
  }
  return files.get(seeds);
}

// Where the score of a board is.
function place(board, { blockSize }) {
  const r = rank(board);
  return { block: Math.floor(r / blockSize), offset: r % blockSize };
}

// A block that was read, moved to those used last.
function kept(key) {
  const block = blocks.get(key);
  if (block) {
    blocks.delete(key);
    blocks.set(key, block);
  }
  return block;
}

function load(file, seeds, number) {
  const key = `${seeds} ${number}`;
  const known = kept(key);
  if (known) {
    raise(known.mine);
    return known.promise;
  }
  const mine = ticket(), block = { promise: file.block(number, mine), scores: null, mine };
  block.promise.then((scores) => { block.scores = scores; }, () => blocks.delete(key));
  fetched++;
  blocks.set(key, block);
  if (blocks.size > KEPT_BLOCKS) blocks.delete(blocks.keys().next().value);
  return block.promise;
}

// The score of a board, which must be one of those solved.
export async function score(board) {
  const all = await list(), seeds = sum(board);
  const file = await open(all, seeds);
  const { block, offset } = place(board, file);
  return (await load(file, seeds, block))[offset];
}

// The score of a board if its block is at hand, otherwise undefined.
export function peek(board) {
  const seeds = sum(board), file = opened.get(seeds);
  if (!file) return undefined;
  const { block, offset } = place(board, file);
  return kept(`${seeds} ${block}`)?.scores?.[offset];
}

// The scores of boards; their blocks are asked for at the same time.
export const scores = (all) => Promise.all(all.map(score));
