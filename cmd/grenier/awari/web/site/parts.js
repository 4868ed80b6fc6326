// Parts of files that were read, kept in the browser for times without the network. The name of a
// part says which file it is of, so another file in its place has no parts.

const NAME = "parts of layers";
const MOST = 2000; // of up to 64 KiB
const LATER = 1000; // ms: the page itself comes first

// Some frames and addresses without https have no such store.
const store = () => globalThis.caches?.open(NAME);

let fresh = []; // those that are not in the store yet

// Keeps a part under a name.
export function keep(name, bytes) {
  if (fresh.length === 0) setTimeout(save, LATER);
  fresh.push([name, bytes]);
}

// The part of a name, if it was kept.
export async function kept(name) {
  const part = fresh.find((f) => f[0] === name)?.[1];
  if (part) return part;
  try {
    const response = await (await store())?.match(name);
    return response && new Uint8Array(await response.arrayBuffer());
  } catch {
    return undefined; // the browser lets the page keep nothing
  }
}

// Puts parts into the store, and drops the oldest if there are too many.
async function save() {
  const parts = fresh;
  fresh = [];
  try {
    const cache = await store();
    if (!cache) return;
    await Promise.all(parts.map(([name, bytes]) => cache.put(name, new Response(bytes))));
    const names = await cache.keys();
    await Promise.all(names.slice(0, Math.max(0, names.length - MOST)).map((name) => cache.delete(name)));
  } catch {
    // There is no room left, or the browser lets the page keep nothing.
  }
}
