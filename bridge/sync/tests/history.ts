import fc from 'fast-check';
import { expect } from 'vitest';
import type { SyncRecord } from '#shared/sync/record.ts';
import { clockOf, version } from '../../journal/fixture.ts';
import type { Machine } from './machine.ts';

/** What is written to: a machine of this process, or one that is a process of its own. */
export interface Writer extends Pick<Machine, 'contents'> {
  journal: Pick<Machine['journal'], 'push'>;
}

export const write = fc.record({ key: fc.nat(5), kind: fc.constantFrom('write', 'delete', 'session') });
type Write = typeof write extends fc.Arbitrary<infer T> ? T : never;

/** What the writers of one vault were told is kept, to be looked for in the end. */
export class History {
  #wall = 1000;
  /** The newest version of each record that was acknowledged. */
  readonly #newest = new Map<string, string>();
  readonly #sessions = new Set<string>();
  /** What was sent, acknowledged or not: a machine that is killed meanwhile may have kept it. */
  readonly #sent = new Set<string>();

  /** Writes upon what the machine has; resolves once it is acknowledged. */
  async write(machine: Writer, origin: string, { key: number, kind }: Write): Promise<void> {
    const store = kind === 'session' ? 'sessions' : 'messages';
    const key = `${store[0]}${number}`;
    const current = (await machine.contents()).find((record) => record.store === store && record.key === key);
    const base = store === 'sessions' ? { base: current?.clock ?? null } : {};
    const gone: Partial<SyncRecord> = kind === 'delete' ? { payload: null, deleted: true } : {};
    const wall = ++this.#wall;
    const clock = clockOf(wall, origin);
    const id = `${store}/${key}`;
    this.#sent.add(`${id} ${clock}`);
    if (store === 'sessions') this.#sessions.add(clock);
    await machine.journal.push([version(key, wall, origin, { store, ...base, ...gone })], origin);
    if (clock > (this.#newest.get(id) ?? '')) this.#newest.set(id, clock);
  }

  /** Whether each record's newest version is there. */
  isIn(records: readonly SyncRecord[]): boolean {
    const found = new Map(records.map(({ store, key, clock }) => [`${store}/${key}`, clock]));
    return [...this.#newest].every(([id, clock]) => {
      const there = found.get(id) ?? '';
      return there === clock || (there > clock && this.#sent.has(`${id} ${there}`));
    });
  }

  get newest(): string {
    return [...this.#newest].map(([id, clock]) => `${id} ${clock}`).join(', ');
  }

  /** What lost is of something that was written. */
  check(records: readonly SyncRecord[]): void {
    for (const { store, clock } of records) if (store === 'conflicts') expect(this.#sessions.has(clock)).toBe(true);
  }
}
