import 'fake-indexeddb/auto';
import type { BrowserTransport } from '#shared/sync/nats/browser-transport.ts';
import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import type { TestMachine } from '../../../../bridge/sync/tests/test-machine.ts';
import { KEY } from '../../../../bridge/journal/fixture.ts';
import { waitFor } from '../../../../tests/support/test-gateway.ts';
import { systemClock } from '#shared/async/clock.ts';
import { importVaultKey } from '../../storage/secret-sealing.ts';
import { openVault, type IndexedDbVault } from '../../storage/open-vault.ts';
import type { JournalConnection } from '../../sync/journal-connection.ts';
import { Replicator } from '../../sync/replicator.ts';
import { SharingSession } from '../cluster-sharing-session.ts';
import { deriveSharingKeys } from '../web-seal.ts';

let browserCount = 0;

/** A browser's host without a bridge: a database, its vault, its replicator, and its cluster connection. */
export interface TestBrowser extends AsyncDisposable {
  /** Name of its database. */
  readonly name: string;
  readonly vault: IndexedDbVault;
  readonly replicator: Replicator;
  /** Problem of the connection to the cluster. */
  readonly problem: string | null;
  /** Number of connections opened so far. */
  readonly connectionCount: number;
  /** All its records, in the form in which they are sent. */
  contents(): Promise<SyncRecord[]>;
  /** Ends the host like a crash, and starts another one over the same data. */
  restart(): Promise<void>;
  /** Disconnects it from the cluster, until it is shared again. */
  disconnect(): Promise<void>;
  share(way?: BrowserTransport): Promise<void>;
  /** Attaches a bridge instead. */
  attach(connection: JournalConnection): void;
  /** Resolves when the stream and this host have the same records. */
  waitUntilSynced(ms?: number): Promise<void>;
}

interface TestBrowserOptions {
  vaultKey?: string;
  schema?: number;
  agreedMs?: number;
}

export async function createBrowser(
  servers: string | string[],
  { vaultKey = KEY, schema = SCHEMA_VERSION, agreedMs }: TestBrowserOptions = {},
): Promise<TestBrowser> {
  const name = `nats-browser-${++browserCount}`;
  const [keys, sealingKey] = await Promise.all([deriveSharingKeys(vaultKey), importVaultKey(vaultKey)]);
  const faults: unknown[] = [];
  const onfault = (error: unknown): void => void faults.push(error);
  let vault: IndexedDbVault;
  let replicator: Replicator;
  let sharing: SharingSession | undefined;
  let problem: string | null = null;
  let connectionCount = 0;
  const open = async (): Promise<void> => {
    vault = await openVault({ name, clock: systemClock, onclosed: () => {}, onfault });
    replicator = new Replicator({ replica: vault.sync, clock: systemClock, schema, name, onfault });
    await replicator.start();
  };
  const share = async (way: BrowserTransport = { servers: [servers].flat() }): Promise<void> => {
    await replicator.expectJournal();
    const attachedReplicator = replicator;
    sharing = new SharingSession({
      ...{ way, keys, vaultKey: sealingKey, replica: vault.sync, schema },
      onConnected(line) {
        connectionCount++;
        attachedReplicator.attach(line);
      },
      onstate: (_, reason) => (problem = reason),
      retryMs: { first: 20, most: 100 },
      lookMs: 50,
      ...(agreedMs !== undefined && { agreedMs }),
    });
  };
  const disconnect = async (): Promise<void> => {
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
    get connectionCount() {
      return connectionCount;
    },
    async contents() {
      const { sync } = vault;
      return sync.readRecords(await sync.readPendingKeys(true));
    },
    async restart() {
      const wasSharing = sharing !== undefined;
      await disconnect();
      await vault.close();
      await open();
      if (wasSharing) await share();
    },
    disconnect,
    share,
    attach: (line) => replicator.attach(line),
    waitUntilSynced: (ms) =>
      waitFor(
        () => replicator.state().state === 'synced' && replicator.state().pending === 0,
        `${name} in step (${replicator.state().state}, ${replicator.state().problem ?? problem})`,
        ms,
      ),
    async [Symbol.asyncDispose]() {
      await disconnect();
      await replicator.close();
      await vault.close();
    },
  };
}

/** Waits until all have the same records and `predicate`; returns them, each as one string. */
export async function waitUntilSame(
  all: readonly (TestBrowser | TestMachine)[],
  predicate: (records: readonly string[]) => boolean = () => true,
  ms = 12_000,
): Promise<string[]> {
  const toLines = (records: readonly SyncRecord[]): string[] =>
    records.map(({ store, key, clock, fence, deleted }) => [store, key, clock, fence ?? '', deleted ? 'gone' : ''].join(' ')).sort();
  let contents: string[][] = [];
  const isSame = async (): Promise<boolean> => {
    contents = await Promise.all(all.map(async (one) => toLines(await one.contents())));
    const [first = []] = contents;
    return predicate(first) && contents.every((lines) => lines.join('\n') === first.join('\n'));
  };
  await waitFor(isSame, 'the same everywhere', ms).catch((error: unknown) => {
    const [first = []] = contents;
    const differences = contents.map((lines) => ({
      has: lines.filter((line) => !first.includes(line)),
      lacks: first.filter((line) => !lines.includes(line)),
    }));
    const states = all.map((one) => ('replicator' in one ? [one.replicator.state(), one.problem] : one.lines));
    throw new Error(`${String(error)}: ${JSON.stringify({ apart: differences, count: first.length, states })}`);
  });
  return contents[0] ?? [];
}
