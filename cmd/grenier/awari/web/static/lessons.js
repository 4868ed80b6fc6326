// The lessons of the course. In each step South plays a pit, from 0; by the tables of awari and of abapa it is the only best move.

import { t } from "./i18n.js";

export const LESSONS = [
  { name: () => t("Sowing"), steps: [
    { pits: [0, 2, 5, 0, 0, 0, 0, 0, 0, 0, 0, 1], pit: 2,
      ask: () => t("The lower row is yours. Play pit C: its five seeds are sown one by one, counter-clockwise."),
      told: () => t("The pit is empty now, and the next five have one seed more; two of them are North’s.") },
    { pits: [1, 0, 0, 1, 4, 0, 1, 0, 0, 0, 0, 0], pit: 4,
      ask: () => t("A and D only go one pit on. Play pit E and see how far four seeds reach."),
      told: () => t("One seed stayed with you, three went over to North.") },
  ] },
  { name: () => t("Capturing"), steps: [
    { pits: [0, 1, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0], pit: 5,
      ask: () => t("Play pit F: its last seed falls into a pit of North and makes two there. That captures."),
      told: () => t("Two seeds are yours. They stay in your store and count at the end.") },
    { pits: [0, 0, 0, 1, 0, 3, 1, 1, 1, 0, 0, 2], pit: 5,
      ask: () => t("Now there are three such pits in a row. Play pit F."),
      told: () => t("You took three pits of two at once: the last one, and those before it as long as they hold two or three.") },
    { pits: [0, 0, 1, 0, 2, 0, 2, 0, 0, 1, 0, 0], pit: 4,
      ask: () => t("Three count like two. Pit a has two seeds: make it three with pit E."),
      told: () => t("Four or more would have been safe for North.") },
    { pits: [1, 0, 0, 0, 2, 1, 1, 1, 0, 0, 1, 1], pit: 4,
      ask: () => t("Play pit E: its last seed makes two in North’s first pit, and two in your own pit F."),
      told: () => t("Only pits of North are captured: your own F keeps its two seeds.") },
  ] },
  { name: () => t("Defending"), steps: [
    { pits: [1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1], pit: 0,
      ask: () => t("North’s f holds one seed. It would fall into A and make two there. Move your seed away."),
      told: () => t("Now f falls into an empty pit, and one seed is no capture.") },
    { pits: [1, 2, 0, 0, 0, 1, 0, 0, 0, 0, 2, 2], pit: 0,
      ask: () => t("Two threats: f would make three in B, and e two in A. One move mends both: find it."),
      told: () => t("A is empty, and B has three: a fourth makes it safe. Filling a pit defends as well as leaving it.") },
  ] },
  { name: () => t("Counting round the board"), steps: [
    { pits: [0, 8, 0, 2, 0, 1, 1, 0, 1, 1, 0, 0], pit: 1,
      ask: () => t("Count where the last seed goes: eight seeds of B reach C, D, E, F, a, b, c, and d. Play it."),
      told: () => t("Pits c and d held one seed each, b none: so two pits are captured.") },
    { pits: [1, 0, 0, 0, 0, 13, 1, 0, 0, 0, 0, 0], pit: 5,
      ask: () => t("From twelve seeds on a pit goes all the way round, and leaves itself out. Thirteen of F end in b. Play it."),
      told: () => t("Each pit of North got a seed, the first two a second one: a large pit captures where the row was empty.") },
  ] },
  { name: () => t("Tempo"), steps: [
    { pits: [1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0], pit: 4,
      ask: () => t("North has one move only: a goes to b. There F could take it, if it had two seeds. Wait in the right way."),
      told: () => t("F is loaded, and North has to walk into it.") },
    { pits: [1, 0, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0], pit: 5,
      ask: () => t("North had to move. Now take."),
      told: () => t("Who has moves to spare lets the other run out of them.") },
  ] },
  { name: () => t("Starving"), steps: [
    { pits: [0, 1, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0], pit: 5,
      ask: () => t("North has no seed left. You may not starve him: only pit F reaches his row."),
      told: () => t("If no move gave him a seed, other rules would decide; they are on this page.") },
    { pits: [1, 0, 0, 0, 1, 1, 2, 0, 0, 0, 0, 0], pit: 4,
      ask: (rules) => rules === "abapa"
        ? t("Pit F would take all that North has: then it takes nothing. Find the better move.")
        : t("Pit F would take all that North has. That is not allowed while there is another move. Find the better one."),
      told: () => t("Now F holds two, and North has to spread what he has.") },
    { pits: [0, 2, 0, 1, 2, 1, 0, 0, 0, 0, 0, 0], pit: 4,
      ask: () => t("Two pits can feed North: E and F. Which one gives him the seed and keeps the other for later?"),
      told: () => t("Feed with the pit that you need least.") },
  ] },
];
