import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { until } from '../../tests/support/gateway.ts';
import { KEY, version } from '../journal/fixture.ts';
import { OBJECT_AGES } from './clean.ts';
import { RecordSeal } from './record-seal.ts';
import { agreed, is, machine, settings } from './tests/machine.ts';
import { hasNats, natsServer } from './tests/nats-server.ts';
import { BUCKET, objectsOf } from './tests/objects.ts';

const now = { ...OBJECT_AGES, trust: 0, renew: 0, keep: 0, every: 50 };
const file = (text: string): { bytes: Buffer; hash: string } => {
  const bytes = Buffer.from(text.repeat(1000));
  return { bytes, hash: createHash('sha256').update(bytes).digest('hex') };
};

if (!hasNats) test.skip('vault.cluster/clean: nats-server is not installed here', () => {});
describe.runIf(hasNats)('unreferenced objects', () => {
  verifies('vault.cluster/clean', 'are taken out, others not; a machine that was away and still refers to one brings it back', async () => {
    await using nats = await natsServer();
    const [kept, dropped] = [file('kept'), file('dropped')];
    await using b = await machine(settings(nats.url));
    {
      await using a = await machine(settings(nats.url), { ages: { ...OBJECT_AGES, trust: 0 } });
      for (const { hash, bytes } of [kept, dropped]) await a.journal.putBlob(hash, bytes);
      await a.journal.push([version('x', 1, 'a', { blobs: [kept.hash] }), version('y', 2, 'a', { blobs: [dropped.hash] })], 'a');
      await agreed([a, b], 2);
      expect(await objectsOf(nats)).toEqual({ objects: 2, uploads: 2 });
      await nats.stop();
      await is(a, 'apart');
      // A record that the offline machine writes refers to the object.
      await a.journal.push([version('y', 4, 'a', { blobs: [dropped.hash] })], 'a');
      const home = await a.away();
      await nats.start();
      await b.journal.push([version('y', 3, 'b', { payload: null, deleted: true })], 'b');
      await using cleaner = await machine(settings(nats.url), { ages: now });
      await until(async () => (await objectsOf(nats)).objects === 1, 'the object that nothing refers to, taken out');
      await agreed([b, cleaner], 2);
      await until(() => cleaner.lines.includes('Removed one unused object from the cluster'));
      await home.back();
      await agreed([a, b, cleaner], 2);
    }
    await using later = await machine(settings(nats.url));
    await agreed([b, later], 2);
    for (const { hash, bytes } of [kept, dropped]) expect(Buffer.from((await later.journal.getBlob(hash)) ?? []).equals(bytes)).toBe(true);
  });

  verifies('vault.cluster/clean', 'deletes nothing that is recent, or that an unreadable record may refer to', async () => {
    await using nats = await natsServer();
    await using a = await machine(settings(nats.url));
    await is(a, 'shared');
    const { hash, bytes } = file('x');
    await a.journal.putBlob(hash, bytes);
    await a.journal.push([version('x', 1, 'a', { blobs: [hash] })], 'a');
    await until(async () => (await objectsOf(nats)).objects === 1);
    await a.journal.push([version('x', 2)], 'a');
    await is(a, 'shared');
    // Replaces the vault's key with another vault's: nothing in the cluster can be read.
    const operator = await nats.operator();
    operator.publish(`perch.${new RecordSeal(KEY).vault}.r.nonsense`, 'nonsense');
    await operator.flush();
    await operator.close();
    await using b = await machine(settings(nats.url), { ages: now });
    await is(b, 'shared');
    await b.restart();
    await is(b, 'shared');
    expect(b.lines.filter((line) => line.includes('unused object'))).toEqual([]);
    expect(await objectsOf(nats)).toEqual({ objects: 1, uploads: 1 });
  });

  verifies('vault.cluster/clean', 'chunks of an abandoned upload are deleted once it is no longer active', async () => {
    await using nats = await natsServer();
    await using a = await machine(settings(nats.url), { ages: { ...OBJECT_AGES, every: 50 } });
    await is(a, 'shared');
    const { hash, bytes } = file('whole');
    await a.journal.putBlob(hash, bytes);
    // Two records sent at the same time refer to the object.
    await a.journal.push([version('x', 1, 'a', { blobs: [hash] }), version('y', 2, 'a', { blobs: [hash] })], 'a');
    await until(async () => (await objectsOf(nats)).objects === 1);
    const operator = await nats.operator();
    await operator.request(`$O.${BUCKET}.C.broken`, 'a piece');
    await operator.close();
    expect(await objectsOf(nats)).toEqual({ objects: 1, uploads: 2 });
    await using cleaner = await machine(settings(nats.url), { ages: { ...OBJECT_AGES, every: 50, unfinished: 0 } });
    await until(async () => (await objectsOf(nats)).uploads === 1);
    await agreed([a, cleaner], 2);
    expect(Buffer.from((await cleaner.journal.getBlob(hash)) ?? []).equals(bytes)).toBe(true);
  });
});
