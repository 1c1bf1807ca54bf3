import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { KEY, temporaryFolder, versions } from '../journal/fixture.ts';
import { openJournal } from '../journal/open.ts';
import { OBJECT_AGES } from './clean.ts';
import { openCluster } from './connection.ts';
import { Exchange } from './exchange.ts';
import { RecordSeal } from './record-seal.ts';
import { SyncState } from './state.ts';
import { agreed, is, machine, settings } from './tests/machine.ts';
import { hasNats, natsServer } from './tests/nats-server.ts';

if (!hasNats) test.skip('vault.cluster/faults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('a stream that has more, of which nothing comes', () => {
  verifies(
    'vault.cluster/faults',
    'is found out after a while, unless something is read meanwhile or nothing is there any more',
    async () => {
      await using nats = await natsServer();
      await using other = await machine(settings(nats.url));
      await other.journal.push(versions(3), 'a');
      await is(other, 'shared');
      await agreed([other], 3);
      using folder = temporaryFolder();
      const seal = new RecordSeal(KEY);
      const journal = await openJournal({ dir: folder.dir, vaultKey: KEY });
      const state = new SyncState(join(folder.dir, 'sync-state.sqlite'));
      const cluster = await openCluster(settings(nats.url), seal, async (text) => text);
      const { signal } = new AbortController();
      const nothing = { schema: () => 1, onschema: async () => {}, onforeign: () => {}, onresend: () => {} };
      const exchange = new Exchange({ journal, cluster, seal, state, ages: OBJECT_AGES, signal, ...nothing });
      const clock = vi.spyOn(performance, 'now');
      const seconds = (at: number): void => void clock.mockReturnValue(at * 1000);
      try {
        const last = 3;
        seconds(0);
        await exchange.checkFlow(last);
        seconds(14);
        await exchange.checkFlow(last);
        state.note([], { read: 1 });
        seconds(16);
        await exchange.checkFlow(last);
        seconds(30);
        await exchange.checkFlow(last);
        seconds(32);
        await expect(exchange.checkFlow(last)).rejects.toMatchObject({
          code: 'unreachable',
          message: expect.stringContaining('does not send it'),
        });
        // What the operator took out never comes.
        await cluster.jsm.streams.purge(cluster.stream);
        await exchange.checkFlow(last);
        state.note([], { read: last });
        await exchange.checkFlow(last);
      } finally {
        clock.mockRestore();
        await cluster.nc.close();
        state.close();
        await journal.close();
      }
    },
  );
});
