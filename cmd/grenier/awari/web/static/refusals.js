// Why the server does not answer, in the language of the page. It tells that as a code, and in
// English with particulars.

import { t } from "./i18n.js";

const WORDS = {
  rate: t("Too many requests from this machine: wait a little."),
  greedy: t("The server is busy with other requests of this machine: wait for them."),
  connections: t("Too many connections from this machine: close some."),
  busy: t("The server is busy with others: try again."),
  stopping: t("The server is stopping."),
  unsolved: t("The tables do not have this board."),
  work: t("This takes more than the server spends on it."),
  damaged: t("A table that this needs is damaged; the log of the server names it."),
  failed: t("The server failed; its log says why."),
};

// The text of an answer that says why there is none.
export const refusal = ({ code, error }) => WORDS[code] ?? t("The server refuses: {why}", { why: error });
