// Where answers come from: the server. A published site has another file of this name,
// which finds them in the files of the layers (../site).

import { Refusal, Silence } from "./failure.js";
import { t } from "./i18n.js";
import { refusal } from "./refusals.js";

// The page on which one plays.
export const PLAY = "./";

// The worker that keeps pages and answers.
export const WORKER = "/sw.js";

// The addresses of answers that the worker keeps.
export const KEPT = /\/api\/(?!search)/;

// The seeds of the largest layers that the server looks through.
export const EXPLORED = { score: 16, swing: 16, hard: 14 };
export const limit = (n) => t("The server looks through layers of up to {n} seeds.", { n });

const silence = () => new Silence(t("The server does not answer. Is it still running?"));

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// The answer to a question. It fails with a Refusal or a Silence, or as signal says.
export async function get(address, signal) {
  for (let tries = 0; ; tries++) {
    let response;
    try {
      response = await fetch(address, { headers: { Accept: "application/json" }, signal });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw silence();
    }
    const busy = response.status === 429 || response.status === 503;
    if (busy && tries < 5) {
      await pause(1000);
      continue;
    }
    const body = await response.json().catch((error) => {
      if (signal?.aborted) throw error;
      if (response.ok) throw silence(); // it was cut off
      return { error: t("The server answers {status}.", { status: response.status }) };
    });
    if (!response.ok) throw new Refusal(body.code ? refusal(body) : body.error);
    return body;
  }
}
