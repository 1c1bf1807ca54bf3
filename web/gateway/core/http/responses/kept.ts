import type { Clock } from '../../clock.ts';
import type { Collection } from '../../vault.ts';
import { createTimedId, isVisibleTo } from '../ids.ts';
import type { ResponseRecord } from './record.ts';

const DAY = 24 * 60 * 60_000;
/** Limits of stored responses: number, age, and characters as JSON, in total and each. The oldest are removed first. */
export const KEPT = { count: 1000, ageMs: 30 * DAY, chars: 64 * 1024 * 1024, charsEach: 8 * 1024 * 1024 };
/** Interval of a new count, which includes responses added by other hosts. */
const COUNT_AGAIN_MS = 60 * 60_000;

export interface KeptDeps {
  responses: Collection<ResponseRecord>;
  clock: Clock;
  fault(error: unknown): unknown;
  limits?: typeof KEPT;
}

export const newResponseId = (now: number): string => createTimedId('resp_', now);

/** Stored responses, in the vault. */
export class KeptResponses {
  readonly #deps: KeptDeps;
  readonly #limits: typeof KEPT;
  /** Stored responses by id. */
  #counted: Map<string, Pick<ResponseRecord, 'id' | 'createdAt' | 'chars'>> | undefined;
  #countedAt = 0;
  #line: Promise<unknown> = Promise.resolve();

  constructor(deps: KeptDeps) {
    this.#deps = deps;
    this.#limits = deps.limits ?? KEPT;
  }

  /** Undefined if the response does not exist, is too old, or belongs to another principal. */
  async get(id: string, principal: string): Promise<ResponseRecord | undefined> {
    const record = await this.#deps.responses.get(id);
    return record && isVisibleTo(principal, record) && !this.#old(record) ? record : undefined;
  }

  /** The response and its predecessors, the oldest first; undefined if one of them is missing. */
  async conversation(id: string, principal: string): Promise<ResponseRecord[] | undefined> {
    const records: ResponseRecord[] = [];
    for (let next: string | null = id; next !== null;) {
      const record: ResponseRecord | undefined = await this.get(next, principal);
      if (!record) return undefined;
      records.push(record);
      next = record.previousId;
    }
    return records.reverse();
  }

  /** False if it is not stored: it is too large, or could not be written. */
  async put(record: Omit<ResponseRecord, 'chars'>): Promise<boolean> {
    const { responses, fault } = this.#deps;
    const chars = JSON.stringify(record).length;
    if (chars > this.#limits.charsEach) return false;
    try {
      await responses.put({ ...record, chars });
    } catch (error) {
      fault(error);
      return false;
    }
    // Old responses are removed in the background.
    this.#line = this.#line.then(() => this.#tidy({ id: record.id, createdAt: record.createdAt, chars })).catch(fault);
    return true;
  }

  async remove(id: string, principal: string): Promise<boolean> {
    if (!(await this.get(id, principal))) return false;
    this.#counted?.delete(id);
    return this.#deps.responses.remove(id);
  }

  #old({ createdAt }: Pick<ResponseRecord, 'createdAt'>): boolean {
    return createdAt < this.#deps.clock.now() - this.#limits.ageMs;
  }

  async #tidy(added: Pick<ResponseRecord, 'id' | 'createdAt' | 'chars'>): Promise<void> {
    const { responses, clock } = this.#deps;
    if (!this.#counted || clock.monotonic() - this.#countedAt > COUNT_AGAIN_MS) {
      const all = await responses.list();
      this.#counted = new Map(all.map(({ id, createdAt, chars }) => [id, { id, createdAt, chars }]));
      this.#countedAt = clock.monotonic();
    }
    const counted = this.#counted.set(added.id, added);
    let chars = [...counted.values()].reduce((sum, each) => sum + each.chars, 0);
    for (const each of [...counted.values()].sort((a, b) => (a.id < b.id ? -1 : 1))) {
      if (!this.#old(each) && counted.size <= this.#limits.count && chars <= this.#limits.chars) break;
      await responses.remove(each.id);
      counted.delete(each.id);
      chars -= each.chars;
    }
  }
}
