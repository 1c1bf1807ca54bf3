import { createHash, randomBytes } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { describe, expect, test } from 'vitest';
import type { SyncRecord } from '#shared/sync/record.ts';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { createClock, KEY, createVersion, createVersions } from '../journal/fixture.ts';
import { RecordSeal } from './record-seal.ts';
import { awaitAgreement, startMachine, createSettings } from './tests/test-machine.ts';
import { hasNats, createNatsServer } from './tests/nats-server.ts';

const STREAM = `PERCH_${new RecordSeal(KEY).vault}`;

if (!hasNats) test.skip('vault.cluster: nats-server is not installed here', () => {});
describe.runIf(hasNats)('a vault of two machines on a real NATS server', () => {
  verifies(
    'vault.cluster/converges',
    'writes, changes and deletions on one machine reach the other, and a third one that joins later',
    async () => {
      await using nats = await createNatsServer();
      await using a = await startMachine(createSettings(nats.url));
      await using b = await startMachine(createSettings(nats.url));
      await a.journal.push(createVersions(250, 'a'), 'a');
      await b.journal.push(createVersions(250, 'b'), 'b');
      await awaitAgreement([a, b], 500);
      await b.journal.push([createVersion('a0', 5000, 'b')], 'b');
      await b.journal.push([{ ...createVersion('a1', 5001, 'b'), payload: null, deleted: true }], 'b');
      await waitFor(async () => (await a.contents()).some(({ key, deleted }) => key === 'a1' && deleted));
      const records = await awaitAgreement([a, b], 500);
      expect(records.find(({ key }) => key === 'a0')?.payload).toContain('"b"');
      await using c = await startMachine(createSettings(nats.url));
      expect(await awaitAgreement([a, b, c], 500)).toHaveLength(500);
      const operator = await nats.operator();
      const { state } = await (await jetstreamManager(operator)).streams.info(STREAM);
      expect(state.messages).toBe(500);
      await operator.close();
    },
  );

  verifies(
    'vault.cluster/converges',
    'where two write the same records at the same moment, the stream has the later versions',
    async () => {
      await using nats = await createNatsServer();
      await using a = await startMachine(createSettings(nats.url));
      await using b = await startMachine(createSettings(nats.url));
      for (const machine of [a, b]) await waitFor(() => machine.journal.cluster.state === 'shared');
      const keys = (round: number): string[] => Array.from({ length: 40 }, (_, index) => `${round}-${index}`);
      const later = new Set<string>();
      for (let round = 0; round < 10; round++) {
        const winner = round % 2 ? 'a' : 'b';
        const of = (origin: string): SyncRecord[] => keys(round).map((key) => createVersion(key, origin === winner ? 2000 : 1000, origin));
        for (const { key, clock } of of(winner)) later.add(`${key} ${clock}`);
        await Promise.all([a.journal.push(of('a'), 'a'), b.journal.push(of('b'), 'b')]);
      }
      // A new machine gets everything from the stream.
      await using c = await startMachine(createSettings(nats.url));
      const records = await awaitAgreement([a, b, c], 400);
      expect(new Set(records.map(({ key, clock }) => `${key} ${clock}`))).toEqual(later);
    },
  );

  verifies('vault.cluster/converges', 'partitioned: the later version wins on both, and the other is kept on both, once', async () => {
    await using nats = await createNatsServer();
    await using a = await startMachine(createSettings(nats.url));
    await using b = await startMachine(createSettings(nats.url));
    const session = (wall: number, origin: string, base: string | null) => createVersion('s', wall, origin, { store: 'sessions', base });
    await a.journal.push([session(1000, 'a', null)], 'a');
    await awaitAgreement([a, b], 1);
    await nats.stop();
    // Two steps on a: the intermediate one never reaches the stream.
    await a.journal.push([session(2000, 'a', createClock(1000))], 'a');
    await a.journal.push([session(3000, 'a2', createClock(2000))], 'a2');
    await nats.start();
    const records = await awaitAgreement([a, b], 1);
    expect(records[0]?.clock).toBe(createClock(3000, 'a2'));
    await nats.stop();
    await a.journal.push([session(4000, 'a2', createClock(3000, 'a2'))], 'a2');
    await b.journal.push([session(5000, 'b', createClock(3000, 'a2'))], 'b');
    await nats.start();
    const two = await awaitAgreement([a, b], 2);
    expect(two.map(({ store, clock }) => [store, clock])).toEqual([
      ['conflicts', createClock(4000, 'a2')],
      ['sessions', createClock(5000, 'b')],
    ]);
  });

  verifies(
    'vault.cluster/sealed',
    'the operator reads every message, object and key of the server, and finds nothing of it in the clear',
    async () => {
      await using nats = await createNatsServer();
      await using a = await startMachine(createSettings(nats.url));
      await using b = await startMachine(createSettings(nats.url));
      const bytes = Buffer.from('attachment-in-the-clear'.repeat(10));
      const hash = createHash('sha256').update(bytes).digest('hex');
      await a.journal.putBlob(hash, bytes);
      await a.journal.push(
        [createVersion('Name-of-Anna', 1, 'host-of-anna', { payload: '"text-in-the-clear"', blobs: [hash] })],
        'host-of-anna',
      );
      await awaitAgreement([a, b], 1);
      a.journal.tellHosts(() => ['host-of-anna']);
      await waitFor(
        async () => (await a.journal.takeLease({ name: 'lease-in-the-clear', holder: 'host-of-anna', ttlMs: 1000, present: [] })) !== null,
      );
      const operator = await nats.operator();
      const jsm = await jetstreamManager(operator);
      const stored: string[] = [];
      for (const { config, state } of await jsm.streams.list().next()) {
        stored.push(JSON.stringify(config));
        for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
          const message = await jsm.streams.getMessage(config.name, { seq });
          if (message)
            stored.push(`${message.subject}\n${Buffer.from(message.data).toString('latin1')}\n${JSON.stringify([...message.header])}`);
        }
      }
      await operator.close();
      expect(stored.length).toBeGreaterThan(7);
      const all = stored.join('\n');
      for (const secret of [
        'clear',
        'Anna',
        'anna',
        'messages',
        hash,
        hash.toUpperCase(),
        KEY,
        Buffer.from(hash, 'hex').toString('latin1'),
      ])
        expect(all.includes(secret), secret).toBe(false);
    },
  );

  verifies('vault.cluster/attachments', 'an attachment, and a record larger than a message', async () => {
    await using nats = await createNatsServer();
    await using a = await startMachine(createSettings(nats.url));
    await using b = await startMachine(createSettings(nats.url));
    const bytes = randomBytes(3_000_000);
    const hash = createHash('sha256').update(bytes).digest('hex');
    await a.journal.putBlob(hash, bytes);
    const large = createVersion('large', 1, 'a', { payload: JSON.stringify('x'.repeat(2_500_000)), blobs: [hash] });
    await a.journal.push([large], 'a');
    expect((await awaitAgreement([a, b], 1))[0]?.payload).toBe(large.payload);
    expect(Buffer.from((await b.journal.getBlob(hash)) ?? []).equals(bytes)).toBe(true);
    await b.journal.push([createVersion('large', 2, 'b')], 'b');
    await waitFor(async () => (await a.contents())[0]?.clock === createClock(2, 'b'));
  });

  verifies(
    'vault.cluster/converges',
    'a host of an older build hears that the data is of a newer one, which another machine has',
    async () => {
      await using nats = await createNatsServer();
      await using a = await startMachine(createSettings(nats.url));
      await using b = await startMachine(createSettings(nats.url));
      const old = await b.journal.open({ origin: 'b', schema: 7, position: null });
      await b.journal.push([createVersion('before', 1, 'b')], 'b');
      await awaitAgreement([a, b], 1);
      const reason = new Promise<string>((resolve) => b.journal.on('replaced', resolve));
      await a.journal.open({ origin: 'a', schema: 8, position: null });
      await a.journal.push([createVersion('newer', 2)], 'a');
      expect(await reason).toBe('Another computer has a newer version of Perch');
      await awaitAgreement([a, b], 2);
      expect(old.schema).toBe(0);
      expect((await b.journal.open({ origin: 'b', schema: 7, position: null })).schema).toBe(8);
    },
  );
});
