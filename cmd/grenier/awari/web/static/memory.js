// The memory of the page between visits: its language, whether it makes sounds, the last game.
// Where the browser lets it keep nothing, as in some frames of other sites, it remembers until it is
// loaded again.

const own = new Map();

let kept = null;
try {
  kept = localStorage;
} catch {
  // own takes its place
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

// A setting that a link asks for besides the game: it holds as long as the tab, and leaves the
// address, which has the game.
export function lent(name) {
  const pattern = new RegExp(`([?&])${name}=([^&#]*)&?`), [, , value] = pattern.exec(location.search) ?? [];
  if (value !== undefined) {
    const search = location.search.replace(pattern, "$1").replace(/[?&]$/, "");
    history.replaceState(history.state, "", location.pathname + search + location.hash);
    own.set(name, value);
  }
  try {
    if (value !== undefined) sessionStorage.setItem(name, value);
    return sessionStorage.getItem(name);
  } catch {
    return own.get(name) ?? null;
  }
}

// Forgets a setting that a link asked for.
export function giveBack(name) {
  own.delete(name);
  try {
    sessionStorage.removeItem(name);
  } catch {
    // There is nothing.
  }
}
