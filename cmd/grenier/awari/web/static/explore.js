// Positions of a layer that are worth seeing: by score, with the biggest swing between the
// best move and the second best, hardest to win. Each says which move, what it changes, and why it is there.

import "./shell.js";
import * as api from "./api.js";
import { element } from "./dom.js";
import { number, t } from "./i18n.js";
import { mini } from "./mini.js";
import { EXPLORED, PLAY, limit } from "./source.js";
import * as words from "./words.js";
import { SOUTH, letterOf, position } from "./game.js";

const $ = (id) => document.getElementById(id);
const SHOWN = 12;
const AGAIN = 1000; // milliseconds until the server is asked again how far it is

let asking = 0;
let solved = 0; // seeds of the largest layer

function complain(what) {
  $("problem").textContent = what;
  $("problem").hidden = what === "";
}

// Shows the choice. What was found before is gone at once.
async function show() {
  const mine = ++asking;
  $("seeds").max = Math.min(EXPLORED[$("what").value], solved);
  const seeds = Number($("seeds").value);
  $("limit").textContent = EXPLORED[$("what").value] < solved ? limit(EXPLORED[$("what").value]) : "";
  $("seeds-text").textContent = words.seeds(seeds);
  $("score-choice").hidden = $("what").value !== "score";
  complain("");
  $("found").replaceChildren();
  $("about").textContent = t("Searching …");
  try {
    const shown = await { score: byScore, swing: bySwing, hard: byLength }[$("what").value](seeds, () => mine === asking);
    if (mine !== asking) return;
    $("about").textContent = shown.about;
    $("found").replaceChildren(...shown.cards);
  } catch (error) {
    if (mine !== asking) return;
    $("about").textContent = "";
    complain(error.message);
  }
}

// The legal moves of a position, the best first.
const ranked = ({ moves }) => moves.filter((m) => m.legal).sort((a, b) => b.value - a.value);

// What a move is worth, as in "C: +5".
const worth = ({ pit, value }) => t("{pit}: {value}", { pit: letterOf(SOUTH, pit), value: words.signed(value) });

// Positions with a score.
async function byScore(seeds) {
  const value = Number($("score").value);
  const { found, hits, positions } = await api.find({ seeds, where: `value=${value}`, random: 1, count: SHOWN });
  return {
    cards: found.map((p) => {
      const [first, ...others] = ranked(p);
      if (!first) return card(p, t("no move"), t("What is left is the opponent’s."));
      return card(p, worth(first), others.length > 0 ? t("Then {moves}.", { moves: others.map(worth).join(", ") }) : t("The only move."));
    }),
    about: t("{hits} of {positions} positions have this score; some of them, drawn at random.", { hits: number.format(hits), positions: number.format(positions) }),
  };
}

// Positions in which the second best move is worst.
async function bySwing(seeds) {
  const { found } = await api.find({ seeds, where: "moves>=2", most: "margin", count: SHOWN });
  const cards = found.map((p) => {
    const [first, second] = ranked(p);
    return card(p, worth(first), t("The next best, {move}, gives {n} away.", { move: worth(second), n: words.seeds(first.value - second.value) }));
  });
  return { cards, about: t("Where the second best move costs most.") };
}

// Positions in which only one move wins, with the longest best lines of the layer. The server looks
// through all of it once, which takes a while.
async function byLength(seeds, wanted) {
  for (;;) {
    const { complete, done, positions, hits, unmeasured, found } = await api.hardest(seeds);
    if (!wanted()) return null;
    if (complete) {
      const about = [t("Only one move wins, and the best line to the end is longest, of {hits} such positions among all {positions} of the layer.", { hits: number.format(hits), positions: number.format(positions) })];
      if (unmeasured > 0) about.push(t("{n} are left out: their best lines take too much to find.", { n: number.format(unmeasured) }));
      return {
        cards: found.map((p) => {
          const [first, second] = ranked(p);
          return card(p, t("{move} in {n} plies", { move: worth(first), n: p.line }), second ? t("Nothing else wins: {move} comes next.", { move: worth(second) }) : t("The only move."));
        }),
        about: about.join(" "),
      };
    }
    $("about").textContent = t("The server looks through the layer: {done} of {positions} positions …", { done: number.format(done), positions: number.format(positions) });
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
    if (!wanted()) return null;
  }
}

// A position that leads to the board on which one plays: its best move, and why it is shown.
function card(p, title, why) {
  const item = element("li");
  const link = element("a", "card find");
  link.href = `${PLAY}?pits=${p.pits.join(",")}&turn=south`;
  link.append(mini(position(p.pits), ranked(p).slice(0, 1).map((m) => m.pit)), element("strong", "", title), element("span", "hint", why));
  item.append(link);
  return item;
}

async function main() {
  const tables = await api.layers();
  solved = api.lastSeeds(tables);
  if (solved < 1) {
    complain(t("No layer is solved."));
    return;
  }
  for (const option of [...$("what").options]) {
    if (!EXPLORED[option.value]) option.remove();
  }
  $("seeds").value = Math.min(8, solved);
  const step = (by) => {
    $("seeds").value = Number($("seeds").value) + by;
    show();
  };
  for (const id of ["seeds", "what", "score"]) $(id).addEventListener("change", show);
  $("less").addEventListener("click", () => step(-1));
  $("more").addEventListener("click", () => step(1));
  await show();
}

main().catch((error) => complain(error.message)).finally(() => { document.body.dataset.ready = "yes"; });
