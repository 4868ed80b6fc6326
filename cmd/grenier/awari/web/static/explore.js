// Positions of a layer that are worth seeing: by score, with the biggest swing between the
// best move and the second best, hardest to win.

import "./shell.js";
import * as api from "./api.js";
import { element } from "./dom.js";
import { Refusal } from "./failure.js";
import { number, t } from "./i18n.js";
import { mini } from "./mini.js";
import { PLAY } from "./source.js";
import * as words from "./words.js";
import { position } from "./game.js";

const $ = (id) => document.getElementById(id);
const SHOWN = 12;
const DRAWN = 40; // at random, to look for the hardest among them
const LARGEST = 16; // seeds; the server looks through no larger layer

let asking = 0;

function complain(what) {
  $("problem").textContent = what;
  $("problem").hidden = what === "";
}

// Shows what is chosen.
async function show() {
  const mine = ++asking;
  const seeds = Number($("seeds").value);
  $("seeds-text").textContent = words.seeds(seeds);
  $("score-choice").hidden = $("what").value !== "score";
  complain("");
  $("about").textContent = t("Searching …");
  try {
    const { cards, about } = await { score: byScore, swing: bySwing, hard: byLength }[$("what").value](seeds, () => mine === asking);
    if (mine !== asking) return;
    $("about").textContent = about;
    $("found").replaceChildren(...cards);
  } catch (error) {
    if (mine !== asking) return;
    $("about").textContent = "";
    complain(error.message);
  }
}

// Positions with a score.
async function byScore(seeds) {
  const value = Number($("score").value);
  const { found, hits, positions } = await api.find({ seeds, where: `value=${value}`, random: 1, count: SHOWN });
  return {
    cards: found.map((p) => card(p.pits, t("value {n}", { n: words.signed(p.value) }))),
    about: t("{hits} of {positions} positions have this score; some of them, drawn at random.", { hits: number.format(hits), positions: number.format(positions) }),
  };
}

// Positions in which the second best move is worst.
async function bySwing(seeds) {
  const { found } = await api.find({ seeds, where: "moves>=2", most: "margin", count: SHOWN });
  const cards = found.map((p) => {
    const [first, second] = p.moves.filter((m) => m.legal).map((m) => m.value).sort((a, b) => b - a);
    return card(p.pits, t("best {first}, then {second}", { first: words.signed(first), second: words.signed(second) }));
  });
  return { cards, about: t("Where the second best move costs most.") };
}

// Won positions with one winning move, drawn at random, whose best lines are longest.
async function byLength(seeds, wanted) {
  const { found, hits } = await api.find({ seeds, where: "only-win", random: 1, count: DRAWN });
  const lines = [];
  for (const p of found) {
    if (!wanted()) break;
    try {
      lines.push({ p, plies: (await api.line(p.pits)).moves.length });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error; // a line that takes too much to find
    }
    $("about").textContent = t("Best lines: {n} of {all} …", { n: lines.length, all: found.length });
  }
  lines.sort((a, b) => b.plies - a.plies);
  return {
    cards: lines.slice(0, SHOWN).map(({ p, plies }) => card(p.pits, t("{value} in {n} moves", { value: words.signed(p.value), n: plies }))),
    about: t("The longest best lines among {n} drawn at random from {hits} positions in which only one move wins.", { n: lines.length, hits: number.format(hits) }),
  };
}

// A position that leads to the board on which one plays.
function card(pits, text) {
  const item = element("li");
  const link = element("a", "card find");
  link.href = `${PLAY}?pits=${pits.join(",")}&turn=south`;
  link.append(mini(position(pits)), element("span", "", text));
  item.append(link);
  return item;
}

async function main() {
  const tables = await api.layers();
  const most = Math.min(LARGEST, tables.layers.length - 1);
  if (most < 1) {
    complain(t("No layer is solved."));
    return;
  }
  $("seeds").max = most;
  $("seeds").value = Math.min(8, most);
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
