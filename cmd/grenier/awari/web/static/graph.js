// The graph of a game: by how much South will be ahead at the end, as it stands after each
// move. Where only bounds are known it shows them as a band.

import { t, tn } from "./i18n.js";
import * as words from "./words.js";
import { grade } from "./record.js";
import * as tree from "./tree.js";
import { givenAway, isProven, outcome, valueOf } from "./values.js";

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
  const most = Math.max(4, ...points.filter((p) => p).map((p) => Math.max(Math.abs(p.low), Math.abs(p.high))));
  const place = {
    x: (i) => LEFT + ((width - LEFT - RIGHT) * i) / Math.max(1, nodes.length - 1),
    y: (n) => TOP + (HEIGHT - TOP - BOTTOM) * (0.5 - Math.max(-most, Math.min(most, n)) / most / 2),
  };
  $("graph").replaceChildren(...axes(place, most), ...bands(points, place), ...curve(points, place), ...dots(points, place, at));
  $("graph").onclick = (event) => visit(nearest(event));
  const n = points.filter((p) => p && p.low === p.high).length;
  $("graph-hint").textContent = tn(n, "South’s lead at the end, as it stands after each move: {n} of {all} points is exact.", "South’s lead at the end, as it stands after each move: {n} of {all} points are exact.", { all: nodes.length });
  $("graph").setAttribute("aria-label", `${$("graph-hint").textContent} ${summary(points)}`);
}

// The value known of a node, null if there is none.
const point = (node) => (node.probe && isProven(valueOf(node)) ? outcome(node) : null);

// The first and the last exact point in words.
function summary(points) {
  const exact = points.filter((p) => p && p.low === p.high);
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
  return points.flatMap((p, i) => (p && p.low < p.high
    ? [shape("rect", { x: x(i) - half, width: 2 * half, y: y(p.high), height: Math.max(1, y(p.low) - y(p.high)), class: "band" })] : []));
}

// Exact points in a row, joined.
function curve(points, { x, y }) {
  const paths = [];
  let path = "";
  points.forEach((p, i) => {
    const exact = p && p.low === p.high;
    if (exact) path += `${path ? "L" : "M"}${x(i).toFixed(1)} ${y(p.low).toFixed(1)}`;
    if ((!exact || i === points.length - 1) && path) {
      paths.push(shape("path", { d: path, class: "curve" }));
      path = "";
    }
  });
  return paths;
}

// A dot for each move that gave something away, and for the point that is shown.
function dots(points, { x, y }, at) {
  return nodes.flatMap((node, i) => {
    const p = points[i];
    const middle = !p ? y(0) : p.low === p.high ? y(p.low) : (y(p.low) + y(p.high)) / 2;
    const list = [];
    if (node === at) list.push(shape("line", { x1: x(i), x2: x(i), y1: TOP, y2: HEIGHT - BOTTOM, class: "here" }));
    const lost = node.parent?.probe ? grade(givenAway(node)) : "gave-0";
    if (lost !== "gave-0" && lost !== "gave-unknown") list.push(shape("circle", { cx: x(i), cy: middle, r: 5, class: lost }));
    else if (node === at && p && p.low === p.high) list.push(shape("circle", { cx: x(i), cy: middle, r: 4, class: "dot" }));
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
