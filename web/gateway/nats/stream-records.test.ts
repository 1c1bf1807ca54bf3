import { describe, expect, onTestFinished, test } from 'vitest';
import { openPlaces, type Places } from '#shared/sync/nats/places.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { KEY, version } from '../../../bridge/journal/fixture.ts';
import { hasNats, natsServer } from '../../../bridge/sync/tests/nats-server.ts';
import { verifies } from '../../../tests/requirements.ts';
import { connectTo } from './connect.ts';
import { type LocalCopy, StreamRecords } from './stream-records.ts';
import { sharingKeys, WebSeal } from './web-seal.ts';

/** A local copy with exactly these records. */
const copyOf = (here: readonly SyncRecord[]): LocalCopy => {
  const of = (keys: readonly [string, string][]) => keys.map(([store, key]) => here.find((one) => one.store === store && one.key === key));
  return {
    origin: 'b',
    versions: async (keys) => of(keys),
    records: async (keys) => of(keys).filter((record) => record !== undefined),
    countPushed: async () => here.length,
    isDoubtful: async () => false,
    markDoubtful: async () => {},
    soundUnder: async () => '',
    markSound: async () => {},
  };
};

async function openAt(webUrl: string): Promise<{ seal: WebSeal; places: Places }> {
  const seal = await WebSeal.of(await sharingKeys(KEY));
  const nc = await connectTo(seal.vault, { servers: [webUrl] });
  onTestFinished(() => nc.close());
  return { seal, places: await openPlaces(nc, seal) };
}

const held = async ({ jsm, stream, prefix }: Places) => {
  const messages = [];
  for (let seq = 1; ; seq++) {
    const next = { seq, next_by_subj: `${prefix}>` };
    const message = await jsm.streams.getMessage(stream, next);
    if (!message) return messages;
    messages.push(message);
    ({ seq } = message);
  }
};

if (!hasNats) test.skip('vault.cluster/browser-faults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('checking the stream again', () => {
  verifies(
    'vault.cluster/browser-faults',
    'missing records are taken, older ones overwritten, equal ones left alone; records damaged since are sent again',
    async () => {
      await using nats = await natsServer();
      const { places: there, seal } = await openAt(nats.webUrl);
      const reasons: string[] = [];
      const deps = { places: there, seal, schema: 1, onschema: () => {}, onspoilt: (why: string) => reasons.push(why), onwrote: () => {} };
      const others = new StreamRecords({ ...deps, copy: copyOf([]) });
      // One after another: records that are written together have no defined order.
      for (const key of ['same', 'older', 'newer', 'missing']) await others.write([version(key, 2000, 'a')]);
      const here = [version('same', 2000, 'a'), version('older', 1000, 'a'), version('newer', 3000, 'b')];
      const records = new StreamRecords({ ...deps, copy: copyOf(here) });
      const missed = await records.readAgain(await held(there));
      expect(missed.map(({ key, clock }) => [key, clock])).toEqual(['older', 'missing'].map((key) => [key, version(key, 2000, 'a').clock]));
      expect((await records.read(await held(there))).find(({ key }) => key === 'newer')?.clock).toBe(here[2]?.clock);
      expect((await held(there)).map(({ seq }) => seq)).toEqual([1, 2, 4, 5]);

      there.nc.publish(`${there.prefix}${await seal.name('record', 'sessions', 'nobody has it')}`, 'nonsense');
      await records.readAgain(await held(there));
      expect(reasons).toEqual([]);
      there.nc.publish(`${there.prefix}${await seal.name('record', here[0]?.store ?? '', 'same')}`, 'nonsense');
      await records.readAgain(await held(there));
      expect(reasons).toHaveLength(1);
    },
  );
});
