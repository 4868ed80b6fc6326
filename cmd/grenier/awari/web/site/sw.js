// The worker that makes a published site work without its server: its files are kept, and shown
// when the server does not answer. While it answers, only its answers count. Parts of large files
// are kept by the page that asks for them (bytes.js).

const FILES = ["files of the site"]; // the names, from publish

const ANSWERS = "data/"; // answers prepared before, kept when they are asked for
const INDEX = "index.html";

// Other sites may be in other folders of the same server.
const { scope } = self.registration;
const NAME = `site ${scope}`;

self.addEventListener("install", (event) => {
  event.waitUntil(fill().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { method, url, headers } = event.request;
  if (method !== "GET" || !url.startsWith(scope) || headers.has("Range")) return;
  const name = new URL(url).pathname.slice(new URL(scope).pathname.length) || INDEX;
  if (FILES.includes(name) || name.startsWith(ANSWERS)) event.respondWith(answer(event, name));
});

// Keeps all files, as they are now.
async function fill() {
  const cache = await caches.open(NAME);
  await cache.addAll(FILES.map((name) => new Request(scope + name, { cache: "no-cache" })));
}

// The answer of the server, which is kept, or the kept one.
async function answer(event, name) {
  const cache = await caches.open(NAME);
  let response;
  try {
    response = await fetch(event.request);
  } catch (error) {
    const kept = await cache.match(scope + name);
    if (kept) return kept;
    throw error;
  }
  if (response.status === 200) event.waitUntil(cache.put(scope + name, response.clone()));
  return response;
}
