// The graph of a game: by how much South will be ahead at the end, as it stands after each
// move. Guesses are joined by a dashed curve; bounds that tell something are bands.

import { t, tn } from "./i18n.js";
import * as words from "./words.js";
import { grade } from "./record.js";
import * as tree from "./tree.js";
import { estimate, givenAway, isExact, outcome, tells } from "./values.js";

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 150, LEFT = 34, RIGHT = 14, TOP = 10, BOTTOM = 22; // pixels

let nodes = []; // of the line that is drawn
let width = 600; // pixels
let again = () => {}; // draws it anew

new ResizeObserver(() => { if (room() !== width) again(); }).observe($("graph"));

// The width that there is for the graph.
function room() { return Math.max(280, $("graph").clientWidth); }

function shape(name, attributes, text) {
  const e = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  if (text !== undefined) e.textContent = text;
  return e;
}

// Draws the line through a node; visit gets the node that is clicked.
export function show(at, visit) {
  again = () => show(at, visit);
  nodes = tree.line(at);
  width = room();
  $("graph").setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  const points = nodes.map(point);
  const most = Math.max(4, ...points.filter((p) => p).flatMap((p) => [...(tells(p) ? [p.low, p.high] : []), estimate(p) ?? 0]).map(Math.abs));
  const place = {
    x: (i) => LEFT + ((width - LEFT - RIGHT) * i) / Math.max(1, nodes.length - 1),
    y: (n) => TOP + (HEIGHT - TOP - BOTTOM) * (0.5 - Math.max(-most, Math.min(most, n)) / most / 2),
  };
  $("graph").replaceChildren(...axes(place, most), ...bands(points, place), ...guesses(points, place), ...curve(points, place), ...dots(points, place, at));
  $("graph").onclick = (event) => visit(nearest(event));
  const n = points.filter((p) => p && isExact(p)).length;
  $("graph-hint").textContent = tn(n, "South’s lead at the end, as it stands after each move: {n} of {all} points is exact.", "South’s lead at the end, as it stands after each move: {n} of {all} points are exact.", { all: nodes.length });
  $("graph").setAttribute("aria-label", `${$("graph-hint").textContent} ${summary(points)}`);
}

// The outcome as it is known at a node, null if nothing is.
function point(node) {
  const p = node.probe ? outcome(node) : null;
  return p && (tells(p) || p.guess !== null) ? p : null;
}

// The first and the last exact point in words.
function summary(points) {
  const exact = points.filter((p) => p && isExact(p));
  if (exact.length === 0) return "";
  return t("From {first} to {last}.", { first: words.signed(exact[0].low), last: words.signed(exact.at(-1).low) });
}

function axes({ x, y }, most) {
  const lines = [most, 0, -most].flatMap((n) => [
    shape("line", { x1: LEFT, x2: width - RIGHT, y1: y(n), y2: y(n), class: n === 0 ? "zero" : "grid" }),
    shape("text", { x: LEFT - 6, y: y(n) + 4, "text-anchor": "end" }, words.signed(n)),
  ]);
  const last = nodes.length - 1;
  const every = Math.max(1, Math.ceil(last / 8));
  for (let i = 0; i <= last; i += every) lines.push(shape("text", { x: x(i), y: HEIGHT - 4, "text-anchor": "middle" }, i));
  return lines;
}

// Bars from bound to bound.
function bands(points, { x, y }) {
  const half = Math.min(14, Math.max(2, (x(1) - x(0)) / 2.4));
  return points.flatMap((p, i) => (p && !isExact(p) && tells(p)
    ? [shape("rect", { x: x(i) - half, width: 2 * half, y: y(p.high), height: Math.max(1, y(p.low) - y(p.high)), class: "band" })] : []));
}

// A path through numbers in a row; null is a gap.
function path(numbers, { x, y }, name) {
  const d = numbers.map((n, i) => (n === null ? "" : `${(numbers[i - 1] ?? null) === null ? "M" : "L"}${x(i).toFixed(1)} ${y(n).toFixed(1)}`)).join("");
  return d ? [shape("path", { d, class: name })] : [];
}

const curve = (points, place) => path(points.map((p) => (p && isExact(p) ? p.low : null)), place, "curve");

// Guesses, joined with each other and with exact points beside them.
function guesses(points, place) {
  const isGuess = (p) => Boolean(p) && !isExact(p) && p.guess !== null;
  return path(points.map((p, i) => (p && [points[i - 1], p, points[i + 1]].some(isGuess) ? estimate(p) : null)), place, "curve guess");
}

// A dot for each move that gave something away, and for the point that is shown.
function dots(points, { x, y }, at) {
  return nodes.flatMap((node, i) => {
    const p = points[i];
    const middle = y((p && (estimate(p) ?? (p.low + p.high) / 2)) ?? 0);
    const list = [];
    if (node === at) list.push(shape("line", { x1: x(i), x2: x(i), y1: TOP, y2: HEIGHT - BOTTOM, class: "here" }));
    const lost = node.parent?.probe ? grade(givenAway(node)) : "gave-0";
    if (lost !== "gave-0" && lost !== "gave-unknown") list.push(shape("circle", { cx: x(i), cy: middle, r: 5, class: lost }));
    else if (node === at && p && isExact(p)) list.push(shape("circle", { cx: x(i), cy: middle, r: 4, class: "dot" }));
    return list;
  });
}

// The node nearest to where somebody clicked.
function nearest(event) {
  const box = $("graph").getBoundingClientRect();
  const at = ((event.clientX - box.left) / box.width) * width;
  const i = Math.round(((at - LEFT) / (width - LEFT - RIGHT)) * (nodes.length - 1));
  return nodes[Math.max(0, Math.min(nodes.length - 1, i))];
}
