// Edits a position: any seeds in any pit, either player to move, any seeds taken before.

import * as board from "./board.js";
import { t } from "./i18n.js";
import * as words from "./words.js";
import { MAX_SEEDS, letterOf, ownerOf, position, sum } from "./game.js";
import { readPosition } from "./notation.js";

const $ = (id) => document.getElementById(id);
const TYPING = 900; // ms within which a second digit belongs to the first

let draft = null; // the position being edited
let chosen = 0; // the pit that digits change
let typed = { pit: -1, at: 0 };
let actions = null;

export const isOpen = () => draft !== null;

// Shows the editor with a copy of a position; then one of actions is called: done
// with the new position, or cancel.
export function open(p, then) {
  draft = position(p.pits, p.turn, p.taken);
  actions = then;
  chosen = Math.max(0, board.focused());
  document.body.classList.add("editing");
  $("editor").hidden = false;
  $("tools").hidden = true;
  $("gave").textContent = "";
  complain("");
  draw();
  board.focus(chosen);
}

export function close() {
  draft = null;
  document.body.classList.remove("editing");
  $("editor").hidden = true;
  $("tools").hidden = false;
}

function draw() {
  board.show(draft.pits, draft.taken);
  board.turn(draft.turn);
  for (let pit = 0; pit < draft.pits.length; pit++) {
    board.mark(pit, { label: name(pit), chip: null, playable: true, origin: pit === chosen, best: false });
  }
  const { player, number } = ownerOf(chosen, draft.pits.length);
  $("edit-pit").textContent = `${words.name(player)} ${letterOf(player, number)}`;
  $("edit-count").textContent = draft.pits[chosen];
  for (const radio of document.getElementsByName("edit-turn")) radio.checked = Number(radio.value) === draft.turn;
  if (document.activeElement !== $("edit-text")) $("edit-text").value = draft.pits.join(" ");
  $("turn").textContent = `${t("{seeds} on the board.", { seeds: words.seeds(sum(draft.pits)) })} ${words.toMove(draft.turn)}`;
  for (const id of ["verdict", "fact"]) $(id).textContent = "";
  $("banner").hidden = true;
  takenFields().forEach((field, player) => {
    if (document.activeElement !== field) field.value = draft.taken[player];
  });
}

const takenFields = () => [0, 1].map((player) => $(`edit-taken-${player}`));

function name(pit) {
  const { player, number } = ownerOf(pit, draft.pits.length);
  return [words.name(player), words.pit(player, number), words.seeds(draft.pits[pit]), t("edited")].join(", ");
}

// Sets a pit, if the game has room for its seeds.
function set(pit, seeds) {
  const others = sum(draft.pits) - draft.pits[pit] + sum(draft.taken);
  chosen = pit;
  if (seeds < 0) return;
  if (others + seeds > MAX_SEEDS) {
    complain(t("A game has at most {most} seeds; there is room for {room} in this pit.", { most: MAX_SEEDS, room: MAX_SEEDS - others }));
    draw();
    return;
  }
  complain("");
  draft.pits[pit] = seeds;
  draw();
  $("live").textContent = name(pit);
}

function complain(text) {
  $("problem").textContent = text;
  $("problem").hidden = text === "";
}

// A click on a pit.
export function onPit(pit, less) {
  set(pit, draft.pits[pit] + (less ? -1 : 1));
}

// A key while editing; says whether it meant something.
export function onKey(event) {
  if (event.key === "Escape") {
    finish("cancel");
    return true;
  }
  if (event.target.closest("input")) return false;
  const pit = board.focused() < 0 ? chosen : board.focused();
  if (/^\d$/.test(event.key)) {
    type(pit, Number(event.key), event.timeStamp);
    return true;
  }
  const step = { "+": 1, "=": 1, "-": -1, Delete: -draft.pits[pit], Backspace: -draft.pits[pit] }[event.key];
  if (step !== undefined) set(pit, draft.pits[pit] + step);
  return step !== undefined;
}

// Digits that follow each other quickly make one number.
function type(pit, digit, at) {
  const more = typed.pit === pit && at - typed.at < TYPING && draft.pits[pit] < 10;
  typed = { pit: more ? -1 : pit, at };
  set(pit, more ? draft.pits[pit] * 10 + digit : digit);
}

function finish(how) {
  const result = draft;
  complain("");
  close();
  actions[how](result);
}

function readText() {
  try {
    draft = { ...draft, ...readPosition($("edit-text").value, draft) };
    complain("");
    draw();
    return true;
  } catch (error) {
    complain(t("Not a position: {why}.", { why: error.message }));
    return false;
  }
}

$("edit-less").addEventListener("click", () => set(chosen, draft.pits[chosen] - 1));
$("edit-more").addEventListener("click", () => set(chosen, draft.pits[chosen] + 1));
function readTaken() {
  const taken = takenFields().map((field) => Number(field.value));
  const all = sum(draft.pits) + sum(taken);
  if (!taken.every((n) => Number.isInteger(n) && n >= 0)) complain(t("What was taken is a number of seeds."));
  else if (all > MAX_SEEDS) complain(t("A game has at most {most} seeds, these are {all}.", { most: MAX_SEEDS, all }));
  else {
    draft.taken = taken;
    complain("");
    draw();
    return true;
  }
  return false;
}

$("edit-clear").addEventListener("click", () => {
  draft.pits.fill(0);
  draft.taken = [0, 0];
  complain("");
  draw();
});
$("edit-text").addEventListener("input", readText);
$("edit-text").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== "Escape") return;
  event.preventDefault(); // or the pit that gets the focus would be pressed
  if (event.key === "Escape") finish("cancel");
  else if (readText()) finish("done");
});
for (const field of takenFields()) field.addEventListener("input", readTaken);
$("edit-done").addEventListener("click", () => readTaken() && readText() && finish("done"));
$("edit-cancel").addEventListener("click", () => finish("cancel"));
for (const radio of document.getElementsByName("edit-turn")) {
  radio.addEventListener("change", () => {
    draft.turn = Number(radio.value);
    draw();
  });
}
// The pit with the focus is the one that the buttons change.
document.getElementById("rows").addEventListener("focusin", (event) => {
  const pit = event.target.closest(".pit");
  if (draft && pit) {
    chosen = Number(pit.dataset.pit);
    draw();
  }
});
