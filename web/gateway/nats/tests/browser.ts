import 'fake-indexeddb/auto';
import type { BrowserWay } from '#shared/sync/nats/way.ts';
import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import type { Machine } from '../../../../bridge/sync/tests/machine.ts';
import { KEY } from '../../../../bridge/journal/fixture.ts';
import { until } from '../../../../tests/support/gateway.ts';
import { systemClock } from '../../core/clock.ts';
import { importVaultKey } from '../../storage/sealing.ts';
import { openVault, type StoredVault } from '../../storage/vault.ts';
import type { JournalLine } from '../../sync/journal-line.ts';
import { Replicator } from '../../sync/replicator.ts';
import { Sharing } from '../sharing.ts';
import { sharingKeys } from '../web-seal.ts';

let browsers = 0;

/** A browser's host without a bridge: a database, its vault, its replicator, and its cluster connection. */
export interface TestBrowser extends AsyncDisposable {
  /** Name of its database. */
  readonly name: string;
  readonly vault: StoredVault;
  readonly replicator: Replicator;
  /** Problem of the connection to the cluster. */
  readonly problem: string | null;
  /** Number of connections opened so far. */
  readonly lines: number;
  /** All its records, in the form in which they are sent. */
  contents(): Promise<SyncRecord[]>;
  /** Ends the host like a crash, and starts another one over the same data. */
  restart(): Promise<void>;
  /** Disconnects it from the cluster, until it is shared again. */
  alone(): Promise<void>;
  share(way?: BrowserWay): Promise<void>;
  /** Attaches a bridge instead. */
  attach(line: JournalLine): void;
  /** Resolves when the stream and this host have the same records. */
  settled(ms?: number): Promise<void>;
}

export interface BrowserOptions {
  vaultKey?: string;
  schema?: number;
  agreedMs?: number;
}

export async function browser(
  servers: string | string[],
  { vaultKey = KEY, schema = SCHEMA_VERSION, agreedMs }: BrowserOptions = {},
): Promise<TestBrowser> {
  const name = `nats-browser-${++browsers}`;
  const [keys, sealingKey] = await Promise.all([sharingKeys(vaultKey), importVaultKey(vaultKey)]);
  const faults: unknown[] = [];
  const onfault = (error: unknown): void => void faults.push(error);
  let vault: StoredVault;
  let replicator: Replicator;
  let sharing: Sharing | undefined;
  let problem: string | null = null;
  let lines = 0;
  const open = async (): Promise<void> => {
    vault = await openVault({ name, clock: systemClock, onclosed: () => {}, onfault });
    replicator = new Replicator({ replica: vault.sync, clock: systemClock, schema, name, onfault });
    await replicator.start();
  };
  const share = async (way: BrowserWay = { servers: [servers].flat() }): Promise<void> => {
    await replicator.expectJournal();
    const own = replicator;
    sharing = new Sharing({
      ...{ way, keys, vaultKey: sealingKey, copy: vault.sync, schema },
      online(line) {
        lines++;
        own.attach(line);
      },
      onstate: (_, why) => (problem = why),
      retryMs: { first: 20, most: 100 },
      lookMs: 50,
      ...(agreedMs !== undefined && { agreedMs }),
    });
  };
  const alone = async (): Promise<void> => {
    await sharing?.close();
    sharing = undefined;
  };
  await open();
  await share();
  return {
    name,
    get vault() {
      return vault;
    },
    get replicator() {
      return replicator;
    },
    get problem() {
      return problem;
    },
    get lines() {
      return lines;
    },
    async contents() {
      const { sync } = vault;
      return sync.records(await sync.pending(true));
    },
    async restart() {
      const way = sharing !== undefined;
      await alone();
      await vault.close();
      await open();
      if (way) await share();
    },
    alone,
    share,
    attach: (line) => replicator.attach(line),
    settled: (ms) =>
      until(
        () => replicator.state().state === 'synced' && replicator.state().pending === 0,
        `${name} in step (${replicator.state().state}, ${replicator.state().problem ?? problem})`,
        ms,
      ),
    async [Symbol.asyncDispose]() {
      await alone();
      await replicator.close();
      await vault.close();
    },
  };
}

/** Waits until all have the same records and `holds`; returns them, each as one string. */
export async function same(
  all: readonly (TestBrowser | Machine)[],
  holds: (records: readonly string[]) => boolean = () => true,
  ms = 12_000,
): Promise<string[]> {
  const lined = (records: readonly SyncRecord[]): string[] =>
    records.map(({ store, key, clock, fence, deleted }) => [store, key, clock, fence ?? '', deleted ? 'gone' : ''].join(' ')).sort();
  let seen: string[][] = [];
  const isSame = async (): Promise<boolean> => {
    seen = await Promise.all(all.map(async (one) => lined(await one.contents())));
    const [first = []] = seen;
    return holds(first) && seen.every((lines) => lines.join('\n') === first.join('\n'));
  };
  await until(isSame, 'the same everywhere', ms).catch((error: unknown) => {
    const [first = []] = seen;
    const apart = seen.map((lines) => ({
      has: lines.filter((line) => !first.includes(line)),
      lacks: first.filter((line) => !lines.includes(line)),
    }));
    const states = all.map((one) => ('replicator' in one ? [one.replicator.state(), one.problem] : one.lines));
    throw new Error(`${String(error)}: ${JSON.stringify({ apart, count: first.length, states })}`);
  });
  return seen[0] ?? [];
}
