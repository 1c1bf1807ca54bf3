import type { SequencedRecord } from '#shared/ports/journal-port.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { waitFor } from '../../../tests/support/test-gateway.ts';
import { readContents, KEY, temporaryFolder } from '../../journal/fixture.ts';
import type { Journal } from '../../journal/journal.ts';
import { openJournal } from '../../journal/open-journal.ts';
import type { NatsSettings } from '../sync-settings.ts';
import { SharedJournal, type SharedJournalOptions } from '../shared-journal.ts';

/** A machine of the vault: a folder with a shared journal. */
export interface TestMachine extends AsyncDisposable {
  journal: SharedJournal;
  lines: string[];
  dir: string;
  /** Returns all records, sorted by store and key. */
  contents(): Promise<SyncRecord[]>;
  /** Closes the shared journal and opens it again. */
  restart(): Promise<void>;
  /** Closes the shared journal until `reconnect` is called. */
  disconnect(): Promise<{ reconnect(): Promise<void> }>;
}

export const createSettings = (servers: string | string[], overrides: Partial<NatsSettings> = {}): NatsSettings => ({
  servers: [servers].flat(),
  ...overrides,
});

export async function startMachine(nats: NatsSettings, options: Partial<SharedJournalOptions> = {}): Promise<TestMachine> {
  const folder = options.dir === undefined ? temporaryFolder() : { dir: options.dir, [Symbol.dispose]() {} };
  const lines: string[] = [];
  const start = async (): Promise<SharedJournal> =>
    new SharedJournal({
      journal: await openJournal({ dir: folder.dir, vaultKey: options.vaultKey ?? KEY }),
      dir: folder.dir,
      vaultKey: KEY,
      nats,
      log: (line) => lines.push(line),
      retryMs: { first: 20, max: 100 },
      checkMs: 50,
      ...options,
    });
  const machine: TestMachine = {
    journal: await start(),
    lines,
    dir: folder.dir,
    contents: async () => readContents(await pullAll(machine.journal)),
    async disconnect() {
      await machine.journal.close();
      return { reconnect: async () => void (machine.journal = await start()) };
    },
    async restart() {
      await (await machine.disconnect()).reconnect();
    },
    async [Symbol.asyncDispose]() {
      await machine.journal.close();
      folder[Symbol.dispose]();
    },
  };
  return machine;
}

export const hasRecords = (machine: TestMachine, state: TestMachine['journal']['cluster']['state']): Promise<void> =>
  waitFor(() => machine.journal.cluster.state === state, `a machine that is ${state}`, 20_000);

/** Waits until all machines have the same records and these are as expected, by number or by `holds`, and returns them. */
export async function awaitAgreement(
  machines: readonly Pick<TestMachine, 'contents' | 'lines'>[],
  holds: number | ((records: SyncRecord[]) => boolean),
  ms?: number,
): Promise<SyncRecord[]> {
  const strip = (records: readonly SyncRecord[]): string => JSON.stringify(records.map(({ base: _, ...record }) => record));
  let all: SyncRecord[][] = [];
  const isSame = async (): Promise<boolean> => {
    all = await Promise.all(machines.map((machine) => machine.contents()));
    const [first = []] = all;
    const isRight = typeof holds === 'number' ? first.length === holds : holds(first);
    return isRight && all.every((records) => strip(records) === strip(first));
  };
  await waitFor(isSame, 'the same on all machines', ms).catch((error: unknown) => {
    const clocks = (records: readonly SyncRecord[] = []): string[] => records.map(({ store, key, clock }) => `${store}/${key} ${clock}`);
    throw new Error(`${String(error)}: ${JSON.stringify(machines.map(({ lines }, at) => [clocks(all[at]).slice(0, 30), lines]))}`);
  });
  return all[0] ?? [];
}

async function pullAll(journal: Journal): Promise<SequencedRecord[]> {
  const all: SequencedRecord[] = [];
  for (let after = 0; ;) {
    const { records, next, head } = await journal.pull(after, 1000);
    all.push(...records);
    if (next >= head) return all;
    after = next;
  }
}
