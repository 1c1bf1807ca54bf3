import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { KEY, createVersion } from '../journal/fixture.ts';
import { OBJECT_AGES } from './clean-cluster.ts';
import { RecordSeal } from './record-seal.ts';
import { awaitAgreement, hasRecords, startMachine, createSettings } from './tests/test-machine.ts';
import { hasNats, createNatsServer } from './tests/nats-server.ts';
import { BUCKET, countObjects } from './tests/count-objects.ts';

const now = { ...OBJECT_AGES, trust: 0, renew: 0, keep: 0, every: 50 };
const file = (text: string): { bytes: Buffer; hash: string } => {
  const bytes = Buffer.from(text.repeat(1000));
  return { bytes, hash: createHash('sha256').update(bytes).digest('hex') };
};

if (!hasNats) test.skip('vault.cluster/clean: nats-server is not installed here', () => {});
describe.runIf(hasNats)('unreferenced objects', () => {
  verifies('vault.cluster/clean', 'are taken out, others not; a machine that was away and still refers to one brings it back', async () => {
    await using nats = await createNatsServer();
    const [retained, dropped] = [file('kept'), file('dropped')];
    await using b = await startMachine(createSettings(nats.url));
    {
      await using a = await startMachine(createSettings(nats.url), { ages: { ...OBJECT_AGES, trust: 0 } });
      for (const { hash, bytes } of [retained, dropped]) await a.journal.putBlob(hash, bytes);
      await a.journal.push(
        [createVersion('x', 1, 'a', { blobs: [retained.hash] }), createVersion('y', 2, 'a', { blobs: [dropped.hash] })],
        'a',
      );
      await awaitAgreement([a, b], 2);
      expect(await countObjects(nats)).toEqual({ objects: 2, uploads: 2 });
      await nats.stop();
      await hasRecords(a, 'apart');
      // A record that the offline machine writes refers to the object.
      await a.journal.push([createVersion('y', 4, 'a', { blobs: [dropped.hash] })], 'a');
      const home = await a.disconnect();
      await nats.start();
      await b.journal.push([createVersion('y', 3, 'b', { payload: null, deleted: true })], 'b');
      {
        // Stopped before the other one returns: with no time to keep an object, it could remove one before its record arrives.
        await using cleaner = await startMachine(createSettings(nats.url), { ages: now });
        await waitFor(async () => (await countObjects(nats)).objects === 1, 'the object that nothing refers to, taken out');
        await awaitAgreement([b, cleaner], 2);
        await waitFor(() => cleaner.lines.includes('Removed one unused object from the cluster'));
      }
      await home.reconnect();
      await awaitAgreement([a, b], 2);
    }
    await using later = await startMachine(createSettings(nats.url));
    await awaitAgreement([b, later], 2);
    for (const { hash, bytes } of [retained, dropped])
      expect(Buffer.from((await later.journal.getBlob(hash)) ?? []).equals(bytes)).toBe(true);
  });

  verifies('vault.cluster/clean', 'deletes nothing that is recent, or that an unreadable record may refer to', async () => {
    await using nats = await createNatsServer();
    await using a = await startMachine(createSettings(nats.url));
    await hasRecords(a, 'shared');
    const { hash, bytes } = file('x');
    await a.journal.putBlob(hash, bytes);
    await a.journal.push([createVersion('x', 1, 'a', { blobs: [hash] })], 'a');
    await waitFor(async () => (await countObjects(nats)).objects === 1);
    await a.journal.push([createVersion('x', 2)], 'a');
    await hasRecords(a, 'shared');
    // Replaces the vault's key with another vault's: nothing in the cluster can be read.
    const operator = await nats.operator();
    operator.publish(`perch.${new RecordSeal(KEY).vault}.r.nonsense`, 'nonsense');
    await operator.flush();
    await operator.close();
    await using b = await startMachine(createSettings(nats.url), { ages: now });
    await hasRecords(b, 'shared');
    await b.restart();
    await hasRecords(b, 'shared');
    expect(b.lines.filter((line) => line.includes('unused object'))).toEqual([]);
    expect(await countObjects(nats)).toEqual({ objects: 1, uploads: 1 });
  });

  verifies('vault.cluster/clean', 'chunks of an abandoned upload are deleted once it is no longer active', async () => {
    await using nats = await createNatsServer();
    await using a = await startMachine(createSettings(nats.url), { ages: { ...OBJECT_AGES, every: 50 } });
    await hasRecords(a, 'shared');
    const { hash, bytes } = file('whole');
    await a.journal.putBlob(hash, bytes);
    // Two records sent at the same time refer to the object.
    await a.journal.push([createVersion('x', 1, 'a', { blobs: [hash] }), createVersion('y', 2, 'a', { blobs: [hash] })], 'a');
    await waitFor(async () => (await countObjects(nats)).objects === 1);
    const operator = await nats.operator();
    await operator.request(`$O.${BUCKET}.C.broken`, 'a piece');
    await operator.close();
    expect(await countObjects(nats)).toEqual({ objects: 1, uploads: 2 });
    await using cleaner = await startMachine(createSettings(nats.url), { ages: { ...OBJECT_AGES, every: 50, unfinished: 0 } });
    await waitFor(async () => (await countObjects(nats)).uploads === 1);
    await awaitAgreement([a, cleaner], 2);
    expect(Buffer.from((await cleaner.journal.getBlob(hash)) ?? []).equals(bytes)).toBe(true);
  });
});
