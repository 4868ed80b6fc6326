// The list of the moves that were played: numbered, with values, and with the seeds that each
// gave away; variations stand below the move that they replace.

import { element } from "./dom.js";
import { t } from "./i18n.js";
import * as words from "./words.js";
import { NAMES, NORTH, SOUTH } from "./game.js";
import { numberOf } from "./notation.js";
import { session } from "./session.js";
import * as tree from "./tree.js";
import { givenAway, mistakes, valueOfMove } from "./values.js";

const $ = (id) => document.getElementById(id);

// Shows the moves of the game; visit gets the node of the one clicked. Tab reaches the one that is shown, arrow keys the
// others; the list keeps the focus when it is drawn anew.
export function show(root, at, visit) {
  const hints = $("hints").checked;
  const list = $("record"), focused = list.contains(document.activeElement);
  list.replaceChildren(...pairs(root).map((pair) => row(pair, at, hints, visit)));
  if (focused) list.querySelector("[tabindex='0']")?.focus();
  $("record-card").hidden = root.children.length === 0;
  $("to-start").disabled = at === root;
  $("to-end").disabled = at.children.length === 0;
  $("promote").hidden = tree.isMain(at);
  $("remove").hidden = at === root || !session.analysis;
  showReport(at, hints);
  bring(list.querySelector("[aria-current]"), list);
}

// Scrolls the list, and only the list, to an element.
function bring(e, list) {
  if (!e) return;
  const [inner, outer] = [e.getBoundingClientRect(), list.getBoundingClientRect()];
  if (inner.top < outer.top) list.scrollTop -= outer.top - inner.top;
  if (inner.bottom > outer.bottom) list.scrollTop += inner.bottom - outer.bottom;
}

// The mistakes of the line through a node by player and size, and what they cost together. Where only
// bounds are known, what they cost at least.
function showReport(at, hints) {
  const all = mistakes(at);
  $("report-card").hidden = !hints || all.length === 0;
  $("report").tBodies[0].replaceChildren(...[SOUTH, NORTH].map((player) => {
    const own = all.filter(({ node }) => node.parent.position.turn === player);
    const counts = ["gave-1", "gave-3", "gave-6"].map((g) => own.filter((m) => grade(m) === g).length);
    const row = element("tr");
    const title = element("th", "", words.name(player));
    title.scope = "row";
    row.append(title, ...[...counts, own.reduce((sum, m) => sum + m.least, 0)].map((n) => element("td", "", n)));
    return row;
  }));
}

// The moves of the main line as pairs: {number, moves}, South's and North's.
function pairs(root) {
  const list = [];
  for (const node of tree.line(root).slice(1)) {
    const n = numberOf(node);
    if (list.at(-1)?.number !== n) list.push({ number: n, moves: [] });
    list.at(-1).moves.push(node);
  }
  return list;
}

function row({ number, moves }, at, hints, visit) {
  const item = element("li", "pair");
  const line = element("div", "plies");
  line.append(element("span", "turn-number", `${number}.`));
  if (moves[0].parent.position.turn !== SOUTH) line.append(element("span", "skipped", "…"));
  line.append(...moves.map((node) => entry(node, at, hints, visit)));
  item.append(line);
  for (const node of moves) {
    for (const other of node.parent.children.slice(1)) item.append(variation(other, at, hints, visit));
  }
  return item;
}

// A variation as a line of text, with its own variations in parentheses.
function variation(first, at, hints, visit) {
  const p = element("div", "variation");
  p.append("( ", entry(first, at, hints, visit, true));
  for (const token of tree.tokens(first)) p.append(" ", typeof token === "string" ? token : entry(token, at, hints, visit));
  p.append(" )");
  return p;
}

// A move: who, where to, its value, the seeds it gave away.
function entry(node, at, hints, visit, numbered = false) {
  const { turn } = node.parent.position;
  const button = element("button", `ply ${NAMES[turn].toLowerCase()}`);
  button.type = "button";
  const text = words.short(turn, node.move.pit, node.move.captured);
  button.append(element("span", "letter", numbered ? `${numberOf(node)}${turn === SOUTH ? "." : "…"} ${text}` : text));
  const parts = [words.told(node.parent.position, node.move)];
  if (hints && node.parent.probe) parts.push(...values(button, node));
  button.setAttribute("aria-label", parts.filter(Boolean).join(" "));
  button.title = parts.at(-1);
  if (node === at) button.setAttribute("aria-current", "step");
  button.tabIndex = node === at || (!at.parent && node === at.children[0]) ? 0 : -1;
  button.addEventListener("click", () => visit(node));
  return button;
}

function values(button, node) {
  const value = valueOfMove(node.parent, node.move.pit);
  const gave = givenAway(node);
  const chip = words.chip(value);
  if (chip) button.append(element("span", `worth ${chip.kind}`, chip.text));
  const lost = words.gave(gave);
  if (lost) button.append(element("span", "lost", lost));
  button.classList.add(grade(gave));
  return [words.spoken(value), words.gaveWords(node, gave)];
}

// The class of a move by the seeds it gave away for certain.
export function grade({ least, most }) {
  if (most === 0) return "gave-0";
  if (least === 0) return "gave-unknown";
  return least < 3 ? "gave-1" : least < 6 ? "gave-3" : "gave-6";
}

// The title of a game for documents and links.
export function title() {
  const n = tree.plies(session.at);
  return n === 0 ? t("Grenier · awari") : t("Move {n} · Grenier · awari", { n });
}
