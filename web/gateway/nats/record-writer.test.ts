import { describe, expect, test } from 'vitest';
import { openPlaces } from '#shared/sync/nats/places.ts';
import type { Received } from '#shared/sync/nats/messages.ts';
import { KEY, version } from '../../../bridge/journal/fixture.ts';
import { hasNats, natsServer } from '../../../bridge/sync/tests/nats-server.ts';
import { verifies } from '../../../tests/requirements.ts';
import { connectTo } from './connect.ts';
import { RecordWriter } from './record-writer.ts';
import { sharingKeys, WebSeal } from './web-seal.ts';

if (!hasNats) test.skip('vault.cluster/browser-faults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('a message that is read again', () => {
  verifies(
    'vault.cluster/browser-faults',
    'confirms the value of its subject unless it was replaced meanwhile; values that the servers lost are written again',
    async () => {
      await using nats = await natsServer();
      const seal = await WebSeal.of(await sharingKeys(KEY));
      const nc = await connectTo(seal.vault, { servers: [nats.webUrl] });
      const places = await openPlaces(nc, seal);
      const writer = new RecordWriter({ places, seal, schema: 1, onschema: () => {}, onwrote: () => {} });
      const [older, newer] = [version('a', 1000, 'b'), version('a', 2000, 'b')];
      const name = await seal.name('record', older.store, older.key);
      const received = (record: typeof older, seq: number): Received => ({
        ...{ name, record, schema: 1, foreign: false },
        known: { seq, clock: record.clock, included: [], object: null },
      });
      const { seqs } = await writer.put(older);
      const again = received(older, seqs[0] ?? 0);
      expect(await writer.sawAgain(again)).toEqual({ now: again, isChanged: false });

      expect((await writer.put(newer)).seqs).toEqual([2]);
      const { now, isChanged } = await writer.sawAgain(again);
      expect([now?.known.clock, isChanged]).toEqual([newer.clock, false]);

      // The write was acknowledged as number 9, but no server has it.
      const newest = version('a', 3000, 'b');
      writer.saw(received(newest, 9));
      expect((await writer.put(newest)).seqs).toEqual([]);
      expect((await writer.sawAgain(received(newer, 2))).now?.known.clock).toBe(newer.clock);
      expect((await writer.put(newest)).seqs).toEqual([3]);

      writer.saw(received(version('a', 4000, 'b'), 9));
      await places.jsm.streams.purge(places.stream);
      expect(await writer.sawAgain(received(newest, 3))).toEqual({ now: undefined, isChanged: true });
      await nc.close();
    },
  );
});
