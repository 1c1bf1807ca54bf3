import { describe, expect, test } from 'vitest';
import { openVaultStreams } from '#shared/sync/nats/vault-streams.ts';
import type { RecordMessage } from '#shared/sync/nats/record-messages.ts';
import { KEY, createVersion } from '../../../bridge/journal/fixture.ts';
import { hasNats, createNatsServer } from '../../../bridge/sync/tests/nats-server.ts';
import { verifies } from '../../../tests/requirements.ts';
import { connectToCluster } from './connect-to-cluster.ts';
import { RecordWriter } from './record-writer.ts';
import { deriveSharingKeys, WebSeal } from './web-seal.ts';

if (!hasNats) test.skip('vault.cluster/browser-faults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('a message that is read again', () => {
  verifies(
    'vault.cluster/browser-faults',
    'confirms the value of its subject unless it was replaced meanwhile; values that the servers lost are written again',
    async () => {
      await using nats = await createNatsServer();
      const seal = await WebSeal.create(await deriveSharingKeys(KEY));
      const nc = await connectToCluster(seal.vault, { servers: [nats.webUrl] });
      const places = await openVaultStreams(nc, seal);
      const writer = new RecordWriter({ places, seal, schema: 1, onschema: () => {}, onwrote: () => {} });
      const [older, newer] = [createVersion('a', 1000, 'b'), createVersion('a', 2000, 'b')];
      const name = await seal.name('record', older.store, older.key);
      const received = (record: typeof older, seq: number): RecordMessage => ({
        ...{ name, record, schema: 1, foreign: false },
        known: { seq, clock: record.clock, included: [], object: null },
      });
      const { seqs } = await writer.put(older);
      const again = received(older, seqs[0] ?? 0);
      expect(await writer.recheck(again)).toEqual({ now: again, isChanged: false });

      expect((await writer.put(newer)).seqs).toEqual([2]);
      const { now, isChanged } = await writer.recheck(again);
      expect([now?.known.clock, isChanged]).toEqual([newer.clock, false]);

      // The write was acknowledged as number 9, but no server has it.
      const newest = createVersion('a', 3000, 'b');
      writer.noteReceived(received(newest, 9));
      expect((await writer.put(newest)).seqs).toEqual([]);
      expect((await writer.recheck(received(newer, 2))).now?.known.clock).toBe(newer.clock);
      expect((await writer.put(newest)).seqs).toEqual([3]);

      writer.noteReceived(received(createVersion('a', 4000, 'b'), 9));
      await places.jsm.streams.purge(places.stream);
      expect(await writer.recheck(received(newest, 3))).toEqual({ now: undefined, isChanged: true });
      await nc.close();
    },
  );
});
