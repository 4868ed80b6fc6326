// The rules with pictures, and a first guided game. The results of moves come from the server;
// here is only which move is asked for.

import "./shell.js";
import * as api from "./api.js";
import * as board from "./board.js";
import { t } from "./i18n.js";
import { mini } from "./mini.js";
import * as words from "./words.js";
import { SOUTH, after, ownerOf, position, usualStart } from "./game.js";

const $ = (id) => document.getElementById(id);

// The steps of the guided game: South plays a pit.
const STEPS = [
  { pits: [4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4], pit: 2, ask: () => t("The lower row is yours. Play pit C: its four seeds are sown one by one, counter-clockwise."), told: () => t("The pit is empty now, and the next four pits have one seed more.") },
  { pits: [0, 0, 0, 0, 0, 3, 1, 1, 1, 2, 0, 1], pit: 5, ask: () => t("Play pit F: its last seed falls into a pit of North and makes two there. That captures."), told: () => t("You took three pits of two at once: the last one, and those before it as long as they hold two or three.") },
  { pits: [0, 1, 0, 0, 2, 0, 1, 0, 0, 0, 3, 0], pit: 4, ask: () => t("Play pit E: its last seed makes two in North’s first pit."), told: () => t("A capture looks back only as far as North’s row goes.") },
  { pits: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0], pit: 5, ask: () => t("North has no seed left. You may not starve him: play pit F and give him one."), told: () => t("If there is no move that gives seeds, other rules decide; the help has them.") },
];

let pits = 12;
let step = 0;
let probe = null;
let done = false;

function complain(what) {
  $("problem").textContent = what;
  $("problem").hidden = what === "";
}

// ---- the guided game --------------------------------------------------------

async function show() {
  const { pits: seeds, ask } = STEPS[step];
  const p = position(seeds);
  done = false;
  board.settle();
  board.show(p.pits, p.taken);
  board.turn(SOUTH);
  $("step").textContent = t("Step {n} of {all}", { n: step + 1, all: STEPS.length });
  $("message").textContent = "";
  $("next").hidden = true;
  $("play").hidden = true;
  probe = null; // no move until it is known
  probe = await api.probe(seeds);
  $("message").textContent = ask();
  mark();
}

function mark() {
  for (let pit = 0; pit < pits; pit++) {
    const { player, number } = ownerOf(pit, pits);
    const legal = player === SOUTH && probe.moves[number].legal && !done;
    board.mark(pit, { label: `${words.name(player)}, ${words.pit(player, number)}`, chip: null, playable: legal, origin: false, best: pit === STEPS[step].pit && !done });
  }
}

async function play(pit) {
  const { pits: seeds, pit: wanted, told } = STEPS[step];
  if (done || !probe) return;
  if (pit !== wanted) {
    $("message").textContent = t("Not this one: play {pit}.", { pit: words.pit(SOUTH, wanted) });
    return;
  }
  done = true;
  mark();
  const p = position(seeds), move = probe.moves[pit];
  await board.fly(pit, move.sown, move.taken ?? [], SOUTH, p.pits, p.taken);
  const next = after(p, move);
  board.show(next.pits, next.taken);
  $("message").textContent = `${words.told(p, move)} ${told()}`;
  $("next").hidden = step + 1 === STEPS.length;
  $("play").hidden = !$("next").hidden;
}

// ---- the pictures -----------------------------------------------------------

// Fills the pictures of the rules: a position before and after the move of a step.
async function picture(id, { pits: seeds, pit }) {
  const before = position(seeds);
  const move = (await api.probe(seeds)).moves[pit];
  $(id).replaceChildren(mini(before, [pit]), mini(after(before, move), [...new Set([...move.sown, ...(move.taken ?? [])])]));
}

async function main() {
  const tables = await api.layers();
  pits = tables.pits;
  $("rules").textContent = tables.rules === "awari"
    ? t("A move that leaves the opponent without seeds is legal only if there is no other kind of move; it takes everything left.")
    : t("A move that leaves the opponent without seeds is never legal.");
  $("picture-start").replaceChildren(mini(usualStart(pits)));
  if (pits !== 12) {
    complain(t("The guided game needs a board of 12 pits; this one has {pits}.", { pits }));
    return;
  }
  board.build(pits, play);
  board.choose(0);
  $("next").addEventListener("click", () => {
    step++;
    show().catch((error) => complain(error.message));
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select")) return;
    if (/^[1-6]$/.test(event.key)) play(Number(event.key) - 1);
  });
  await Promise.all([show(), picture("picture-sow", STEPS[0]), picture("picture-capture", STEPS[1])]);
}

main().catch((error) => complain(error.message)).finally(() => { document.body.dataset.ready = "yes"; });
