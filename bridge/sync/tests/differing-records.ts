import { join } from 'node:path';
import type { SyncRecord } from '#shared/sync/record.ts';
import { readCurrentMessage, getSubjectName } from '#shared/sync/nats/record-messages.ts';
import { openCluster } from '../cluster-connection.ts';
import type { RecordSeal } from '../record-seal.ts';
import { SyncState } from '../sync-state.ts';
import { type TestMachine, createSettings } from './test-machine.ts';

type RecordComparison = Pick<TestMachine, 'contents' | 'dir'>;

/**
 * Returns the records that differ between machines: each machine's version and known stream version, and the version that the stream's
 * leader reports.
 */
export async function findDifferingRecords(machines: readonly RecordComparison[], urls: string[], seal: RecordSeal): Promise<unknown[]> {
  const cluster = await openCluster(createSettings(urls), seal, async (text) => text);
  const states = machines.map(({ dir }) => new SyncState(join(dir, 'sync-state.sqlite')));
  try {
    const all = await Promise.all(machines.map((machine) => machine.contents()));
    const records = new Map(all.flat().map((record): [string, SyncRecord] => [`${record.store}/${record.key}`, record]));
    const found: unknown[] = [];
    for (const [id, record] of records) {
      const have = all.map((list) => list.find(({ store, key }) => store === record.store && key === record.key)?.clock);
      if (new Set(have).size === 1) continue;
      const name = await getSubjectName(seal, record);
      const leader = (await readCurrentMessage(cluster, seal, name))?.known;
      found.push({ id, have, known: states.map((state) => state.getKnown(name)), leader });
    }
    return [...found, { marks: states.map(({ marks }) => marks) }];
  } finally {
    for (const state of states) state.close();
    await cluster.nc.close();
  }
}
