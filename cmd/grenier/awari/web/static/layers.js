// The page about the solved layers.

import "./shell.js";
import * as api from "./api.js";
import { caption, drawings } from "./captions.js";
import { element } from "./dom.js";
import { figures, number, t } from "./i18n.js";

const $ = (id) => document.getElementById(id);

function complain(text) {
  $("problem").textContent = text;
  $("problem").hidden = text === "";
}

async function show() {
  const tables = await api.layers();
  const rows = tables.layers.map((layer) => {
    const row = element("tr");
    const cells = [layer.seeds, ...[layer.positions, layer.win, layer.draw, layer.loss].map((n) => number.format(n)), figures(layer.mean.toFixed(6))];
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
    ? t("No layer is solved.")
    : t("A layer is all boards with the same number of seeds: {positions} positions in {layers} layers.", { positions: number.format(total), layers: tables.layers.length });
  if (tables.layers.length === 0) return;
  const { charts } = await api.charts();
  document.querySelector(".charts").append(...charts.map((chart) => figure(chart, tables.layers)));
  await chooseScores(tables.layers);
}

// A chart with its title and its description.
function figure(chart, layers) {
  const f = element("figure");
  const top = element("figcaption");
  const [title, text] = caption(chart, layers);
  top.append(element("h3", "", title), element("p", "hint", text));
  const drawing = element("div", "drawing");
  drawing.append(...drawings(chart, [title, text])); // the style sheet shows the one that fits
  f.append(top, drawing);
  return f;
}

// Lets the reader choose the layer whose scores are shown.
function chooseScores(layers) {
  const slider = $("scores-seeds");
  const last = layers.length - 1;
  const update = () => showScores(layers, Number(slider.value)).catch((error) => complain(error.message));
  slider.max = last;
  slider.value = last;
  const step = (by) => {
    slider.value = Number(slider.value) + by;
    update();
  };
  slider.addEventListener("input", update);
  $("scores-less").addEventListener("click", () => step(-1));
  $("scores-more").addEventListener("click", () => step(1));
  return update();
}

async function showScores(layers, i) {
  const layer = layers[i], chart = await api.scores(layer.seeds);
  if (Number($("scores-seeds").value) !== i) return; // the reader has gone on
  const [title, text] = caption(chart, [layer]);
  $("scores-title").textContent = title;
  $("scores-text").textContent = text;
  $("scores-seeds").setAttribute("aria-valuetext", t("{n} seeds", { n: layer.seeds }));
  $("scores-drawing").replaceChildren(...drawings(chart, [title, text]));
  $("scores").hidden = false;
}

show().catch((error) => complain(error.message)).finally(() => { document.body.dataset.ready = "yes"; });
