// Shows what is known about the solved layers.

import * as api from "./api.js";
import { element } from "./board.js";

const $ = (id) => document.getElementById(id);

// Fills the part of the page about layers.
export function showLayers(tables) {
  const number = new Intl.NumberFormat("en");
  const rows = tables.layers.map((layer) => {
    const row = element("tr");
    const cells = [layer.seeds, ...[layer.positions, layer.win, layer.draw, layer.loss].map((n) => number.format(n)), layer.mean.toFixed(6)];
    row.append(...cells.map((text, i) => {
      const cell = element(i === 0 ? "th" : "td", "", text);
      if (i === 0) cell.scope = "row";
      return cell;
    }));
    return row;
  });
  $("layers-table").tBodies[0].replaceChildren(...rows);
  const total = tables.layers.reduce((all, layer) => all + layer.positions, 0);
  $("layers-about").textContent = tables.layers.length === 0
    ? "No layer is solved."
    : `A layer is all boards with the same number of seeds: ${number.format(total)} positions in ${tables.layers.length} layers.`;
}
