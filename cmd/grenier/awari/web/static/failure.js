// Errors that can come instead of an answer.

// Why a question is not answered.
export class Refusal extends Error {}

// That nobody answered, or that the answer is of no use.
export class Silence extends Error {}
