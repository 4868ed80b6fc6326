// Small pictures of positions.

import { t } from "./i18n.js";
import * as words from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const PIT = 40; // of the picture

function shape(name, attributes, text) {
  const e = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  if (text !== undefined) e.textContent = text;
  return e;
}

// A board with its seeds as numbers and dots. Pits in marked have a rim.
export function mini(position, marked = []) {
  const { pits, turn } = position;
  const half = pits.length / 2;
  const svg = shape("svg", { viewBox: `0 0 ${half * PIT + 16} ${2 * PIT + 16}`, class: "mini", role: "img", "aria-label": label(position) });
  svg.append(shape("rect", { x: 0, y: 0, width: half * PIT + 16, height: 2 * PIT + 16, rx: 14, class: "wood" }));
  pits.forEach((seeds, pit) => {
    const column = pit < half ? pit : pits.length - 1 - pit;
    const x = 8 + PIT * (column + 0.5), y = 8 + PIT * (pit < half ? 1.5 : 0.5);
    const mine = (pit < half) === (turn === 0);
    svg.append(
      shape("circle", { cx: x, cy: y, r: PIT / 2 - 3, class: `hole${marked.includes(pit) ? " marked" : mine ? " mine" : ""}` }),
      shape("text", { x, y: y + 6, "text-anchor": "middle", class: seeds === 0 ? "none" : "" }, seeds),
    );
  });
  return svg;
}

// A position in words.
function label({ pits, turn }) {
  const half = pits.length / 2;
  return t("{turn} South: {south}. North: {north}.", { turn: words.toMove(turn), south: pits.slice(0, half).join(" "), north: pits.slice(half).join(" ") });
}
