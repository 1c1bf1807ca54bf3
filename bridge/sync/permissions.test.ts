import { createHash, randomBytes } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { describe, expect, test } from 'vitest';
import { getInboxPrefix, getStreamNames } from '#shared/sync/nats/vault-streams.ts';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { KEY, createVersion, createVersions } from '../journal/fixture.ts';
import { acceptBridges, dialBridge } from '../cluster/dial-bridge.ts';
import type { NatsLink } from '../cluster/nats-link.ts';
import { OBJECT_AGES } from './clean-cluster.ts';
import { createNatsConfiguration, computePermissions } from './permissions.ts';
import { RecordSeal } from './record-seal.ts';
import type { NatsSettings } from './sync-settings.ts';
import { canSubscribe, attempt, listStreamRequests, listCaptureAttempts } from './tests/attacks.ts';
import { awaitAgreement, hasRecords, startMachine, createSettings } from './tests/test-machine.ts';
import { hasNats, createNatsServer, type TestNats } from './tests/nats-server.ts';

const OTHER_KEY = randomBytes(32).toString('base64url');
const [VAULT, OTHER] = [new RecordSeal(KEY).vault, new RecordSeal(OTHER_KEY).vault];
const STREAMS = getStreamNames(VAULT);
const PASSWORD = 'p1';
const LARGE = JSON.stringify('x'.repeat(4_000_000));

/** Configuration that the command prints for a vault, with the password filled in. */
const printConfiguration = (vault: string, ownAccount: boolean): string =>
  createNatsConfiguration({ vault, user: `u_${vault}`, ownAccount, forCluster: false, storage: '1GB' }).replace(/\$PERCH_\w+/, PASSWORD);
const as = (vault: string): Partial<NatsSettings> => ({ user: `u_${vault}`, password: PASSWORD });
const asOperator = { user: 'operator', pass: PASSWORD };
/** A user who may do everything in the account. */
const owner = (user: string): string => `{ user: ${user}, password: ${PASSWORD} }`;

/** Both vaults' users in one account. */
const sharedAccount = (): Promise<TestNats> =>
  createNatsServer({
    config: `accounts { VAULTS { jetstream: enabled, users: [ ${owner('operator')}\n${printConfiguration(VAULT, false)}\n${printConfiguration(OTHER, false)} ] } }`,
    operator: asOperator,
  });
/** An account for each vault, and in the other vault's account a user who may do everything there. */
const separateAccounts = (): Promise<TestNats> =>
  createNatsServer({
    config: `accounts { ${printConfiguration(VAULT, true)}\n${printConfiguration(OTHER, true).replace('users: [', `users: [ ${owner('everything')}`)} }`,
    operator: { user: `u_${VAULT}`, pass: PASSWORD, inboxPrefix: getInboxPrefix(VAULT) },
  });

const dial = (nats: TestNats, user: string, vault: string): Promise<NatsConnection> =>
  nats.operator({ user, pass: PASSWORD, inboxPrefix: getInboxPrefix(vault), reconnect: false });

/** Prepares the vault like `perch sync prepare`. */
async function prepare(nats: TestNats, vaultKey: string): Promise<void> {
  await using one = await startMachine(createSettings(nats.url, { user: 'operator', password: PASSWORD }), { vaultKey });
  await hasRecords(one, 'shared');
}

/** Does everything that a bridge does in the cluster. */
async function useEverything(nats: TestNats): Promise<void> {
  const ages = { ...OBJECT_AGES, trust: 0, renew: 0, keep: 0, every: 50 };
  const nats1 = createSettings(nats.url, as(VAULT));
  await using a = await startMachine(nats1, { ages });
  const bytes = Buffer.alloc(300_000, 'y');
  const hash = createHash('sha256').update(bytes).digest('hex');
  await a.journal.putBlob(hash, bytes);
  const withBlob = createVersion('y', 2, 'a', { blobs: [hash] });
  await a.journal.push([...createVersions(20), createVersion('large', 1, 'a', { payload: LARGE }), withBlob], 'a');
  {
    await using b = await startMachine(nats1);
    await awaitAgreement([a, b], 22, 40_000);
    expect(Buffer.from((await b.journal.getBlob(hash)) ?? []).equals(bytes)).toBe(true);
    await b.journal.push([createVersion('y', 3, 'b'), createVersion('a0', 4000, 'b')], 'b');
    await awaitAgreement([a, b], 22, 40_000);
    const lease = { name: 'run:1', ttlMs: 1000, present: ['a', 'b'] };
    expect(await a.journal.takeLease({ ...lease, holder: 'a' })).toBe(1);
    expect(await b.journal.takeLease({ ...lease, holder: 'b' })).toBeNull();
    await a.journal.releaseLease('run:1', 'a', 1);
    expect(await b.journal.takeLease({ ...lease, holder: 'b' })).toBe(2);
    await waitFor(() => a.lines.some((line) => line.includes('from the cluster')), 'an attachment that nothing refers to, taken out');
    for (const { lines } of [a, b]) expect(lines.filter((line) => /^\w+: /.test(line))).toEqual([]);
  }
}

if (!hasNats) test.skip('vault.cluster/permissions: nats-server is not installed here', () => {});
describe.runIf(hasNats)('permissions of a vault’s user', () => {
  verifies(
    'vault.cluster/permissions',
    'all of sharing works with the printed permissions, in a dedicated and in a shared account',
    async () => {
      await using own = await separateAccounts();
      await useEverything(own);
      await using one = await sharedAccount();
      await using early = await startMachine(createSettings(one.url, as(VAULT)));
      await hasRecords(early, 'apart');
      // Only an operator may create streams there.
      expect(early.journal.cluster.problem).toMatchObject({ code: 'refused', message: expect.stringContaining('STREAM.CREATE') });
      await early[Symbol.asyncDispose]();
      await prepare(one, KEY);
      await useEverything(one);
    },
    120_000,
  );

  verifies('vault.cluster/permissions', 'bridges reach each other directly where that is printed too, and not otherwise', async () => {
    for (const forCluster of [true, false]) {
      const account = createNatsConfiguration({ vault: VAULT, user: 'u', ownAccount: true, forCluster, storage: '1GB' });
      await using nats = await createNatsServer({ config: `accounts { ${account.replace(/\$PERCH_\w+/, PASSWORD)} }` });
      const [clientA, clientB] = [await dial(nats, 'u', VAULT), await dial(nats, 'u', VAULT)];
      const seal = new RecordSeal(KEY);
      const linked = Promise.withResolvers<NatsLink>();
      acceptBridges({ nc: clientB, seal, vaultKey: KEY }, 'there', linked.resolve);
      await clientB.flush();
      const dialled = dialBridge({ nc: clientA, seal, vaultKey: KEY }, 'there');
      if (forCluster) {
        const links = [await dialled, await linked.promise];
        for (const link of links) link.close();
      } else await expect(dialled).rejects.toThrow(/permissions? violation/i);
      await Promise.all([clientA.close(), clientB.close()]);
    }
  });

  verifies('vault.cluster/permissions', 'none of it is about another vault, or lets a stream be changed or deleted', () => {
    const { publish, subscribe } = computePermissions({ vault: VAULT, ownAccount: true, forCluster: false });
    for (const subject of [...publish, ...subscribe]) expect(subject === '$JS.API.INFO' || subject.includes(VAULT), subject).toBe(true);
    const all = [...publish, ...computePermissions({ vault: VAULT, ownAccount: true, forCluster: true }).publish];
    expect(all.filter((subject) => /\.(UPDATE|DELETE\.(?!.*\*$)|SNAPSHOT|RESTORE|LIST|NAMES)\b/.test(subject))).toEqual([]);
    expect(computePermissions({ vault: VAULT, ownAccount: false, forCluster: true })).toMatchObject({
      publish: expect.arrayContaining([`perch.${VAULT}.>`]),
      subscribe: [`_INBOX_${VAULT}.>`, `perch.${VAULT}.>`],
    });
  });

  verifies(
    'vault.cluster/permissions',
    'in a shared account the user of another vault cannot query, read or receive anything of it',
    async () => {
      await using nats = await sharedAccount();
      for (const key of [KEY, OTHER_KEY]) await prepare(nats, key);
      await using a = await startMachine(createSettings(nats.url, as(VAULT)));
      await a.journal.push([...createVersions(5), createVersion('large', 1, 'a', { payload: LARGE })], 'a');
      await hasRecords(a, 'shared');
      const operator = await nats.operator();
      const manager = await jetstreamManager(operator);
      const before = await readStreamState(operator);
      const attacker = await dial(nats, `u_${OTHER}`, OTHER);
      const received: string[] = [];
      for (const subject of listAttackSubjects(VAULT))
        expect([subject, await canSubscribe(attacker, subject, (at) => received.push(at))]).toEqual([subject, false]);
      const { attacks, own } = await listAttacks(operator);
      for (const attack of attacks)
        expect([attack.subject, (await attempt(attacker, attack)).outcome]).toEqual([attack.subject, 'refused']);
      // Permitted requests about the attacker's own streams reveal nothing of the others.
      for (const attack of own) {
        const { outcome, answer } = await attempt(attacker, attack);
        expect([attack.subject, outcome]).toEqual([attack.subject, 'declined']);
        expect(answer).not.toContain('"data"');
      }
      for (const subject of [`perch.${VAULT}.r.x`, `$KV.${STREAMS.here.slice(3)}.x`, `$O.PERCH_${VAULT}_blobs.C.x`, '$SYS.REQ.SERVER.PING'])
        expect([subject, (await attempt(attacker, { subject })).outcome]).toEqual([subject, 'refused']);
      await a.journal.push([createVersion('a0', 5000, 'a')], 'a');
      await waitFor(
        async () => (await manager.streams.info(STREAMS.records)).state.last_seq > before.last,
        'a record that is sent meanwhile',
      );
      expect(received).toEqual([]);
      expect(await readStreamState(operator)).toEqual({ ...before, last: before.last + 1 });
      // The same attacks succeed for a user who may do everything, so they are valid.
      await a[Symbol.asyncDispose]();
      expect(await canSubscribe(operator, '>', (at) => received.push(at))).toBe(true);
      for (const attack of attacks) expect([attack.subject, (await attempt(operator, attack)).outcome]).not.toContain('refused');
      expect(received.length).toBeGreaterThan(attacks.length);
      await expect(readStreamState(operator)).rejects.toThrow('stream not found');
      await Promise.all([operator.close(), attacker.close()]);
    },
    60_000,
  );

  verifies(
    'vault.cluster/permissions',
    'with an account each, whoever may do everything in the other one sees and changes nothing here',
    async () => {
      await using nats = await separateAccounts();
      await using a = await startMachine(createSettings(nats.url, as(VAULT)));
      await a.journal.push(createVersions(5), 'a');
      await hasRecords(a, 'shared');
      const own = await nats.operator();
      const before = await readStreamState(own);
      const attacker = await dial(nats, 'everything', OTHER);
      const received: string[] = [];
      expect(await canSubscribe(attacker, '>', (at) => received.push(at))).toBe(true);
      const { attacks } = await listAttacks(own);
      for (const attack of attacks) {
        const { outcome, answer } = await attempt(attacker, attack);
        // The attacker may create its own streams, including such ones; they stay empty.
        const isOwn = /STREAM\.(CREATE|RESTORE|LIST|NAMES)\b/.test(attack.subject);
        if (!isOwn) expect([attack.subject, outcome]).toEqual([attack.subject, 'declined']);
        expect(answer).not.toContain('"data"');
      }
      const { records } = STREAMS;
      const subject = (await (await jetstreamManager(own)).streams.getMessage(records, { seq: 1 }))?.subject ?? '';
      const { streams } = await jetstreamManager(attacker);
      const copies = [
        { subjects: [`perch.${VAULT}.>`] },
        { mirror: { name: records } },
        { subjects: ['t.>'], sources: [{ name: records }] },
      ];
      for (const [at, body] of copies.entries()) {
        await streams.delete('thief').catch(() => {});
        await attempt(attacker, { subject: '$JS.API.STREAM.CREATE.thief', body: { name: 'thief', ...body } });
        // The server sends its answer to that subject, in the same account.
        attacker.publish('$JS.API.INFO', '', { reply: subject });
        await a.journal.push([createVersion('a0', 5000 + at, 'a')], 'a');
        await waitFor(async () => (await readStreamState(own)).last === before.last + at + 1, 'a record that is sent meanwhile');
        const { state } = await streams.info('thief');
        // A stream on the vault's subjects gets the answer that it requested, and nothing else.
        expect(state.messages).toBe(at === 0 ? 1 : 0);
      }
      expect(received.filter((at) => at.startsWith(`_INBOX_${VAULT}`))).toEqual([]);
      expect(await readStreamState(own)).toEqual({ ...before, last: before.last + copies.length });
      await Promise.all([own.close(), attacker.close()]);
    },
    60_000,
  );

  verifies(
    'vault.cluster/permissions',
    'in a shared account another’s user can have the server’s answers put in a record’s place: it is noticed, and written over',
    async () => {
      await using nats = await sharedAccount();
      for (const key of [KEY, OTHER_KEY]) await prepare(nats, key);
      await using a = await startMachine(createSettings(nats.url, as(VAULT)));
      await a.journal.push([createVersion('x', 1)], 'a');
      await hasRecords(a, 'shared');
      const operator = await nats.operator();
      const { streams } = await jetstreamManager(operator);
      await waitFor(async () => (await streams.info(STREAMS.records)).state.messages === 1);
      const written = await streams.getMessage(STREAMS.records, { seq: 1 });
      const attacker = await dial(nats, `u_${OTHER}`, OTHER);
      attacker.publish('$JS.API.INFO', '', { reply: written?.subject ?? '' });
      await waitFor(async () =>
        (await a.journal.info()).notices.some(({ message }) => message.includes('was not encrypted by this vault')),
      );
      await using b = await startMachine(createSettings(nats.url, as(VAULT)));
      await awaitAgreement([a, b], 1);
      await Promise.all([operator.close(), attacker.close()]);
    },
  );
});

/** Subjects on which an attacker would listen to a vault. */
const listAttackSubjects = (vault: string): string[] => [
  ...['>', '*.>', 'perch.>', `perch.${vault}.>`, `*.${vault}.r.*`, '_INBOX.>', `_INBOX_${vault}.>`],
  ...['$KV.>', `$KV.PERCH_${vault}_here.>`, '$O.>', `$O.PERCH_${vault}_blobs.>`],
  ...['$JS.>', '$JS.EVENT.>', '$JS.API.>', '$JS.ACK.>', '$JS.FC.>', '$SYS.>'],
];

/** Configuration and contents of a vault's streams. */
async function readStreamState(nc: NatsConnection): Promise<{ last: number; rest: unknown }> {
  const { streams } = await jetstreamManager(nc);
  const { state, config } = await streams.info(STREAMS.records);
  const others = await Promise.all(
    [STREAMS.objects, STREAMS.leases].map((name) => streams.info(name).then((info) => [info.config, info.state.messages])),
  );
  return { last: state.last_seq, rest: [state.messages, config, ...others] };
}

/** Attacks on the vault's streams, and those that use the attacker's own names. */
async function listAttacks(nc: NatsConnection): Promise<Record<'attacks' | 'own', ReturnType<typeof listCaptureAttempts>>> {
  const mine = getStreamNames(OTHER);
  const inbox = getInboxPrefix(OTHER);
  const message = await (await jetstreamManager(nc)).streams.getMessage(STREAMS.records, { seq: 1 });
  const { subject = '' } = message ?? {};
  const [{ name: consumer } = { name: 'none' }] = await listConsumers(nc);
  const subjects = {
    records: subject,
    objects: `$O.PERCH_${VAULT}_blobs.>`,
    leases: `$KV.PERCH_${VAULT}_leases.>`,
    here: `$KV.PERCH_${VAULT}_here.>`,
  };
  const attacks = [
    ...['STREAM.LIST', 'STREAM.NAMES', 'STREAM.LEADER.STEPDOWN.x'].map((words) => ({ subject: `$JS.API.${words}` })),
    ...listCaptureAttempts('thief', VAULT),
    ...(['here', 'leases', 'objects', 'records'] as const).flatMap((part) =>
      listStreamRequests(STREAMS[part], { subject: subjects[part], consumer, inbox }),
    ),
  ];
  const config = { name: 'attack', deliver_subject: `${inbox}.heard`, ack_policy: 'none', filter_subject: subject };
  const own = [
    { subject: `$JS.API.CONSUMER.CREATE.${mine.records}.attack.${subject}`, body: { stream_name: STREAMS.records, config } },
    { subject: `$JS.API.STREAM.MSG.GET.${mine.records}`, body: { last_by_subj: subject } },
    { subject: `$JS.API.CONSUMER.MSG.NEXT.${mine.records}.${consumer}`, body: { batch: 1, no_wait: true } },
  ];
  return { attacks, own };
}

async function listConsumers(nc: NatsConnection): Promise<{ name: string }[]> {
  return (await attempt(nc, { subject: `$JS.API.CONSUMER.NAMES.${STREAMS.records}` })).outcome === 'done'
    ? (await jetstreamManager(nc)).consumers.list(STREAMS.records).next()
    : [];
}
