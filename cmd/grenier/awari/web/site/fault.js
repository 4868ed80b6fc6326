// What can go wrong in reading tables: errors that say it in English. Who shows them can translate
// their what: a text, and values, which may be such texts themselves.

class Text {
  constructor(text, values) {
    Object.assign(this, { text, values });
  }

  toString() {
    return this.text.replace(/\{(\w+)\}/g, (_, name) => this.values[name]);
  }
}

export const t = (text, values = {}) => new Text(text, values);

export class Fault extends Error {
  constructor(what) {
    super(String(what));
    this.name = new.target.name;
    this.what = what;
  }
}

// What is asked for makes no sense.
export class BadBoard extends Fault {}

// The tables do not have the board.
export class Unsolved extends Fault {}

// Finding it takes too much.
export class Limit extends Fault {}

// Scores contradict each other.
export class Contradiction extends Fault {}

// A file is not as it must be.
export class Damaged extends Fault {}

// The web server does not answer, or not as it must.
export class ServerError extends Fault {}
