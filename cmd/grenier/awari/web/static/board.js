// Draws the board: pits are buttons, seeds are circles, moves fly from pit to pit.

import { element } from "./dom.js";
import { t } from "./i18n.js";
import * as sound from "./sound.js";
import { NAMES, NORTH, SOUTH, letterOf, ownerOf } from "./game.js";
import { name } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const GOLDEN = Math.PI * (3 - Math.sqrt(5)); // angle between neighbours in a sunflower

const board = document.getElementById("board");
const flight = document.getElementById("flight");
const stores = [0, 1].map((player) => document.getElementById(`store-${player}`));
const stillness = matchMedia("(prefers-reduced-motion: reduce)");

const TOLD = 4000; // ms that something is said at a pit

let silence = 0; // the timer that ends it
let pits = []; // buttons, by pit on the page
let flights = 0; // number of the latest flight; earlier ones draw nothing any more

// Makes the buttons of a board with the given number of pits.
export function build(count, onPit) {
  document.documentElement.style.setProperty("--half", count / 2);
  pits = Array.from({ length: count }, (_, pit) => makePit(pit, count, onPit));
  const half = count / 2;
  document.getElementById(`row-${SOUTH}`).replaceChildren(...pits.slice(0, half));
  document.getElementById(`row-${NORTH}`).replaceChildren(...pits.slice(half).reverse());
}

function makePit(pit, count, onPit) {
  const { player, number } = ownerOf(pit, count);
  const button = element("button", `pit ${NAMES[player].toLowerCase()}`);
  button.type = "button";
  button.dataset.pit = pit;
  const bowl = element("span", "bowl");
  bowl.append(drawing());
  const label = element("span", "label");
  label.append(element("span", "count"), element("span", "number", letterOf(player, number)));
  button.append(element("span", "chip"), bowl, label);
  button.addEventListener("click", (event) => onPit(pit, event));
  button.addEventListener("focus", () => rove(pit));
  return button;
}

function drawing() {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "-50 -50 100 100");
  svg.setAttribute("class", "seeds");
  svg.setAttribute("aria-hidden", "true");
  return svg;
}

// Draws the given number of seeds, always in the same places for the same pit.
function drawSeeds(svg, count, salt, { radius, places } = lay(count, salt)) {
  if (Number(svg.dataset.count) === count) return;
  svg.dataset.count = count;
  const seeds = places.map(([away, angle], i) => {
    const [x, y] = [away * Math.cos(angle) + 1.4 * noise(salt, i), away * Math.sin(angle) + 1.4 * noise(i, salt)];
    return seed(x, y, radius, (salt + i * 7) % 3);
  });
  svg.replaceChildren(...seeds.reverse());
}

// Where seeds lie, as distances and angles: few in a ring, maybe around one in the
// middle, many like the seeds of a sunflower.
function lay(count, salt) {
  const turn = salt * 1.7 + count;
  if (count < 8) {
    const middle = count === 1 || count > 5 ? 1 : 0;
    const around = count - middle;
    const away = middle ? 26 : [0, 0, 14, 16.5, 19.5, 22.5][count];
    const ring = Array.from({ length: around }, (_, i) => [away, turn + (2 * Math.PI * i) / around]);
    return { radius: 12, places: middle ? [[0, 0], ...ring] : ring };
  }
  const step = 35.5 / Math.sqrt(count);
  const places = Array.from({ length: count }, (_, i) => [step * Math.sqrt(i + 0.5), turn + i * GOLDEN]);
  return { radius: Math.min(11.5, step * 0.88), places };
}

// Where seeds lie in a store: in rows of three from its end, over the whole of it when there are many.
function pile(count) {
  const step = Math.min(22, 200 / Math.ceil(count / 3));
  const at = (i) => [30 * ((i % 3) - 1), 98 - step * (Math.floor(i / 3) + 0.5)];
  return { radius: 11, places: Array.from({ length: count }, (_, i) => at(i)).map(([x, y]) => [Math.hypot(x, y), Math.atan2(y, x)]) };
}

// A number between -1 and 1 that depends on both arguments only.
function noise(a, b) {
  const x = Math.sin(a * 127.1 + b * 311.7 + 1) * 43758.5453;
  return 2 * (x - Math.floor(x)) - 1;
}

function seed(x, y, radius, tint) {
  const group = document.createElementNS(SVG, "g");
  group.append(disc(x + 1, y + 2.2, radius, "shade"), disc(x, y, radius, `seed tint-${tint}`));
  return group;
}

function disc(x, y, radius, className) {
  const circle = document.createElementNS(SVG, "circle");
  circle.setAttribute("cx", x.toFixed(1));
  circle.setAttribute("cy", y.toFixed(1));
  circle.setAttribute("r", radius.toFixed(1));
  circle.setAttribute("class", className);
  return circle;
}

// Shows seeds, and the seeds that both have taken.
export function show(counts, taken) {
  hush();
  counts.forEach((count, pit) => {
    const button = pits[pit];
    drawSeeds(button.querySelector(".seeds"), count, pit + 1);
    button.querySelector(".count").textContent = count;
  });
  taken.forEach((count, player) => {
    drawSeeds(stores[player].querySelector(".seeds"), count, 40 + player, pile(count));
    stores[player].querySelector(".count").textContent = count;
    stores[player].setAttribute("aria-label", t("{who} has taken {n}", { who: name(player), n: count }));
  });
}

// Sets the state of a pit: its accessible name, its chip ({text, kind} or null), and
// whether it can be played, is chosen by the last move, or is the best.
export function mark(pit, { label, chip, playable, origin, best }) {
  const button = pits[pit];
  button.setAttribute("aria-label", label);
  button.setAttribute("aria-disabled", String(!playable));
  button.classList.toggle("playable", playable);
  button.classList.toggle("origin", origin);
  button.classList.toggle("best", best);
  const shown = button.querySelector(".chip");
  shown.className = `chip ${chip ? chip.kind : "none"}`;
  shown.textContent = chip ? chip.text : "";
}

// Says something at a pit, until something else is shown there or its time is over.
export function tell(pit, what) {
  const bubble = document.getElementById("bubble");
  const place = board.getBoundingClientRect(), box = pits[pit].getBoundingClientRect();
  bubble.textContent = what;
  bubble.hidden = false;
  const half = bubble.offsetWidth / 2, middle = box.left + box.width / 2 - place.left;
  bubble.style.left = `${Math.max(half + 4, Math.min(place.width - half - 4, middle))}px`;
  bubble.style.top = `${box.top + box.height / 2 - place.top}px`;
  clearTimeout(silence);
  silence = setTimeout(hush, TOLD);
}

// Takes back what was said at a pit.
function hush() {
  document.getElementById("bubble").hidden = true;
}

// Marks whose turn it is.
export function turn(player) {
  board.dataset.turn = player;
  stores.forEach((store, i) => store.classList.toggle("moves", i === player));
}

// Only one pit is reached by Tab, arrow keys go to the others.
function rove(pit) {
  pits.forEach((button, i) => { button.tabIndex = i === pit ? 0 : -1; });
}

// Makes a pit the one that Tab reaches.
export const choose = rove;

// Moves the focus to a pit.
export function focus(pit) {
  rove(pit);
  pits[pit].focus();
}

// The pit that has the focus, or -1.
export function focused() {
  return pits.indexOf(document.activeElement);
}

// The pit that an arrow key leads to from another.
export function neighbour(pit, key) {
  const half = pits.length / 2;
  const across = pits.length - 1 - pit;
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (step === undefined) {
    const up = key === "ArrowUp";
    return (up && pit < half) || (!up && pit >= half) ? across : pit;
  }
  const column = pit < half ? pit : across;
  const next = (column + step + half) % half;
  return pit < half ? next : pits.length - 1 - next;
}

// Lets seeds fly from a pit into the pits of sown, then the seeds of taken into the
// store of a player. counts and stores are the seeds before. Where motion is not
// wanted it does nothing.
export async function fly(from, sown, taken, player, counts, stores) {
  if (stillness.matches || document.hidden) return;
  counts = [...counts];
  stores = [...stores];
  const mine = ++flights;
  const draw = () => { if (mine === flights) show(counts, stores); };
  counts[from] = 0;
  draw();
  const every = Math.min(130, 1500 / sown.length);
  await Promise.all(sown.map(async (to, i) => {
    await wing(pits[from], pits[to], i * every, i);
    counts[to]++;
    draw();
    if (mine === flights) sound.drop();
  }));
  if (mine !== flights) return;
  await Promise.all(taken.map(async (pit, i) => {
    const count = counts[pit];
    counts[pit] = 0;
    pits[pit].classList.add("taken");
    await Promise.all(Array.from({ length: count }, (_, k) =>
      wing(pits[pit], document.getElementById(`store-${player}`), 250 + i * 90 + k * 60, k, draw)));
    pits[pit].classList.remove("taken");
    stores[player] += count;
    draw();
    if (mine === flights) sound.take();
  }));
}

// One seed on its way.
async function wing(from, to, delay, tint, begun = () => {}) {
  const place = board.getBoundingClientRect();
  const [a, b] = [from, to].map((e) => (e.querySelector(".seeds") ?? e).getBoundingClientRect());
  const x0 = a.left + a.width / 2 - place.left, y0 = a.top + a.height / 2 - place.top;
  const x1 = b.left + b.width / 2 - place.left, y1 = b.top + b.height / 2 - place.top;
  const svg = drawing();
  svg.setAttribute("class", "flyer");
  svg.append(seed(0, 0, 44, tint % 3));
  flight.append(svg);
  const at = (x, y, scale) => `translate(${x}px, ${y}px) scale(${scale})`;
  const height = 18 + Math.hypot(x1 - x0, y1 - y0) * 0.12;
  const animation = svg.animate([
    { transform: at(x0, y0, 1), opacity: 1 },
    { transform: at((x0 + x1) / 2, (y0 + y1) / 2 - height, 1.35), opacity: 1 },
    { transform: at(x1, y1, 1), opacity: 1 },
  ], { duration: 380, delay, easing: "ease-in-out", fill: "backwards" });
  setTimeout(begun, delay);
  try {
    await animation.finished;
  } catch {
    // The animation was cancelled: the board is drawn anew anyway.
  }
  svg.remove();
}

// Stops all seeds that are on their way.
export function settle() {
  flights++;
  for (const animation of flight.getAnimations({ subtree: true })) animation.cancel();
}
