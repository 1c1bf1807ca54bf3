import { join } from 'node:path';
import type { SyncRecord } from '#shared/sync/record.ts';
import { Presence } from '#shared/sync/nats/presence.ts';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { KEY, temporaryFolder, createVersion, createVersions } from '../journal/fixture.ts';
import { openJournal } from '../journal/open-journal.ts';
import { ClusterSession } from './cluster-session.ts';
import { RecordSeal } from './record-seal.ts';
import { SyncState } from './sync-state.ts';
import { startForgetfulNats } from './tests/forgetful-nats.ts';
import { awaitAgreement, hasRecords, startMachine, createSettings } from './tests/test-machine.ts';
import { hasNats } from './tests/nats-server.ts';
import { startThreeNodes } from './tests/three-nodes.ts';

if (!hasNats) test.skip('vault.cluster/faults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('a connection that stays open while the servers lose the end of the stream', () => {
  verifies(
    'vault.cluster/faults',
    'ends and reports it; the next session checks again all that was skipped',
    async () => {
      await using nats = await startThreeNodes();
      await using other = await startMachine(createSettings(nats.urls));
      await other.journal.push(createVersions(3), 'a');
      await hasRecords(other, 'shared');
      using folder = temporaryFolder();
      const seal = new RecordSeal(KEY);
      const journal = await openJournal({ dir: folder.dir, vaultKey: KEY });
      const state = new SyncState(join(folder.dir, 'sync-state.sqlite'));
      let isShared = false;
      const connect = (stop: AbortSignal): Promise<void> =>
        new ClusterSession({
          ...{ options: { nats: createSettings(nats.urls), checkMs: 20 }, journal, seal, state, presence: new Presence(seal, () => []) },
          ...{ schema: () => 1, sawSchema: () => {}, onschema: async () => {}, onforeign: () => {}, onsent: () => {} },
          onconnected: () => {},
          onstate: (state) => (isShared = state === 'shared'),
        }).run(stop);
      const stop = new AbortController();
      /** Waits until the bridge has the records written now, including skipped ones. */
      const hears = async (stamp: number): Promise<void> => {
        await other.journal.push(
          [0, 1, 2].map((at) => createVersion(`a${at}`, stamp, 'b')),
          'b',
        );
        const listClocks = async (): Promise<string[]> => (await journal.pull(0, 100)).records.map(({ clock }) => clock);
        const all = [0, 1, 2].map((at) => createVersion(`a${at}`, stamp, 'b').clock).join();
        await waitFor(async () => (await listClocks()).join() === all, 'what was written since', 40_000);
      };
      /** Simulates that each record was read under a different numbering. */
      const numberHigher = (by: number): void => {
        const known = [...state.listKnown()].flatMap(({ name }) => {
          const knownVersion = state.getKnown(name);
          return knownVersion ? [[name, { ...knownVersion, seq: knownVersion.seq + by }] as const] : [];
        });
        state.recordMarks(known);
      };
      try {
        const first = connect(stop.signal);
        await waitFor(() => isShared && state.subjects === 3, 'all that the stream has', 20_000);
        const { read } = state.marks;
        // Simulates that each record was read once more, which the servers then lost: later messages get these numbers again.
        numberHigher(10);
        state.recordMarks([], { read: read + 10 });
        await expect(first).rejects.toMatchObject({ code: 'failed', message: expect.stringContaining('lost the end of the stream') });
        expect(state.marks).toMatchObject({ read, doubtful: true });

        const second = connect(stop.signal);
        await waitFor(() => !state.marks.doubtful, 'no doubt', 40_000);
        await hears(2000);

        // After records are removed, the whole stream is read again, which also finds skipped messages.
        state.recordMarks([['of-another', { seq: 1, clock: 'x', included: [], object: null }]]);
        await expect(second).rejects.toMatchObject({ code: 'failed', message: expect.stringContaining('records were removed') });
        isShared = false;
        const third = connect(stop.signal);
        await waitFor(() => isShared && state.subjects === 3, 'all that the stream has, again', 20_000);
        numberHigher(1000);
        await hears(3000);
        stop.abort();
        await third;
      } finally {
        stop.abort();
        state.close();
        await journal.close();
      }
    },
    120_000,
  );
});

describe.runIf(hasNats)('a single server whose machine loses power', () => {
  verifies(
    'vault.cluster/faults',
    'lost its last acknowledged messages while others wrote as many: they are sent again, and no message of others is skipped',
    async () => {
      await using nats = await startForgetfulNats();
      await using one = await startMachine(createSettings(nats.url));
      await using two = await startMachine(createSettings(nats.url));
      await one.journal.push(createVersions(5), 'a');
      await awaitAgreement([one, two], 5);
      const other = await two.disconnect();
      await nats.writeThrough();
      await hasRecords(one, 'shared');
      await one.journal.push([createVersion('a0', 2000, 'a')], 'a');
      await waitFor(async () => (await one.journal.examine()).unsent === 0, 'what it acknowledges');
      const own = await one.disconnect();

      await nats.loseUnsynced();
      await other.reconnect();
      await hasRecords(two, 'shared');
      await two.journal.push([createVersion('a1', 3000, 'b'), createVersion('a2', 3000, 'b')], 'b');
      await waitFor(async () => (await two.journal.examine()).unsent === 0, 'what the other one wrote');
      await own.reconnect();
      const newest = (records: readonly SyncRecord[]): string =>
        records
          .slice(0, 3)
          .map(({ clock }) => clock)
          .join();
      const expected = newest([createVersion('a0', 2000, 'a'), createVersion('a1', 3000, 'b'), createVersion('a2', 3000, 'b')]);
      await awaitAgreement([one, two], (records) => newest(records) === expected, 20_000);
    },
    120_000,
  );
});
