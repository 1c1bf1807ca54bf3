import type { Clock } from '#shared/async/clock.ts';
import type { Collection } from '../../../storage/vault-interface.ts';
import { createTimedId, isVisibleTo } from '../ids.ts';
import type { ResponseRecord } from '../../../storage/records/response-record.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Limits of stored responses: number, age, and characters as JSON, in total and each. The oldest are removed first. */
export const RESPONSE_LIMITS = { count: 1000, ageMs: 30 * DAY_MS, chars: 64 * 1024 * 1024, charsEach: 8 * 1024 * 1024 };
/** Interval of a new count, which includes responses added by other hosts. */
const RECOUNT_INTERVAL_MS = 60 * 60_000;

interface ResponseStoreDeps {
  responses: Collection<ResponseRecord>;
  clock: Clock;
  fault(error: unknown): unknown;
  limits?: typeof RESPONSE_LIMITS;
}

export const createResponseId = (now: number): string => createTimedId('resp_', now);

/** Stored responses, in the vault. */
export class ResponseStore {
  readonly #deps: ResponseStoreDeps;
  readonly #limits: typeof RESPONSE_LIMITS;
  /** Stored responses by id. */
  #sizes: Map<string, Pick<ResponseRecord, 'id' | 'createdAt' | 'chars'>> | undefined;
  #countedAt = 0;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(deps: ResponseStoreDeps) {
    this.#deps = deps;
    this.#limits = deps.limits ?? RESPONSE_LIMITS;
  }

  /** Undefined if the response does not exist, is too old, or belongs to another principal. */
  async get(id: string, principal: string): Promise<ResponseRecord | undefined> {
    const record = await this.#deps.responses.get(id);
    return record && isVisibleTo(principal, record) && !this.#isExpired(record) ? record : undefined;
  }

  /** The response and its predecessors, the oldest first; undefined if one of them is missing. */
  async getConversation(id: string, principal: string): Promise<ResponseRecord[] | undefined> {
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
    this.#queue = this.#queue.then(() => this.#prune({ id: record.id, createdAt: record.createdAt, chars })).catch(fault);
    return true;
  }

  async remove(id: string, principal: string): Promise<boolean> {
    if (!(await this.get(id, principal))) return false;
    this.#sizes?.delete(id);
    return this.#deps.responses.remove(id);
  }

  #isExpired({ createdAt }: Pick<ResponseRecord, 'createdAt'>): boolean {
    return createdAt < this.#deps.clock.now() - this.#limits.ageMs;
  }

  async #prune(newest: Pick<ResponseRecord, 'id' | 'createdAt' | 'chars'>): Promise<void> {
    const { responses, clock } = this.#deps;
    if (!this.#sizes || clock.monotonic() - this.#countedAt > RECOUNT_INTERVAL_MS) {
      const all = await responses.list();
      this.#sizes = new Map(all.map(({ id, createdAt, chars }) => [id, { id, createdAt, chars }]));
      this.#countedAt = clock.monotonic();
    }
    const sizes = this.#sizes.set(newest.id, newest);
    let chars = [...sizes.values()].reduce((sum, record) => sum + record.chars, 0);
    for (const record of [...sizes.values()].sort((a, b) => (a.id < b.id ? -1 : 1))) {
      if (!this.#isExpired(record) && sizes.size <= this.#limits.count && chars <= this.#limits.chars) break;
      await responses.remove(record.id);
      sizes.delete(record.id);
      chars -= record.chars;
    }
  }
}
