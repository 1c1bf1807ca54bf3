import { describe, expect, onTestFinished, test } from 'vitest';
import { openVaultStreams, type VaultStreams } from '#shared/sync/nats/vault-streams.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { KEY, createVersion } from '../../../bridge/journal/fixture.ts';
import { hasNats, createNatsServer } from '../../../bridge/sync/tests/nats-server.ts';
import { verifies } from '../../../tests/requirements.ts';
import { connectToCluster } from './connect-to-cluster.ts';
import { type StreamReplica, StreamRecords } from './stream-records.ts';
import { deriveSharingKeys, WebSeal } from './web-seal.ts';

/** A local copy with exactly these records. */
const createReplica = (here: readonly SyncRecord[]): StreamReplica => {
  const of = (keys: readonly [string, string][]) => keys.map(([store, key]) => here.find((one) => one.store === store && one.key === key));
  return {
    origin: 'b',
    readVersions: async (keys) => of(keys),
    readRecords: async (keys) => of(keys).filter((record) => record !== undefined),
    countPushed: async () => here.length,
    isDoubtful: async () => false,
    markDoubtful: async () => {},
    getVerifiedLeader: async () => '',
    markVerified: async () => {},
  };
};

async function openAt(webUrl: string): Promise<{ seal: WebSeal; places: VaultStreams }> {
  const seal = await WebSeal.create(await deriveSharingKeys(KEY));
  const nc = await connectToCluster(seal.vault, { servers: [webUrl] });
  onTestFinished(() => nc.close());
  return { seal, places: await openVaultStreams(nc, seal) };
}

const held = async ({ jsm, stream, prefix }: VaultStreams) => {
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
      await using nats = await createNatsServer();
      const { places: there, seal } = await openAt(nats.webUrl);
      const reasons: string[] = [];
      const deps = {
        places: there,
        seal,
        schema: 1,
        onschema: () => {},
        onDamaged: (reason: string) => reasons.push(reason),
        onwrote: () => {},
      };
      const others = new StreamRecords({ ...deps, replica: createReplica([]) });
      // One after another: records that are written together have no defined order.
      for (const key of ['same', 'older', 'newer', 'missing']) await others.write([createVersion(key, 2000, 'a')]);
      const localVersions = [createVersion('same', 2000, 'a'), createVersion('older', 1000, 'a'), createVersion('newer', 3000, 'b')];
      const records = new StreamRecords({ ...deps, replica: createReplica(localVersions) });
      const missed = await records.readAgain(await held(there));
      expect(missed.map(({ key, clock }) => [key, clock])).toEqual(
        ['older', 'missing'].map((key) => [key, createVersion(key, 2000, 'a').clock]),
      );
      expect((await records.read(await held(there))).find(({ key }) => key === 'newer')?.clock).toBe(localVersions[2]?.clock);
      expect((await held(there)).map(({ seq }) => seq)).toEqual([1, 2, 4, 5]);

      there.nc.publish(`${there.prefix}${await seal.name('record', 'sessions', 'nobody has it')}`, 'nonsense');
      await records.readAgain(await held(there));
      expect(reasons).toEqual([]);
      there.nc.publish(`${there.prefix}${await seal.name('record', localVersions[0]?.store ?? '', 'same')}`, 'nonsense');
      await records.readAgain(await held(there));
      expect(reasons).toHaveLength(1);
    },
  );
});
