// Games as text. Moves are letters: A to F empty the pits of South, from his left to his
// right, a to f the pits of North. Moves that could have been played instead of a move follow
// it in parentheses. docs/serve.md describes the text of a whole game.

import { t } from "./i18n.js";
import { MAX_SEEDS, NAMES, NORTH, SOUTH, position, sum, usualStart } from "./game.js";
import { letter, line, plies, tokens } from "./tree.js";

// More moves than that are not read; the server walks no longer games.
export const MAX_MOVES = 1000;

// ---- writing ----------------------------------------------------------------

// The moves of a game in short, for addresses: "Cd(Fa)E".
export function writeMoves(top) {
  return [...tokens(top)].map((token) => (typeof token === "string" ? token : letter(token))).join("");
}

// A game for people: its facts in brackets, then numbered moves.
export function writeGame({ root, rules, seats }) {
  const { pits, turn, taken } = root.position;
  const tags = {
    Game: "awari", Rules: rules, South: writeSeat(seats[SOUTH]), North: writeSeat(seats[NORTH]),
    Start: pits.join(","), Turn: NAMES[turn], Taken: taken.join(","),
  };
  const head = Object.entries(tags).map(([name, value]) => `[${name} "${value}"]`).join("\n");
  const end = line(root).at(-1).position.taken.join("-");
  return `${head}\n\n${wrap([...numbered(root), end].join(" "))}\n`;
}

const writeSeat = (seat) => (seat === "you" ? "you" : `program ${seat}`);

// Words with the numbers of moves, as in "1. C d 2. E (F a) f".
function* numbered(top) {
  let fresh = true; // the next move needs its number, whoever makes it
  let opened = "";
  let word = null; // that a parenthesis may still follow
  for (const token of tokens(top)) {
    if (token === "(") {
      opened = "(";
      fresh = true;
      continue;
    }
    if (token === ")") {
      word += ")";
      fresh = true;
      continue;
    }
    if (word) yield word;
    const south = token.parent.position.turn === SOUTH;
    if (south || fresh) yield `${opened}${numberOf(token)}${south ? "." : "..."}`;
    word = letter(token);
    fresh = false;
    opened = "";
  }
  if (word) yield word;
}

// The number of the pair of moves that a move belongs to; a pair begins with South.
export function numberOf(node) {
  let first = node;
  while (first.parent.parent) first = first.parent;
  const offset = first.parent.position.turn === NORTH ? 1 : 0;
  return Math.floor((plies(node) - 1 + offset) / 2) + 1;
}

// Breaks lines after at most 78 letters.
function wrap(text) {
  return text.replace(/(.{1,78})(?: |$)/g, "$1\n").trimEnd();
}

// ---- reading ----------------------------------------------------------------

// A mistake in a text, which says where.
function mistake(text, at, why) {
  const lines = text.slice(0, at).split("\n");
  const place = text.includes("\n") ? t("line {line}, letter {letter}", { line: lines.length, letter: lines.at(-1).length + 1 }) : t("letter {letter}", { letter: at + 1 });
  return new Error(`${place}: ${why}`);
}

const parts = /(\s+|\{[^}]*\}|\d+\.(?:\.\.)?|\d+-\d+|\*)|\[(\w+)\s+"([^"]*)"\]|([A-Fa-f])|([()])/y;

// The contents of a text: tags, and moves as a list of {letter, others}, where others are the
// lists that could have been played instead. Throws an Error that says what is wrong.
export function parse(text) {
  const tags = new Map();
  const moves = [];
  const open = [moves]; // the lists that are being read
  let count = 0;
  parts.lastIndex = 0;
  while (parts.lastIndex < text.length) {
    const at = parts.lastIndex;
    const found = parts.exec(text);
    if (!found) throw mistake(text, at, t("“{what}” means nothing here", { what: [...text.slice(at, at + 12)].slice(0, 6).join("") }));
    const [, , tag, value, move, bracket] = found;
    const list = open.at(-1);
    if (tag) {
      if (tags.has(tag)) throw mistake(text, at, t("“{tag}” is given twice", { tag }));
      if (moves.length > 0) throw mistake(text, at, t("“{tag}” must come before the moves", { tag }));
      tags.set(tag, value);
    } else if (move) {
      if (++count > MAX_MOVES) throw mistake(text, at, t("there are more than {n} moves", { n: MAX_MOVES }));
      list.push({ letter: move, others: [] });
    } else if (bracket === "(") {
      if (list.length === 0) throw mistake(text, at, t("there is no move that this could replace"));
      const other = [];
      list.at(-1).others.push(other);
      open.push(other);
    } else if (bracket === ")") {
      if (open.length === 1) throw mistake(text, at, t("there is no ( for this )"));
      if (list.length === 0) throw mistake(text, at, t("there is no move in the parentheses"));
      open.pop();
    }
  }
  if (open.length > 1) throw mistake(text, text.length, t("a ) is missing"));
  return { tags, moves };
}

// A game as text: its start, moves as parse has them, seats. Rules other than the rules of
// the tables are refused, and so is a board of another size.
export function readGame(text, pits, rules) {
  const { tags, moves } = parse(text);
  const game = tags.get("Rules");
  if (game !== undefined && game !== rules) throw new Error(t("the game has the rules “{game}”, the tables have “{rules}”", { game, rules }));
  const start = readStart({ pits: tags.get("Start"), turn: tags.get("Turn")?.toLowerCase(), taken: tags.get("Taken") }, pits);
  return { start, moves, seats: [readSeat(tags.get("South")), readSeat(tags.get("North"))] };
}

function readSeat(text = "you") {
  const level = /^program (\d{1,2})$/.exec(text)?.[1];
  return level === undefined ? "you" : String(Math.min(Number(level), MAX_SEEDS));
}

// The start of a game from texts, those that are missing for the usual one.
export function readStart({ pits, turn = "south", taken }, count) {
  const player = ["south", "north"].indexOf(turn);
  if (player < 0) throw new Error(t("turn must be south or north"));
  const start = pits === undefined ? usualStart(count) : position(readNumbers(pits, count, "pits"));
  const p = position(start.pits, player, taken === undefined ? [0, 0] : readNumbers(taken, 2, "taken"));
  const all = sum(p.pits) + sum(p.taken);
  if (all > MAX_SEEDS) throw new Error(t("a game has at most {most} seeds, these are {all}", { most: MAX_SEEDS, all }));
  return p;
}

// What a text says about a position, in any notation that the program prints: the seeds of all pits, South's first, with
// blanks or commas between them, in brackets or not, or with values behind a colon; a board as drawn in a terminal, whose mover is South;
// the board of oware interfaces, such as 4-4-4-4-4-4-4-4-4-4-4-4-0-0-S; a link.
// What it does not say is left as in draft. Throws an Error that says what is wrong.
export function readPosition(text, draft) {
  const count = draft.pits.length, query = /[?#](.*)$/s.exec(text.trim());
  if (query) {
    const { pits, turn, taken, moves } = Object.fromEntries(new URLSearchParams(query[1]));
    if (moves) throw new Error(t("this link has moves: open it, then edit"));
    return readStart({ pits, turn, taken }, count);
  }
  const fields = text.trim().split("-");
  if (fields.length === count + 3) {
    const turn = { S: "south", N: "north" }[fields.at(-1).toUpperCase()] ?? fields.at(-1);
    return readStart({ pits: fields.slice(0, count).join(), turn, taken: fields.slice(count, -1).join() }, count);
  }
  const drawn = /opponent[a-f\s]+([\d\s]+)mover/.exec(text); // a field for one line drops the ends of lines
  if (drawn) {
    const numbers = drawn[1].trim().split(/\s+/);
    const [opponent, mover] = [numbers.slice(0, count / 2).reverse(), numbers.slice(count / 2)];
    return readStart({ pits: [...mover, ...opponent].join(), taken: draft.taken.join() }, count);
  }
  return readStart({ pits: text.replace(/:.*|[[\]]/g, " "), turn: ["south", "north"][draft.turn], taken: draft.taken.join() }, count);
}

// So many numbers of seeds, separated by commas or blanks.
export function readNumbers(text, count, what) {
  const fields = text.trim().split(/[\s,]+/);
  if (fields.length !== count || !fields.every((f) => /^\d{1,2}$/.test(f))) {
    throw new Error(t("{what} must be {count} numbers, such as {example}", { what, count, example: Array(count).fill(4).join(",") }));
  }
  return fields.map(Number);
}
