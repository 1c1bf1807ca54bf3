import { jetstreamManager } from '@nats-io/jetstream';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { until } from '../../tests/support/gateway.ts';
import { clockOf, KEY, version, versions } from '../journal/fixture.ts';
import { RecordSeal } from './record-seal.ts';
import { agreed, is, machine, type Machine, settings } from './tests/machine.ts';
import { hasNats, natsServer } from './tests/nats-server.ts';

const STREAM = `PERCH_${new RecordSeal(KEY).vault}`;
const problemOf = async (one: Machine): Promise<string> => (await one.journal.info()).notices.at(-1)?.message ?? '';

if (!hasNats) test.skip('vault.cluster/faults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('a failing cluster', () => {
  verifies(
    'vault.cluster/faults',
    'without a server everything is stored locally, reported and counted, and sent once one is available',
    async () => {
      await using nats = await natsServer();
      await nats.stop();
      await using a = await machine(settings(nats.url));
      await a.journal.push(versions(3), 'a');
      await is(a, 'apart');
      expect(a.journal.cluster.problem?.code).toBe('unreachable');
      expect(await problemOf(a)).toMatch(
        /^Couldn’t reach the cluster .*3 changes are not synced with other computers yet\. Everything is saved on this/,
      );
      expect(await a.journal.takeLease({ name: 'run', holder: 'a', ttlMs: 1000, present: [] })).toBeNull();
      await a.restart();
      await nats.start();
      await using b = await machine(settings(nats.url));
      await agreed([a, b], 3);
      await is(a, 'shared');
      expect(await problemOf(a)).toBe('');
      await nats.stop();
      await is(a, 'apart');
      await Promise.all([a.journal.push(versions(2, 'x'), 'a'), b.journal.push(versions(2, 'y'), 'b')]);
      await b.restart();
      await nats.start();
      await agreed([a, b], 7);
      // Both resumed without starting over.
      for (const { lines } of [a, b]) expect(lines.filter((line) => line.includes('Reading and sending'))).toEqual([]);
    },
  );

  verifies('vault.cluster/faults', 'wrong credentials are named as such, right ones get in, and a secret may be a reference', async () => {
    const config = 'authorization { users = [{ user: perch, password: right }] }';
    await using nats = await natsServer({ config, operator: { user: 'perch', pass: 'right' } });
    await using wrong = await machine(settings(nats.url, { user: 'perch', password: 'wrong' }));
    await using none = await machine(settings(nats.url));
    await using right = await machine(settings(nats.url, { user: 'perch', password: '${SECRET}' }), {
      resolve: async (text) => (text === '${SECRET}' ? 'right' : text),
    });
    await wrong.journal.push(versions(1), 'a');
    for (const one of [wrong, none]) {
      await is(one, 'apart');
      expect(one.journal.cluster.problem?.code).toBe('refused');
      expect(one.lines).toEqual(['refused: The cluster denied access to this bridge: its credentials are wrong or expired']);
    }
    await is(right, 'shared');
    expect(await wrong.contents()).toHaveLength(1);
    expect(await right.contents()).toHaveLength(0);
  });

  verifies('vault.cluster/faults', 'rights that do not suffice, and a server without JetStream', async () => {
    const config = 'authorization { users = [{ user: perch, password: right, permissions: { publish: ["_INBOX.>"] } }] }';
    await using nats = await natsServer({ config });
    await using a = await machine(settings(nats.url, { user: 'perch', password: 'right' }));
    await until(() => a.journal.cluster.problem?.code === 'refused', 'rights that do not suffice');
    await using plain = await natsServer({ jetstream: false });
    await using b = await machine(settings(plain.url));
    await until(() => b.journal.cluster.problem?.code === 'unfit', 'a server without JetStream');
  });

  verifies('vault.cluster/faults', 'a stream that was deleted, or emptied, is filled again from the machines', async () => {
    await using nats = await natsServer();
    await using a = await machine(settings(nats.url));
    await using b = await machine(settings(nats.url));
    await Promise.all([a.journal.push(versions(20, 'a'), 'a'), b.journal.push(versions(20, 'b'), 'b')]);
    await agreed([a, b], 40);
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
    await until(async () => (await count()) === 40, 'the stream that was deleted, filled');
    expect(a.lines.some((line) => line.includes('Reading and sending everything again'))).toBe(true);
    await is(a, 'shared');
    await streams.purge(STREAM);
    await until(async () => (await count()) === 40, 'the stream that was emptied, filled');
    await using c = await machine(settings(nats.url));
    await agreed([a, c], 40);
    await operator.close();
  });

  verifies('vault.cluster/sealed', 'a foreign value in place of a record is skipped, reported and overwritten', async () => {
    await using nats = await natsServer();
    await using a = await machine(settings(nats.url));
    await a.journal.push([version('x', 1), version('y', 2)], 'a');
    await using b = await machine(settings(nats.url));
    await agreed([a, b], 2);
    const operator = await nats.operator();
    const { streams } = await jetstreamManager(operator);
    const [first, second] = [await streams.getMessage(STREAM, { seq: 1 }), await streams.getMessage(STREAM, { seq: 2 })];
    if (!first || !second) throw new Error('there are two messages');
    // Replaces one record's message with the other's.
    operator.publish(first.subject, second.data);
    operator.publish(second.subject, 'nonsense');
    await operator.flush();
    await until(async () => (await a.journal.info()).notices.some(({ message }) => message.includes('was not encrypted by this vault')));
    await until(async () => {
      const { state } = await streams.info(STREAM);
      const kept = await streams.getMessage(STREAM, { last_by_subj: first.subject });
      return state.messages === 2 && kept !== null && Buffer.compare(kept.data, second.data) !== 0;
    });
    await operator.close();
    await using c = await machine(settings(nats.url));
    expect((await agreed([a, b, c], 2)).map(({ clock }) => clock)).toEqual([clockOf(1), clockOf(2)]);
  });

  verifies(
    'vault.cluster/sealed',
    'an older version that the operator plays back is written over, so that nobody takes it for the last',
    async () => {
      await using nats = await natsServer();
      await using a = await machine(settings(nats.url));
      await a.journal.push([version('x', 1)], 'a');
      await is(a, 'shared');
      const operator = await nats.operator();
      const { streams } = await jetstreamManager(operator);
      const older = await streams.getMessage(STREAM, { seq: 1 });
      if (!older) throw new Error('there is a message');
      await a.journal.push([version('x', 2)], 'a');
      const last = async (): Promise<number | undefined> => (await streams.getMessage(STREAM, { last_by_subj: older.subject }))?.seq;
      await until(async () => (await last()) === 2);
      operator.publish(older.subject, older.data);
      await until(async () => (await last()) === 4, 'the newer version, sent again');
      await operator.close();
      await using b = await machine(settings(nats.url));
      expect((await agreed([a, b], 1))[0]?.clock).toBe(clockOf(2));
    },
  );
});
