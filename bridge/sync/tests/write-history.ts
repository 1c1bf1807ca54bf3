import fc from 'fast-check';
import { expect } from 'vitest';
import type { SyncRecord } from '#shared/sync/record.ts';
import { createClock, createVersion } from '../../journal/fixture.ts';
import type { TestMachine } from './test-machine.ts';

/** Machine to write to, in this process or its own. */
export interface HistoryWriter extends Pick<TestMachine, 'contents'> {
  journal: Pick<TestMachine['journal'], 'push'>;
}

export const write = fc.record({ key: fc.nat(5), kind: fc.constantFrom('write', 'delete', 'session') });
type HistoryWrite = typeof write extends fc.Arbitrary<infer T> ? T : never;

/** Records what the writers of a vault were told, to be checked at the end. */
export class WriteHistory {
  #lastTime = 1000;
  /** Newest acknowledged version of each record. */
  readonly #newest = new Map<string, string>();
  readonly #sessions = new Set<string>();
  /** Versions sent, acknowledged or not: a machine killed meanwhile may have stored them. */
  readonly #sent = new Set<string>();

  /** Writes a record based on the machine's current contents. Resolves once it is acknowledged. */
  async write(machine: HistoryWriter, origin: string, { key: number, kind }: HistoryWrite): Promise<void> {
    const store = kind === 'session' ? 'sessions' : 'messages';
    const key = `${store[0]}${number}`;
    const current = (await machine.contents()).find((record) => record.store === store && record.key === key);
    const base = store === 'sessions' ? { base: current?.clock ?? null } : {};
    const missing: Partial<SyncRecord> = kind === 'delete' ? { payload: null, deleted: true } : {};
    const wall = ++this.#lastTime;
    const clock = createClock(wall, origin);
    const id = `${store}/${key}`;
    this.#sent.add(`${id} ${clock}`);
    if (store === 'sessions') this.#sessions.add(clock);
    await machine.journal.push([createVersion(key, wall, origin, { store, ...base, ...missing })], origin);
    if (clock > (this.#newest.get(id) ?? '')) this.#newest.set(id, clock);
  }

  /** Whether the newest version of each record is present. */
  isIn(records: readonly SyncRecord[]): boolean {
    const found = new Map(records.map(({ store, key, clock }) => [`${store}/${key}`, clock]));
    return [...this.#newest].every(([id, clock]) => {
      const foundClock = found.get(id) ?? '';
      return foundClock === clock || (foundClock > clock && this.#sent.has(`${id} ${foundClock}`));
    });
  }

  get newest(): string {
    return [...this.#newest].map(([id, clock]) => `${id} ${clock}`).join(', ');
  }

  /** Checks that every conflict copy holds a version that was written. */
  check(records: readonly SyncRecord[]): void {
    for (const { store, clock } of records) if (store === 'conflicts') expect(this.#sessions.has(clock)).toBe(true);
  }
}
