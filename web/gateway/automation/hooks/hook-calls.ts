import type { HookCall } from '#shared/rpc/methods/hook-contracts.ts';
import { sha256 } from '#shared/sha256.ts';
import type { Collection } from '../../storage/vault-interface.ts';
import { type HookCallRecord, toCallPrefix } from '../../storage/records/hook-records.ts';

/** Number of ended calls per hook that are kept. */
const MAX_ENDED = 500;
/** How long ended calls are kept, and with them the protection against repeated calls whose time is not signed. */
const RETENTION_MS = 30 * 24 * 3_600_000;
/** Number of new calls after which old ones are looked for. */
const PRUNE_EVERY = 50;

const isEnded = ({ endedAt }: HookCallRecord): boolean => endedAt !== null;

/** Calls of hooks, as they are stored. */
export class HookCalls {
  readonly #records: Collection<HookCallRecord>;
  readonly #onChange: (hookName: string) => void;
  readonly #added = new Map<string, number>();

  constructor(records: Collection<HookCallRecord>, onChange: (hookName: string) => void) {
    this.#records = records;
    this.#onChange = onChange;
  }

  /** Id of a call: the same for the same `key`. */
  static async createId(hookName: string, key: string): Promise<string> {
    return toCallPrefix(hookName) + (await sha256(key)).slice(0, 32);
  }

  get(id: string): Promise<HookCallRecord | undefined> {
    return this.#records.get(id);
  }

  /** Newest first; of all hooks if `hookName` is undefined. */
  async list(hookName?: string): Promise<HookCallRecord[]> {
    return (await this.#records.list(hookName === undefined ? '' : toCallPrefix(hookName))).sort(
      (a, b) => b.at - a.at || (a.id < b.id ? 1 : -1),
    );
  }

  /** Calls that have not ended, oldest first. */
  async listPending(): Promise<HookCallRecord[]> {
    return (await this.list()).filter((call) => !isEnded(call)).reverse();
  }

  /** Strict. False if a call with this id exists, which stays unchanged. */
  async add(record: HookCallRecord): Promise<boolean> {
    const added = (await this.#records.update(record.id, (before) => (before ? undefined : record))) === record;
    if (!added) return false;
    this.#onChange(record.hook);
    const count = (this.#added.get(record.hook) ?? 0) + 1;
    this.#added.set(record.hook, count % PRUNE_EVERY);
    if (count >= PRUNE_EVERY) await this.#prune(record.hook, record.at);
    return true;
  }

  /** Changes an existing record; undefined if there is none. */
  async change(id: string, change: Partial<HookCallRecord>): Promise<HookCallRecord | undefined> {
    const after = await this.#records.update(id, (before) => before && { ...before, ...change });
    if (after) this.#onChange(after.hook);
    return after;
  }

  async removeAll(hookName: string): Promise<void> {
    await Promise.all((await this.#records.keys(toCallPrefix(hookName))).map((id) => this.#records.remove(id)));
  }

  async #prune(hookName: string, now: number): Promise<void> {
    const ended = (await this.list(hookName)).filter(isEnded);
    const old = ended.filter(({ at }, index) => index >= MAX_ENDED || at < now - RETENTION_MS);
    await Promise.all(old.map(({ id }) => this.#records.remove(id)));
  }
}

/** A call as clients see it. */
export const toHookCall = ({ content: _, ...call }: HookCallRecord): HookCall => call;
