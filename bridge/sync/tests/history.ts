import fc from 'fast-check';
import { expect } from 'vitest';
import type { SyncRecord } from '#shared/sync/record.ts';
import { clockOf, version } from '../../journal/fixture.ts';
import type { Machine } from './machine.ts';

export const write = fc.record({ key: fc.nat(5), kind: fc.constantFrom('write', 'delete', 'session') });
type Write = typeof write extends fc.Arbitrary<infer T> ? T : never;

/** What the writers of one vault were told is kept, to be looked for in the end. */
export class History {
  #wall = 1000;
  /** The newest version of each record that was acknowledged. */
  readonly #newest = new Map<string, string>();
  readonly #sessions = new Set<string>();

  /** Writes upon what the machine has; resolves once it is acknowledged. */
  async write(machine: Machine, origin: string, { key: number, kind }: Write): Promise<void> {
    const store = kind === 'session' ? 'sessions' : 'messages';
    const key = `${store[0]}${number}`;
    const current = (await machine.contents()).find((record) => record.store === store && record.key === key);
    const base = store === 'sessions' ? { base: current?.clock ?? null } : {};
    const gone: Partial<SyncRecord> = kind === 'delete' ? { payload: null, deleted: true } : {};
    const wall = ++this.#wall;
    const clock = clockOf(wall, origin);
    await machine.journal.push([version(key, wall, origin, { store, ...base, ...gone })], origin);
    const id = `${store}/${key}`;
    if (clock > (this.#newest.get(id) ?? '')) this.#newest.set(id, clock);
    if (store === 'sessions') this.#sessions.add(clock);
  }

  /** Whether each record's newest version is there. */
  isIn(records: readonly SyncRecord[]): boolean {
    const found = new Map(records.map(({ store, key, clock }) => [`${store}/${key}`, clock]));
    return [...this.#newest].every(([id, clock]) => found.get(id) === clock);
  }

  get newest(): string {
    return [...this.#newest].map(([id, clock]) => `${id} ${clock}`).join(', ');
  }

  /** What lost is of something that was written. */
  check(records: readonly SyncRecord[]): void {
    for (const { store, clock } of records) if (store === 'conflicts') expect(this.#sessions.has(clock)).toBe(true);
  }
}
