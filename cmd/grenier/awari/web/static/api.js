// Questions to the server.

// What the server answered instead of an answer.
export class Refusal extends Error {}

const answers = new Map(); // by address
const MAX_ANSWERS = 2000;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// What the tables know about a board, seen by its mover.
export const probe = (pits) => ask(`/api/probe?pits=${pits.join(",")}`);

// The best line from a solved board, seen by its mover.
export const line = (pits) => ask(`/api/line?pits=${pits.join(",")}`);

// What a search finds out about a board in some time. It ends when signal does.
export async function search(pits, ms, signal) {
  const address = `/api/search?pits=${pits.join(",")}&ms=${ms}`;
  if (!answers.has(address)) remember(address, Promise.resolve(await get(address, signal)));
  return answers.get(address);
}

// Charts of all layers, and of the scores of one layer.
export const charts = () => ask("/api/charts");
export const scores = (seeds) => ask(`/api/charts/scores?seeds=${seeds}`);

// The solved layers.
export const layers = () => ask("/api/layers");

// The answer to a question, asked once only.
function ask(address) {
  if (!answers.has(address)) {
    const answer = get(address);
    remember(address, answer);
    answer.catch(() => answers.delete(address));
  }
  return answers.get(address);
}

function remember(address, answer) {
  if (answers.size >= MAX_ANSWERS) answers.delete(answers.keys().next().value);
  answers.set(address, answer);
}

async function get(address, signal) {
  for (let tries = 0; ; tries++) {
    let response;
    try {
      response = await fetch(address, { headers: { Accept: "application/json" }, signal });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Refusal("The server does not answer. Is it still running?");
    }
    const busy = response.status === 429 || response.status === 503;
    if (busy && tries < 5) {
      await pause(1000);
      continue;
    }
    const body = await response.json().catch(() => ({ error: `The server answers ${response.status}.` }));
    if (!response.ok) throw new Refusal(body.error);
    return body;
  }
}
