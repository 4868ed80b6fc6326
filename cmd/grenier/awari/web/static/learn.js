// A short course, each step of which is played on the board, and the rules with pictures. The results of
// moves come from the server; here is only which move is asked for. It is the only best one (TestLongLessons).

import "./shell.js";
import * as api from "./api.js";
import * as board from "./board.js";
import { element } from "./dom.js";
import { t } from "./i18n.js";
import { LESSONS } from "./lessons.js";
import { recall, remember } from "./memory.js";
import { mini } from "./mini.js";
import * as words from "./words.js";
import { SOUTH, after, ownerOf, position, usualStart } from "./game.js";

const $ = (id) => document.getElementById(id);

let pits = 12, rules = "awari";
let lesson = 0, step = 0;
let probe = null; // of the position of the step; null until it is known
let done = false;

const now = () => LESSONS[lesson].steps[step];

function complain(what) {
  $("problem").textContent = what;
  $("problem").hidden = what === "";
}

// ---- the course -------------------------------------------------------------

async function show() {
  const { pits: seeds, ask } = now(), { name, steps } = LESSONS[lesson];
  const p = position(seeds);
  done = false;
  board.settle();
  board.show(p.pits, p.taken);
  board.turn(SOUTH);
  $("lesson").textContent = name();
  $("step").textContent = t("Step {n} of {all}", { n: step + 1, all: steps.length });
  $("message").textContent = "";
  $("next").hidden = $("play").hidden = true;
  list();
  probe = null;
  const asked = now(), answer = await api.probe(seeds);
  if (asked !== now()) return;
  probe = answer;
  $("message").textContent = ask(rules);
  mark();
}

function mark() {
  for (let pit = 0; pit < pits; pit++) {
    const { player, number } = ownerOf(pit, pits);
    const legal = player === SOUTH && probe.moves[number].legal && !done;
    board.mark(pit, { label: `${words.name(player)}, ${words.pit(player, number)}`, chip: null, playable: legal, origin: false, best: false });
  }
}

// The lessons that were gone through, by number.
const passed = () => new Set((recall("lessons") ?? "").split(","));

// The list of the lessons; a click leads to one.
function list() {
  const gone = passed();
  $("lessons").replaceChildren(...LESSONS.map(({ name }, i) => {
    const item = element("li"), button = element("button", gone.has(String(i)) ? "passed" : "", name());
    button.type = "button";
    if (gone.has(String(i))) button.append(element("span", "unseen", t("(done)")));
    if (i === lesson) button.setAttribute("aria-current", "step");
    button.addEventListener("click", () => go(i, 0));
    item.append(button);
    return item;
  }));
}

function go(to, at) {
  lesson = to;
  step = at;
  complain("");
  show().catch((error) => complain(error.message));
}

const onward = () => (step + 1 < LESSONS[lesson].steps.length ? go(lesson, step + 1) : go(lesson + 1, 0));

async function play(pit) {
  const { pits: seeds, pit: wanted, told } = now(), { player, number } = ownerOf(pit, pits);
  if (done || !probe) return;
  if (player !== SOUTH) {
    board.tell(pit, t("This is a pit of {who}.", { who: words.name(player) }));
    return;
  }
  if (pit !== wanted) {
    $("message").textContent = `${refusal(number)} ${now().ask(rules)}`;
    return;
  }
  done = true;
  mark();
  const p = position(seeds), move = probe.moves[pit];
  await board.fly(pit, move.sown, move.taken ?? [], SOUTH, p.pits, p.taken);
  const next = after(p, move);
  board.show(next.pits, next.taken);
  $("message").textContent = `${words.told(p, move)} ${told()}`;
  const last = step + 1 === LESSONS[lesson].steps.length;
  if (last) remember("lessons", [...passed().add(String(lesson))].filter(Boolean).join());
  list();
  $("play").hidden = !last || lesson + 1 < LESSONS.length;
  $("next").hidden = !$("play").hidden;
  $("next").textContent = last ? t("Next lesson") : t("Next step");
}

// Why another pit is not what is asked for.
function refusal(number) {
  const { legal, starves } = probe.moves[number], pit = words.pit(SOUTH, number);
  if (legal) return t("Not {pit}.", { pit });
  return starves ? t("You may not play {pit}: it leaves the opponent without seeds.", { pit }) : t("There is no seed in {pit}.", { pit });
}

// ---- the pictures -----------------------------------------------------------

// Fills a picture of the rules: a position before and after the move of a step.
async function picture(id, { pits: seeds, pit }) {
  const before = position(seeds);
  const move = (await api.probe(seeds)).moves[pit];
  $(id).replaceChildren(mini(before, [pit]), mini(after(before, move), [...new Set([...move.sown, ...(move.taken ?? [])])]));
}

async function main() {
  const tables = await api.layers();
  pits = tables.pits;
  rules = tables.rules;
  $("rules").textContent = words.starving(rules);
  $("picture-start").replaceChildren(mini(usualStart(pits)));
  if (pits !== 12) {
    complain(t("The course needs a board of 12 pits; this one has {pits}.", { pits }));
    return;
  }
  board.build(pits, play);
  board.choose(0);
  $("next").addEventListener("click", onward);
  document.addEventListener("keydown", onKey);
  await Promise.all([show(), picture("picture-sow", LESSONS[0].steps[0]), picture("picture-capture", LESSONS[1].steps[1])]);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select")) return;
  if (/^[1-6]$/.test(event.key)) play(Number(event.key) - 1);
  else if (event.key.startsWith("Arrow") && board.focused() >= 0) board.focus(board.neighbour(board.focused(), event.key));
  else return;
  event.preventDefault();
}

main().catch((error) => complain(error.message)).finally(() => { document.body.dataset.ready = "yes"; });
