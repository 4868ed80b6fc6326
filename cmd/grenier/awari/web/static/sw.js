// The worker that makes the pages work without the server: what the server sends is
// kept, and shown when the server does not answer. While it answers, only its answers
// count.

const FILES = [
  "/", "/puzzles", "/explore", "/learn", "/layers", "/style.css", "/chart.css", "/icon.svg", "/icon.png", "/app.webmanifest",
  "/address.js", "/api.js", "/app.js", "/bestline.js", "/board.js", "/captions.js", "/dom.js", "/editor.js", "/explore.js", "/failure.js", "/fr.js", "/game.js", "/graph.js",
  "/i18n.js", "/link.js", "/known.js", "/layers.js", "/learn.js", "/lessons.js", "/memory.js", "/mini.js", "/notation.js", "/puzzles.js", "/record.js", "/refusals.js", "/seats.js", "/session.js", "/shell.js", "/sound.js", "/source.js",
  "/text.js", "/tree.js", "/values.js", "/words.js",
];

const PAGE = "page", ANSWERS = "answers";
const MOST_ANSWERS = 20000;
const TRIM_EVERY = 500; // answers

let added = 0;

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(PAGE).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== location.origin) return;
  if (FILES.includes(url.pathname)) event.respondWith(answer(event, PAGE, url.pathname));
  else if (url.pathname.startsWith("/api/")) event.respondWith(answer(event, ANSWERS, url.pathname + url.search));
});

// The answer of the server, which is kept, or the kept one.
async function answer(event, name, key) {
  let response;
  try {
    response = await fetch(event.request);
  } catch (error) {
    const kept = await (await caches.open(name)).match(key);
    if (kept) return kept;
    throw error;
  }
  if (response.status === 200) event.waitUntil(keep(name, key, response.clone()));
  return response;
}

async function keep(name, key, response) {
  if (key === "/api/layers") await forget(await response.clone().json());
  const cache = await caches.open(name);
  await cache.put(key, response.clone());
  if (key.startsWith("/api/game?")) await unpack(cache, await response.json());
  if (name === ANSWERS && ++added % TRIM_EVERY === 0) await trim(cache);
}

// Drops the answers of tables for another game than the one that is served now.
async function forget({ rules, pits }) {
  const kept = await (await caches.open(ANSWERS)).match("/api/layers");
  if (!kept) return;
  const before = await kept.json();
  if (before.rules !== rules || before.pits !== pits) await caches.delete(ANSWERS);
}

// Keeps each position of a game as the answer about it alone.
async function unpack(cache, { positions }) {
  for (const position of positions) await cache.put(`/api/probe?pits=${position.pits.join(",")}`, Response.json(position));
}

// Drops the oldest answers.
async function trim(cache) {
  const keys = await cache.keys();
  for (const key of keys.slice(0, Math.max(0, keys.length - MOST_ANSWERS))) {
    if (!key.url.endsWith("/api/layers")) await cache.delete(key);
  }
}
