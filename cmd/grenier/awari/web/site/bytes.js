// Bytes of files: checksums, numbers, and parts of files on a plain web server.

import { Damaged, ServerError, t } from "./fault.js";

// Files of up to so many bytes are read whole: no server needs ranges for them.
export const SMALL = 65536;

const TRIES = 3;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const table = new Uint32Array(256).map((_, i) => {
  for (let k = 0; k < 8; k++) i = (i >>> 1) ^ (i & 1 ? 0x82f63b78 : 0);
  return i >>> 0;
});

// The CRC-32C of bytes.
export function crc32c(bytes) {
  let crc = -1;
  for (let i = 0; i < bytes.length; i++) crc = table[(crc ^ bytes[i]) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

// What bytes hold, numbers in little endian.
export const viewOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

// A number of 64 bits, NaN if it is beyond 2^53.
export function long(view, at) {
  const n = view.getUint32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
  return n <= Number.MAX_SAFE_INTEGER ? n : NaN;
}

// Fails with a message that names the file.
export function damaged(name, what) {
  return new Damaged(t("{name} is damaged, or the server changed it: {what}.", { name, what }));
}

// Requests are made so many at a time. Those without a ticket go first, which open files; of the
// others the one that was asked for last: it is for what the page shows now.
const AT_ONCE = 6;
const first = [];
const others = []; // tickets
let busy = 0;
let asked = 0;

// A ticket for a request that may wait.
export const ticket = () => ({ at: ++asked, go: null });

// Takes note that somebody asks for the same again.
export const raise = (known) => { known.at = ++asked; };

function latest() {
  let last = 0;
  for (let i = 1; i < others.length; i++) if (others[i].at > others[last].at) last = i;
  return others.splice(last, 1)[0];
}

// Does something that asks the server when its turn has come.
async function inTurn(work, mine) {
  if (busy < AT_ONCE) busy++;
  else await new Promise((go) => (mine ? others.push(Object.assign(mine, { go })) : first.push(go)));
  try {
    return await work();
  } finally {
    const next = first.shift() ?? latest()?.go;
    if (next) next();
    else busy--;
  }
}

// Asks for a file or a part of it, again if the server is busy. When nobody answers, spare is
// asked for what was kept.
async function ask(url, options, spare = () => null) {
  for (let tries = 1; ; tries++) {
    let response;
    try {
      response = await fetch(url, options);
    } catch {
      const there = await spare();
      if (there) return there;
      if (tries === TRIES) throw new ServerError(t("The web server does not answer."));
    }
    if (response && ![408, 429, 500, 502, 503, 504].includes(response.status)) return response;
    if (tries === TRIES) throw new ServerError(t("The server answers {status}.", { status: response.status }));
    await pause(250 * tries);
  }
}

// The bytes of an answer. An answer that is cut short is none.
async function body(response) {
  try {
    return new Uint8Array(await response.arrayBuffer());
  } catch {
    throw new ServerError(t("The web server does not answer."));
  }
}

// The whole of a file that may change.
export const whole = (url, name) => inTurn(async () => {
  const response = await ask(url, { cache: "no-cache" });
  if (response.status !== 200) throw new ServerError(t("{name}: the server answers {status}.", { name, status: response.status }));
  return body(response);
});

// A file of known length, of which parts are read. It never changes. Parts are kept in the store, if there is
// one, for times when nobody answers.
export class Parts {
  constructor(url, name, length, checksum = "", store = null) {
    Object.assign(this, { url, name, length, checksum, store, tag: "", all: null });
  }

  // The bytes from one place to another one. Browsers that keep parts of a file ask for one at
  // a time; those that are needed all at once are better asked for with "no-store".
  async read(from, to, cache = "default", mine = null) {
    if (!(from >= 0 && from <= to && to <= this.length)) throw damaged(this.name, t("a part beyond its end"));
    if (this.length > SMALL) return inTurn(() => this.range(from, to, cache), mine);
    if (!this.all) {
      this.all = this.small();
      this.all.catch(() => { this.all = null; });
    }
    return (await this.all).subarray(from, to);
  }

  async small() {
    const bytes = await whole(this.url, this.name);
    if (bytes.length !== this.length) throw damaged(this.name, t("it has {n} bytes, not {wanted}", { n: bytes.length, wanted: this.length }));
    return bytes;
  }

  async range(from, to, cache) {
    const range = `bytes=${from}-${to - 1}`, key = `${this.url}?checksum=${this.checksum}&${range}`;
    const response = await ask(this.url, { headers: { Range: range }, cache }, () => this.store && this.kept(key, from, to));
    if (response.status !== 206) {
      response.body?.cancel();
      // It is whole too if the browser had kept parts of what was there before.
      if (response.status === 200 && cache !== "no-store") return this.range(from, to, "no-store");
      throw this.refusal(response.status);
    }
    // A server that lets pages of other sites read may hide this from them; checksums are compared anyway.
    const place = response.headers.get("Content-Range"), hidden = place === null && response.type === "cors";
    if (!hidden && place !== `bytes ${from}-${to - 1}/${this.length}`) {
      response.body?.cancel();
      throw damaged(this.name, t("asked for {a}, the server sent {b}", { a: `bytes ${from}-${to - 1}/${this.length}`, b: place }));
    }
    this.compare(response.headers.get("ETag") ?? response.headers.get("Last-Modified") ?? "");
    const bytes = await body(response);
    if (bytes.length !== to - from) throw damaged(this.name, t("it has {n} bytes, not {wanted}", { n: bytes.length, wanted: to - from }));
    this.store?.keep(key, bytes);
    return bytes;
  }

  // The answer with a part that was kept.
  async kept(key, from, to) {
    const bytes = await this.store.kept(key);
    return bytes && new Response(bytes, { status: 206, headers: { "Content-Range": `bytes ${from}-${to - 1}/${this.length}` } });
  }

  // Why there is no part of the file.
  refusal(status) {
    if (status === 200) return new ServerError(t("This web server sends whole files only: it ignores range requests (Range: bytes=…), which reading the tables needs. The values need a server that answers them; most do."));
    if (status === 416) return damaged(this.name, t("it is shorter than its list says"));
    return new ServerError(t("{name}: the server answers {status}.", { name: this.name, status }));
  }

  // Notices that another file has taken the place of this one. A weak tag may become the
  // strong one of the same text.
  compare(tag) {
    const text = tag.replace(/^W\//, "");
    if (this.tag && text && this.tag !== text) throw new ServerError(t("The tables on the server were replaced: open them again, or load the page again."));
    this.tag ||= text;
  }
}
