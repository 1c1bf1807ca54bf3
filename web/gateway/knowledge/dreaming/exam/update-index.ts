import type { Pace } from '../pace.ts';
import { normalizeText } from '../signal.ts';
import type { Statement } from './exam-question.ts';
import { isUpdate } from './is-update.ts';
import { getTerms } from './statement-text.ts';

/** Words in more statements than this do not lead to comparisons. */
const MAX_POSTINGS = 150;

/** Index of statements that finds later ones that replace an earlier one. */
export class UpdateIndex {
  readonly #statements: readonly Statement[];
  readonly #postings = new Map<string, number[]>();
  /** When each text was last said. */
  readonly #lastSaid: ReadonlyMap<string, number>;
  readonly #results = new Map<string, boolean>();
  readonly #isTrusted: (statement: Statement) => Promise<boolean>;
  readonly #pace: Pace;

  /** `statements`: oldest first. `isTrusted`: whether a statement may replace another. */
  constructor(statements: readonly Statement[], isTrusted: (statement: Statement) => Promise<boolean>, pace: Pace) {
    [this.#statements, this.#isTrusted, this.#pace] = [statements, isTrusted, pace];
    this.#lastSaid = new Map(statements.map(({ text, at }) => [normalizeText(text), at]));
    for (const [number, { text }] of statements.entries())
      for (const term of getTerms(text)) {
        const posting = this.#postings.get(term);
        if (posting) posting.push(number);
        else this.#postings.set(term, [number]);
      }
  }

  /** Trusted statements after the last time that a sentence was said that replace it, oldest first. `at`: when, if no statement contains it. */
  async find(sentence: string, at: number): Promise<Statement[]> {
    const since = this.#lastSaid.get(normalizeText(sentence)) ?? at;
    const numbers = new Set<number>();
    for (const term of getTerms(sentence)) {
      const posting = this.#postings.get(term) ?? [];
      if (posting.length <= MAX_POSTINGS) for (const number of posting) numbers.add(number);
    }
    const found: Statement[] = [];
    for (const number of [...numbers].sort((a, b) => a - b)) {
      const statement = this.#statements[number];
      if (!statement || statement.at <= since) continue;
      if (this.#isUpdate(sentence, statement.text) && (await this.#isTrusted(statement))) found.push(statement);
      await this.#pace();
    }
    return found;
  }

  #isUpdate(earlier: string, later: string): boolean {
    const key = `${earlier}\n${later}`;
    let result = this.#results.get(key);
    if (result === undefined) this.#results.set(key, (result = isUpdate(earlier, later)));
    return result;
  }
}
