// What the page remembers between visits: its language, whether it makes sounds, the last game.
// Where the browser lets it keep nothing, as in some frames of other sites, it remembers until it is
// loaded again.

const own = new Map();

let kept = null;
try {
  kept = localStorage;
} catch {
  // own is what there is
}

export const recall = (name) => (kept ? kept.getItem(name) : own.get(name) ?? null);

export function remember(name, value) {
  own.set(name, value);
  try {
    kept?.setItem(name, value);
  } catch {
    // There is no room left.
  }
}
