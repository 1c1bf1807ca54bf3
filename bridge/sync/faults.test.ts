import { jetstreamManager } from '@nats-io/jetstream';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { createClock, KEY, createVersion, createVersions } from '../journal/fixture.ts';
import { RecordSeal } from './record-seal.ts';
import { awaitAgreement, hasRecords, startMachine, type TestMachine, createSettings } from './tests/test-machine.ts';
import { hasNats, createNatsServer } from './tests/nats-server.ts';

const STREAM = `PERCH_${new RecordSeal(KEY).vault}`;
const readProblem = async (machine: TestMachine): Promise<string> => (await machine.journal.info()).notices.at(-1)?.message ?? '';

if (!hasNats) test.skip('vault.cluster/faults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('a failing cluster', () => {
  verifies(
    'vault.cluster/faults',
    'without a server everything is stored locally, reported and counted, and sent once one is available',
    async () => {
      await using nats = await createNatsServer();
      await nats.stop();
      await using a = await startMachine(createSettings(nats.url));
      await a.journal.push(createVersions(3), 'a');
      await hasRecords(a, 'apart');
      expect(a.journal.cluster.problem?.code).toBe('unreachable');
      expect(await readProblem(a)).toMatch(
        /^Couldn’t reach the cluster .*3 changes are not synced with other computers yet\. Everything is saved on this/,
      );
      expect(await a.journal.takeLease({ name: 'run', holder: 'a', ttlMs: 1000, present: [] })).toBeNull();
      await a.restart();
      await nats.start();
      await using b = await startMachine(createSettings(nats.url));
      await awaitAgreement([a, b], 3);
      await hasRecords(a, 'shared');
      expect(await readProblem(a)).toBe('');
      await nats.stop();
      await hasRecords(a, 'apart');
      await Promise.all([a.journal.push(createVersions(2, 'x'), 'a'), b.journal.push(createVersions(2, 'y'), 'b')]);
      await b.restart();
      await nats.start();
      await awaitAgreement([a, b], 7);
      // Both resumed without starting over.
      for (const { lines } of [a, b]) expect(lines.filter((line) => line.includes('Reading and sending'))).toEqual([]);
    },
  );

  verifies('vault.cluster/faults', 'wrong credentials are named as such, right ones get in, and a secret may be a reference', async () => {
    const config = 'authorization { users = [{ user: perch, password: right }] }';
    await using nats = await createNatsServer({ config, operator: { user: 'perch', pass: 'right' } });
    await using wrong = await startMachine(createSettings(nats.url, { user: 'perch', password: 'wrong' }));
    await using none = await startMachine(createSettings(nats.url));
    await using right = await startMachine(createSettings(nats.url, { user: 'perch', password: '${SECRET}' }), {
      resolve: async (text) => (text === '${SECRET}' ? 'right' : text),
    });
    await wrong.journal.push(createVersions(1), 'a');
    for (const machine of [wrong, none]) {
      await hasRecords(machine, 'apart');
      expect(machine.journal.cluster.problem?.code).toBe('refused');
      expect(machine.lines).toEqual(['refused: The cluster denied access to this bridge: its credentials are wrong or expired']);
    }
    await hasRecords(right, 'shared');
    expect(await wrong.contents()).toHaveLength(1);
    expect(await right.contents()).toHaveLength(0);
  });

  verifies('vault.cluster/faults', 'rights that do not suffice, and a server without JetStream', async () => {
    const config = 'authorization { users = [{ user: perch, password: right, permissions: { publish: ["_INBOX.>"] } }] }';
    await using nats = await createNatsServer({ config });
    await using a = await startMachine(createSettings(nats.url, { user: 'perch', password: 'right' }));
    await waitFor(() => a.journal.cluster.problem?.code === 'refused', 'rights that do not suffice');
    await using plain = await createNatsServer({ jetstream: false });
    await using b = await startMachine(createSettings(plain.url));
    await waitFor(() => b.journal.cluster.problem?.code === 'unfit', 'a server without JetStream');
  });

  verifies('vault.cluster/faults', 'a stream that was deleted, or emptied, is filled again from the machines', async () => {
    await using nats = await createNatsServer();
    await using a = await startMachine(createSettings(nats.url));
    await using b = await startMachine(createSettings(nats.url));
    await Promise.all([a.journal.push(createVersions(20, 'a'), 'a'), b.journal.push(createVersions(20, 'b'), 'b')]);
    await awaitAgreement([a, b], 40);
    // Records that came from b are sent by a too.
    await b[Symbol.asyncDispose]();
    const operator = await nats.operator();
    const { streams } = await jetstreamManager(operator);
    const count = (): Promise<number> =>
      streams.info(STREAM).then(
        ({ state }) => state.messages,
        () => 0,
      );
    await streams.delete(STREAM);
    await waitFor(async () => (await count()) === 40, 'the stream that was deleted, filled');
    expect(a.lines.some((line) => line.includes('Reading and sending everything again'))).toBe(true);
    await hasRecords(a, 'shared');
    await streams.purge(STREAM);
    await waitFor(async () => (await count()) === 40, 'the stream that was emptied, filled');
    await using c = await startMachine(createSettings(nats.url));
    await awaitAgreement([a, c], 40);
    await operator.close();
  });

  verifies('vault.cluster/sealed', 'a foreign value in place of a record is skipped, reported and overwritten', async () => {
    await using nats = await createNatsServer();
    await using a = await startMachine(createSettings(nats.url));
    await a.journal.push([createVersion('x', 1), createVersion('y', 2)], 'a');
    await using b = await startMachine(createSettings(nats.url));
    await awaitAgreement([a, b], 2);
    const operator = await nats.operator();
    const { streams } = await jetstreamManager(operator);
    const [first, second] = [await streams.getMessage(STREAM, { seq: 1 }), await streams.getMessage(STREAM, { seq: 2 })];
    if (!first || !second) throw new Error('there are two messages');
    // Replaces one record's message with the other's.
    operator.publish(first.subject, second.data);
    operator.publish(second.subject, 'nonsense');
    await operator.flush();
    await waitFor(async () => (await a.journal.info()).notices.some(({ message }) => message.includes('was not encrypted by this vault')));
    await waitFor(async () => {
      const { state } = await streams.info(STREAM);
      const stored = await streams.getMessage(STREAM, { last_by_subj: first.subject });
      return state.messages === 2 && stored !== null && Buffer.compare(stored.data, second.data) !== 0;
    });
    await operator.close();
    await using c = await startMachine(createSettings(nats.url));
    expect((await awaitAgreement([a, b, c], 2)).map(({ clock }) => clock)).toEqual([createClock(1), createClock(2)]);
  });

  verifies(
    'vault.cluster/sealed',
    'an older version that the operator plays back is written over, so that nobody takes it for the last',
    async () => {
      await using nats = await createNatsServer();
      await using a = await startMachine(createSettings(nats.url));
      await a.journal.push([createVersion('x', 1)], 'a');
      await hasRecords(a, 'shared');
      const operator = await nats.operator();
      const { streams } = await jetstreamManager(operator);
      const older = await streams.getMessage(STREAM, { seq: 1 });
      if (!older) throw new Error('there is a message');
      await a.journal.push([createVersion('x', 2)], 'a');
      const last = async (): Promise<number | undefined> => (await streams.getMessage(STREAM, { last_by_subj: older.subject }))?.seq;
      await waitFor(async () => (await last()) === 2);
      operator.publish(older.subject, older.data);
      await waitFor(async () => (await last()) === 4, 'the newer version, sent again');
      await operator.close();
      await using b = await startMachine(createSettings(nats.url));
      expect((await awaitAgreement([a, b], 1))[0]?.clock).toBe(createClock(2));
    },
  );
});
