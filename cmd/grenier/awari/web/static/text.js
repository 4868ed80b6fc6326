// The game as text: to copy, to keep as a file, to paste.

import { t } from "./i18n.js";
import { readGame, writeGame } from "./notation.js";
import { session } from "./session.js";

const $ = (id) => document.getElementById(id);
const LARGEST = 64 * 1024; // bytes of a file that is a game

// Lets the reader see and change the text; load gets a game that was read from it, and
// answers with the mistake in it, "" if there is none.
export function open() {
  $("text-area").value = writeGame(session);
  complain("");
  $("text").showModal();
}

export function wire(load) {
  $("text-load").addEventListener("click", () => read(load));
  $("text-copy").addEventListener("click", copy);
  $("text-save").addEventListener("click", save);
  $("text-file").addEventListener("change", readFile);
}

async function read(load) {
  try {
    complain(await load(readGame($("text-area").value.trim(), session.pits, session.rules)));
    if ($("text-problem").hidden) $("text").close();
  } catch (error) {
    complain(error.message);
  }
}

async function copy() {
  try {
    await navigator.clipboard.writeText($("text-area").value);
  } catch {
    $("text-area").select();
  }
}

function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([$("text-area").value], { type: "text/plain" }));
  link.download = "awari.txt";
  link.click();
  URL.revokeObjectURL(link.href);
}

async function readFile() {
  const [file] = $("text-file").files;
  $("text-file").value = "";
  if (!file) return;
  if (file.size > LARGEST) {
    complain(t("{name} is too large for a game", { name: file.name }));
    return;
  }
  $("text-area").value = await file.text();
  complain("");
}

function complain(text) {
  $("text-problem").textContent = text && t("This is no game: {why}.", { why: text });
  $("text-problem").hidden = text === "";
}
