import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { describe, expect, test } from 'vitest';
import { getStreamNames } from '#shared/sync/nats/vault-streams.ts';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { createClock, KEY, createVersion, createVersions } from '../journal/fixture.ts';
import { RecordSeal } from './record-seal.ts';
import { SyncState } from './sync-state.ts';
import { awaitAgreement, hasRecords, startMachine, createSettings } from './tests/test-machine.ts';
import { hasNats, createNatsServer } from './tests/nats-server.ts';
import { startThreeNodes } from './tests/three-nodes.ts';

const { records: STREAM } = getStreamNames(new RecordSeal(KEY).vault);

if (!hasNats) test.skip('vault.cluster/faults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('servers that renumber messages after a failure', () => {
  verifies(
    'vault.cluster/faults',
    'skipped messages and lost acknowledged messages are found after a reconnect',
    async () => {
      await using nats = await startThreeNodes();
      await using one = await startMachine(createSettings(nats.urls));
      await using two = await startMachine(createSettings(nats.urls));
      for (const each of [one, two]) await hasRecords(each, 'shared');
      await one.journal.push(createVersions(5), 'a');
      await awaitAgreement([one, two], 5);

      const restart = await one.disconnect();
      const state = new SyncState(join(one.dir, 'sync-state.sqlite'));
      const before = [...state.listKnown()].map(({ name }) => [name, state.getKnown(name)] as const);
      await two.journal.push([createVersion('a0', 2000, 'b'), createVersion('a1', 2000, 'b')], 'b');
      const jsm = await jetstreamManager(await nats.nodes[0].operator());
      let last = 0;
      await waitFor(async () => (last = (await jsm.streams.info(STREAM)).state.last_seq) >= 7, 'what the other one wrote');
      // Simulates that both were skipped: one subject is known with an older number, the other with the stream's current number.
      for (const [at, [name, known]] of before.entries())
        if (known) state.recordMarks([[name, { ...known, seq: at % 2 ? last : known.seq }]]);
      state.recordMarks([], { read: last, doubtful: true });
      state.close();
      await restart.reconnect();
      await awaitAgreement([one, two], (records) => records.filter(({ clock }) => clock.endsWith('-b')).length === 2, 20_000);
    },
    120_000,
  );

  verifies('vault.cluster/faults', 'a version with a reused number is taken if it is newer than the known one', async () => {
    await using nats = await createNatsServer();
    await using one = await startMachine(createSettings(nats.url));
    await using two = await startMachine(createSettings(nats.url));
    for (const each of [one, two]) await hasRecords(each, 'shared');
    await one.journal.push(createVersions(2), 'a');
    await awaitAgreement([one, two], 2);
    // Simulates that it was written under another numbering, ahead of that of the server that sends.
    const state = new SyncState(join(one.dir, 'sync-state.sqlite'));
    for (const { name } of [...state.listKnown()]) {
      const known = state.getKnown(name);
      if (known) state.recordMarks([[name, { ...known, seq: known.seq + 1000 }]]);
    }
    state.close();
    await two.journal.push([createVersion('a0', 2000, 'b')], 'b');
    await awaitAgreement([one, two], (records) => records.some(({ clock }) => clock.endsWith('-b')));
    expect(one.journal.cluster.state).toBe('shared');
  });

  verifies(
    'vault.cluster/faults',
    'what was skipped while the connection stood is found when another server leads the stream',
    async () => {
      await using nats = await startThreeNodes();
      await using one = await startMachine(createSettings(nats.urls));
      await using two = await startMachine(createSettings(nats.urls));
      for (const each of [one, two]) await hasRecords(each, 'shared');
      await one.journal.push(createVersions(2), 'a');
      await awaitAgreement([one, two], 2);

      // Wait until the doubt caused by servers that have just started is resolved.
      const stateOf = (): SyncState => new SyncState(join(one.dir, 'sync-state.sqlite'));
      const isSure = (): boolean => {
        const syncState = stateOf();
        syncState.close();
        return syncState.marks.leader !== '' && !syncState.marks.doubtful;
      };
      await waitFor(isSure, 'no doubt', 60_000);
      // Simulates that a later version was read, which the servers have lost since.
      const state = stateOf();
      for (const { name } of [...state.listKnown()]) {
        const known = state.getKnown(name);
        if (known) state.recordMarks([[name, { ...known, seq: known.seq + 1000, clock: createClock(3000, 'c') }]]);
      }
      state.close();
      await two.journal.push([createVersion('a0', 2000, 'b')], 'b');
      await two.journal.push([createVersion('later', 2001, 'b')], 'b');
      const later = async (): Promise<boolean> => (await one.contents()).some(({ key }) => key === 'later');
      await waitFor(later, 'what was written after it');
      const newest = async (): Promise<string | undefined> => (await one.contents()).find(({ key }) => key === 'a0')?.clock;
      expect(await newest()).not.toMatch(/-b$/);

      expect(isSure()).toBe(true);
      const operator = await nats.nodes[0].operator();
      await operator.request(`$JS.API.STREAM.LEADER.STEPDOWN.${STREAM}`);
      await waitFor(async () => /-b$/.test((await newest()) ?? ''), 'what was skipped', 20_000);
      await operator.close();
    },
    120_000,
  );
});
