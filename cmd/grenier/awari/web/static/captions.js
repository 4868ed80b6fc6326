// The words of charts, in the language of the page: the server draws them with English words.

import { figures, number, percent, t } from "./i18n.js";

// The words of drawings and of their tips.
const WORDS = {
  "seeds on the board": t("seeds on the board"),
  "share of positions": t("share of positions"),
  "mean score of the player to move": t("mean score of the player to move"),
  "score of the player to move": t("score of the player to move"),
  "seconds, logarithmic": t("seconds, logarithmic"),
  "even scores": t("even scores"),
  "odd scores": t("odd scores"),
  "bytes a position": t("bytes a position"),
  "positions a second": t("positions a second"),
  "mean score": t("mean score"),
  "seeds": t("seeds"),
  "positions": t("positions"),
  "bytes": t("bytes"),
  "seconds": t("seconds"),
  "score": t("score"),
  "share": t("share"),
  "win": t("win"),
  "draw": t("draw"),
  "loss": t("loss"),
  "win %": t("win %"),
  "draw %": t("draw %"),
  "loss %": t("loss %"),
};

const results = ({ win, draw, loss, positions }) => ({ win: percent(win / positions), draw: percent(draw / positions), loss: percent(loss / positions) });

// The title and the description of a chart, for the layers that it is about.
export function caption(chart, layers) {
  const [first, last] = [layers[0], layers.at(-1)];
  switch (chart.name) {
    case "outcome":
      return [t("Wins, draws and losses by layer"), t("Share of the positions of each layer that are won, drawn and lost for the player to move. With {n} seeds: {win} won, {draw} drawn, {loss} lost.",
        { n: last.seeds, ...results(last) })];
    case "mean":
      return [t("Mean score by layer"), t("Mean over all positions of a layer: {a} with {n} seeds, {b} with {m}.",
        { a: figures(first.mean.toFixed(3)), n: first.seeds, b: figures(last.mean.toFixed(3)), m: last.seeds })];
    case "bytes":
      return [t("Bytes a position by layer"), t("Length of the layer file divided by the number of positions. Layers of fewer than {n} positions, whose files are mostly frame, are left out.",
        { n: number.format(1000) })];
    case "seconds":
      return [t("Time by layer"), t("Time spent on solving each layer and writing its file.")];
  }
  return captionOfScores(last);
}

// The same for the chart of the scores of a layer.
function captionOfScores(layer) {
  const odd = layer.seeds % 2;
  const like = Object.entries(layer.histogram).filter(([score]) => Math.abs(score) % 2 === odd).reduce((sum, [, n]) => sum + n, 0);
  const values = { positions: number.format(layer.positions), ...results(layer), mean: figures(layer.mean.toFixed(3)), like: percent(like / layer.positions) };
  return [t("Scores with {n} seeds", { n: layer.seeds }), odd
    ? t("Share of the {positions} positions that have each score: {win} won, {draw} drawn, {loss} lost, mean {mean}. The number of seeds is odd, and so are {like} of the scores.", values)
    : t("Share of the {positions} positions that have each score: {win} won, {draw} drawn, {loss} lost, mean {mean}. The number of seeds is even, and so are {like} of the scores.", values)];
}

// The drawings of a chart, one for wide windows and one for phones.
export function drawings(chart, [title, text]) {
  return ["wide", "narrow"].map((size) => {
    const svg = document.importNode(new DOMParser().parseFromString(chart[size], "image/svg+xml").documentElement, true);
    svg.classList.add(size);
    makeRoom(svg);
    for (const e of svg.querySelectorAll("text, .column > title")) e.textContent = e.textContent.split("\n").map(translate).join("\n");
    svg.querySelector(":scope > title").textContent = title;
    svg.querySelector(":scope > desc").textContent = text;
    return svg;
  });
}

// Moves the legend, which ends at the right edge, as far to the left as its words are longer than in
// English: a word takes CHARACTER pixels a character where charts are laid out (io/chart).
function makeRoom(svg) {
  const CHARACTER = 6.7;
  let shift = 0;
  for (const text of [...svg.querySelectorAll(":scope > rect + text")].reverse()) {
    shift += CHARACTER * (translate(text.textContent).length - text.textContent.length);
    for (const e of [text, text.previousElementSibling]) e.setAttribute("x", Number(e.getAttribute("x")) - shift);
  }
}

// Words, a number, or "word: number".
function translate(line) {
  const [name, value] = line.split(": ");
  const words = WORDS[name] ?? figures(name);
  return value === undefined ? words : t("{name}: {value}", { name: words, value: figures(value) });
}
