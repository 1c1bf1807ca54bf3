/** Kinds of questions, by what finding their answer takes. */
export const QUESTION_KINDS = ['one-turn', 'several-turn', 'open', 'time', 'updates', 'contradictions', 'negation', 'preferences'] as const;
export type QuestionKind = (typeof QUESTION_KINDS)[number];

/**
 * Texts have several wordings, of which those at even positions belong to conversations for tuning and the others to those held back.
 * Placeholders: `{P}` is the person, `{O}` the other speaker, `{when}` a relative time, `{date}` the month that it means, and any other
 * name is a slot of the fact.
 */
export type Wordings = readonly string[];

/** A fact that one turn tells. */
export interface Fact {
  kind: Exclude<QuestionKind, 'several-turn' | 'updates' | 'contradictions'>;
  slots?: Readonly<Record<string, readonly string[]>>;
  /** Question by the other speaker in the turn before. */
  lead?: Wordings;
  said: Wordings;
  asked: Wordings;
  /** Words that an answer contains: slots in braces, or a text. */
  answer?: string;
  /** Descriptions of the person by this fact, for questions that take two turns. */
  alias?: Wordings;
}

/** Facts of one kind, told in different conversations. */
export interface Collection {
  /** Question by the other speaker in the turn before an item. */
  lead?: Wordings;
  asked: Wordings;
  items: readonly (readonly [said: string, answer: string])[];
}

/** A fact that replaces an earlier one. `{old}` and `{new}` are two values. */
export interface Change {
  values: readonly string[];
  before: Wordings;
  after: Wordings;
  asked: Wordings;
}

/** Two statements that do not agree. */
export interface Contradiction {
  first: Wordings;
  second: Wordings;
  asked: Wordings;
}

export interface Material {
  facts: readonly Fact[];
  collections: readonly Collection[];
  changes: readonly Change[];
  contradictions: readonly Contradiction[];
  /** Turns that share words with the facts and tell nothing. */
  chatter: Wordings;
}
