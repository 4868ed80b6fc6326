// Reads layer files, as docs/format/layer-file.md describes them, with all checks that a
// reader must make.

import { crc32c, damaged, long, raise, ticket, viewOf } from "./bytes.js";
import { t } from "./fault.js";
import { lz4 } from "./lz4.js";

const HEADER = 84, BELOW = 10, FOOTER = 76, ENTRY = 24;
const MOST_BELOW = 1000; // layers below that a file names
const START = 2048; // bytes for each seed that are read first: header and model
const USUAL_BLOCK = 65536; // scores of a block, before the header is there to say it
const WHOLE_INDEX = 65536; // bytes up to which an index is read as a whole
const PART = 1024; // entries of a longer index that are read at a time
const KEPT_PARTS = 64;
const MAX_RANK = 127, LANES = 6;

const text = (bytes) => String.fromCharCode(...bytes).replace(/\0+$/, "");

// The largest absolute value of scores.
function largest(scores) {
  let most = 0;
  for (let i = 0; i < scores.length; i++) most = Math.max(most, scores[i], -scores[i]);
  return most;
}

// The places of the ones among so many bits.
function ones(code, from, count) {
  const bytes = (count + 7) >> 3, places = new Int32Array(count);
  if (code.length < from + bytes) throw new RangeError();
  let found = 0;
  for (let k = 0; k < bytes; k++) {
    for (let b = code[from + k]; b > 0; b &= b - 1) places[found++] = 8 * k + 31 - Math.clz32(b & -b);
  }
  while (found > 0 && places[found - 1] >= count) found--; // bits that fill up the last byte
  return places.subarray(0, found);
}

const equal = (a, b) => a.every((x, i) => x === b[i]);

// An open layer file.
export class LayerFile {
  // Opens the file parts, which must be the one that want describes: {rules, pits, seeds,
  // positions, checksum}, as the manifest has them, and scores, the hash of the scores that distances are of, else null.
  static async open(parts, want) {
    const file = new LayerFile();
    Object.assign(file, { parts, name: parts.name, want, indexParts: new Map() });
    const index = ENTRY * Math.ceil(want.positions / USUAL_BLOCK);
    const behind = Math.min(parts.length, FOOTER + (index <= WHOLE_INDEX ? index : 0));
    const [start, end] = await Promise.all([parts.read(0, Math.min(START * (want.seeds + 1), parts.length)), parts.read(parts.length - behind, parts.length)]);
    file.readHeader(start);
    file.readModel(file.start <= start.length ? start.subarray(HEADER, file.start) : await parts.read(HEADER, file.start));
    file.readFooter(end.subarray(-FOOTER));
    if (file.index === parts.length - behind) file.indexParts.set(0, { mine: ticket(), entries: Promise.resolve(file.entries(end.subarray(0, -FOOTER), 0, file.blocks)) });
    return file;
  }

  check(ok, what) {
    if (!ok) throw damaged(this.name, what);
  }

  readHeader(bytes) {
    this.check(bytes.length >= HEADER && equal([0x89, 0x47, 0x4c, 13, 10, 26, 10, 0], bytes), t("this is no layer file"));
    const v = viewOf(bytes), { rules, pits, seeds, positions, scores } = this.want;
    const version = v.getUint32(8, true);
    this.check(version === 2 || version === 3, t("its format version is {n}, 2 and 3 can be read", { n: version }));
    this.headerSum = v.getUint32(80, true);
    this.check(crc32c(bytes.subarray(0, 80)) === this.headerSum, t("checksum of the header"));
    this.check(bytes[48] !== 2, t("it is compressed with zstd, which cannot be read"));
    this.check(bytes[48] === 1 && bytes[49] === 2, t("an unknown codec"));
    this.check(v.getUint16(12, true) === pits && v.getUint16(14, true) === seeds && text(bytes.subarray(16, 32)) === (scores ? "awari-distances" : "awari") && text(bytes.subarray(32, 48)) === rules && long(v, 56) === positions, t("it is another layer"));
    this.blockSize = v.getUint32(52, true);
    this.blocks = long(v, 64);
    this.modelSum = v.getUint32(76, true);
    const below = v.getUint16(50, true);
    this.model = HEADER + BELOW * below;
    this.start = this.model + v.getUint32(72, true);
    this.check((version === 3 ? below >= 1 && below <= MOST_BELOW : below === 0) && this.blockSize >= 1 && this.blockSize <= 65536 && this.blocks === Math.ceil(positions / this.blockSize), t("fields of the header"));
  }

  // Reads the lists of the model, behind the layers below. Those of contexts are completed when they are
  // needed.
  readModel(behind) {
    this.check(crc32c(behind) === this.modelSum, t("checksum of the model"));
    const { scores, seeds } = this.want, below = viewOf(behind.subarray(0, BELOW));
    this.check(!scores || this.model === HEADER + BELOW && below.getUint16(0, true) === seeds && below.getBigUint64(2, true) === BigInt(`0x${scores}`), t("it is of other scores"));
    const bytes = behind.subarray(this.model - HEADER);
    if (bytes.length === 0) return;
    const a = bytes[1], lists = [];
    this.last = new Int32Array(a).fill(-1); // for each symbol: the last list that it was found in
    this.lowest = (bytes[0] << 24) >> 24;
    this.symbols = a;
    this.usual = bytes.subarray(2, 2 + a);
    this.check(a >= 1 && a <= 128 && this.lowest + a - 1 <= 127 && this.usual.length === a && this.distinct(this.usual, 0), t("lists of the model"));
    let at = 2 + a;
    for (let i = 0; i < a * a; i++) {
      const list = bytes.subarray(at + 1, at + 1 + bytes[at]);
      this.check(at < bytes.length && list.length === bytes[at] && this.distinct(list, i + 1), t("lists of the model"));
      lists.push(list);
      at += 1 + list.length;
    }
    this.check(at === bytes.length, t("lists of the model"));
    this.lists = lists;
    this.full = new Uint8Array(a * a * a);
    this.complete = new Uint8Array(a * a);
  }

  // Whether a list has symbols, and none twice.
  distinct(list, number) {
    for (let i = 0; i < list.length; i++) {
      if (list[i] >= this.symbols || this.last[list[i]] === number) return false;
      this.last[list[i]] = number;
    }
    return true;
  }

  readFooter(bytes) {
    const v = viewOf(bytes);
    this.check(bytes.length === FOOTER && equal([0, 0x4c, 0x47, 0x65, 0x6e, 0x64, 13, 10], bytes.subarray(68)), t("it is cut short"));
    const sum = v.getUint32(64, true);
    this.check(crc32c(bytes.subarray(0, 64)) === sum, t("checksum of the footer"));
    this.check(sum.toString(16).padStart(8, "0") === this.want.checksum, t("it is not the file of the list"));
    this.index = long(v, 0);
    this.indexSum = v.getUint32(16, true);
    this.check(long(v, 8) === ENTRY * this.blocks && v.getUint32(20, true) === this.headerSum && long(v, 56) === this.parts.length && this.index + ENTRY * this.blocks + FOOTER === this.parts.length && this.index >= this.start, t("fields of the footer"));
    this.check(long(v, 32) + long(v, 40) + long(v, 48) === this.want.positions, t("counts of the footer"));
  }

  // The number of scores in a block.
  length(block) {
    return Math.min(this.blockSize, this.want.positions - block * this.blockSize);
  }

  // What the index says about a block.
  async entry(block) {
    const short = ENTRY * this.blocks <= WHOLE_INDEX;
    const each = short ? this.blocks : PART, part = Math.floor(block / each);
    let known = this.indexParts.get(part);
    if (known) raise(known.mine);
    else {
      if (this.indexParts.size >= KEPT_PARTS) this.indexParts.delete(this.indexParts.keys().next().value);
      const mine = ticket();
      known = { mine, entries: this.readIndex(part * each, Math.min(this.blocks, (part + 1) * each), mine) };
      this.indexParts.set(part, known);
      known.entries.catch(() => this.indexParts.delete(part));
    }
    return (await known.entries)[block - part * each];
  }

  async readIndex(from, to, mine) {
    return this.entries(await this.parts.read(this.index + ENTRY * from, this.index + ENTRY * to, "default", mine), from, to);
  }

  // The entries in a part of the index: flags and lengths that can be, and no gaps; of all of it
  // the checksum, too.
  entries(bytes, from, to) {
    if (from === 0 && to === this.blocks) this.check(crc32c(bytes) === this.indexSum, t("checksum of the index"));
    const v = viewOf(bytes), entries = [];
    let end = from === 0 ? this.start : long(v, 0);
    for (let i = from, at = 0; i < to; i++, at += ENTRY) {
      const e = { offset: long(v, at), length: v.getUint32(at + 8, true), flags: v.getUint32(at + 12, true), stored: v.getUint32(at + 16, true), scores: v.getUint32(at + 20, true) };
      const n = this.length(i);
      this.check(e.offset === end && e.flags < 2 && (e.flags === 1 ? e.length === n : e.length > 0 && e.length < n && this.lists), t("entry {n} of the index", { n: i }));
      end += e.length;
      entries.push(e);
    }
    this.check(to === this.blocks ? end === this.index : end < this.index, t("the ends of the index"));
    return entries;
  }

  // The scores of a block. mine is its ticket.
  async block(i, mine = ticket()) {
    const e = await this.entry(i);
    return this.decode(i, e, await this.parts.read(e.offset, e.offset + e.length, "no-store", mine));
  }

  // The scores of a block that was read.
  decode(i, e, stored) {
    const n = this.length(i), what = (w) => t("block {n}: {what}", { n: i, what: w });
    this.check(crc32c(stored) === e.stored, what(t("checksum of the stored bytes")));
    let scores;
    try {
      scores = e.flags === 1 ? new Int8Array(stored.slice().buffer) : this.join(this.ranks(lz4(stored, n), n));
    } catch {
      throw damaged(this.name, what(t("its code")));
    }
    this.check(scores.length === n && crc32c(new Uint8Array(scores.buffer)) === e.scores, what(t("checksum of the scores")));
    this.check(this.want.scores || largest(scores) <= this.want.seeds, what(t("a score beyond the seeds")));
    return scores;
  }

  // The ranks with a code: a vector of their lowest bits, and for each 2 below them, one that
  // tells of those left whether they are larger.
  ranks(code, n) {
    const ranks = new Uint8Array(n);
    let at = (n + 7) >> 3, left = new Int32Array(n), count = n;
    const odd = ones(code, 0, n);
    for (let k = 0; k < odd.length; k++) ranks[odd[k]] = 1;
    for (let i = 0; i < n; i++) left[i] = i;
    for (let level = 0; count > 0; level++) {
      if (level > MAX_RANK >> 1) throw new RangeError();
      const more = ones(code, at, count);
      for (let k = 0; k < more.length; k++) ranks[more[k] = left[more[k]]] += 2;
      at += (count + 7) >> 3;
      left = more;
      count = more.length;
    }
    if (at !== code.length) throw new RangeError();
    return ranks;
  }

  // The scores with these ranks, lane by lane.
  join(ranks) {
    const a = this.symbols, { full, complete, lowest } = this, n = ranks.length, lane = Math.floor(n / LANES);
    const scores = new Int8Array(n);
    for (let l = 0; l < LANES; l++) {
      const end = l === LANES - 1 ? n : (l + 1) * lane;
      for (let i = l * lane, one = 0, two = 0, three = 0; i < end; i++) {
        const context = a * three + one, r = ranks[i];
        if (r >= a) throw new RangeError();
        if (!complete[context]) this.fill(context);
        three = two;
        two = one;
        one = full[a * context + r];
        scores[i] = lowest + one;
      }
    }
    return scores;
  }

  // Completes the list of a context by the symbols that are not in it.
  fill(context) {
    const list = this.lists[context], first = this.symbols * context;
    this.full.set(list, first);
    this.full.set(this.usual.filter((s) => !list.includes(s)), first + list.length);
    this.complete[context] = 1;
  }
}
