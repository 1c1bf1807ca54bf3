import { jetstreamManager } from '@nats-io/jetstream';
import { describe, expect, test, vi } from 'vitest';
import { KEY as VAULT_KEY } from '../../../bridge/journal/fixture.ts';
import { RecordSeal } from '../../../bridge/sync/record-seal.ts';
import { machine, settings } from '../../../bridge/sync/tests/machine.ts';
import { hasNats, natsServer } from '../../../bridge/sync/tests/nats-server.ts';
import { objectsOf } from '../../../bridge/sync/tests/objects.ts';
import { natsOperator } from '../../../bridge/sync/tests/operator.ts';
import { tcpProxy } from '../../../bridge/sync/tests/tcp-proxy.ts';
import { verifies } from '../../../tests/requirements.ts';
import { until } from '../../../tests/support/gateway.ts';
import { answer, ask, KEY, newMessage, newSession } from '../storage/fixture.ts';
import { browser, same } from './tests/browser.ts';

const SEAL = new RecordSeal(VAULT_KEY);
const STREAM = `PERCH_${SEAL.vault}`;
const SUBJECT = `perch.${SEAL.vault}.r.${SEAL.name('record', 'sessions', KEY)}`;
/**
 * Usually full within a second (in five hundred runs), once not within ten on a busy machine: as if two responses were lost, each of which
 * times out after five seconds.
 */
const LOST_MS = 25_000;
const has = (count: number) => (records: readonly string[]) => records.length === count;

if (!hasNats) test.skip('vault.cluster/browser-faults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('a browser with a failing cluster', () => {
  verifies('vault.cluster/browser-faults', 'no server: everything is kept here, and goes out when it is there', async () => {
    await using nats = await natsServer({ isStarted: false });
    await using a = await browser(nats.webUrl);
    await until(() => a.problem !== null);
    expect(a.problem).toMatch(/^Couldn’t reach the cluster/);
    await answer(a.vault, await ask(a.vault, 'm-1'));
    expect(a.replicator.state()).toMatchObject({ state: 'away' });
    expect(a.replicator.state().pending).toBeGreaterThan(0);
    await nats.start();
    await using b = await browser(nats.webUrl);
    await a.settled();
    expect(a.problem).toBeNull();
    await same([a, b], (records) => records.length > 0);
  });

  verifies(
    'vault.cluster/browser-faults',
    'an attachment whose connection ends on its way is missing for now, and comes over the next',
    async () => {
      await using nats = await natsServer();
      await using way = await tcpProxy(Number(new URL(nats.webUrl).port));
      await using a = await browser(nats.webUrl);
      await using b = await browser(`ws://127.0.0.1:${way.port}`);
      await a.settled();
      const image = { type: 'image' as const, mimeType: 'image/png', data: Buffer.alloc(2_000_000, 'attached ').toString('base64') };
      await a.vault.sessions.add(newSession(), [newMessage('m-1', null, { content: [image] })]);
      await same([a, b], (records) => records.some((line) => line.startsWith('messages ')));
      const dataAt = async (): Promise<string[]> => {
        const { content = [] } = (await b.vault.messages.get('m-1')) ?? {};
        return typeof content === 'string' ? [] : content.flatMap((part) => (part.type === 'text' ? [] : part.data));
      };
      way.bytesPerSecond = 100_000;
      const cut = dataAt();
      const operator = await nats.operator();
      const { streams } = await jetstreamManager(operator);
      await until(async () => (await streams.info(`OBJ_${STREAM}_blobs`)).state.consumer_count > 0, 'the attachment on its way');
      await operator.close();
      await nats.stop();
      expect(await cut).toEqual(['']);
      way.bytesPerSecond = Infinity;
      await nats.start();
      await until(async () => (await dataAt())[0] === image.data, 'the attachment');
    },
  );

  verifies(
    'vault.cluster/browser-faults',
    'a narrow connection: an attachment is sent once, however long it takes, and later messages wait',
    async () => {
      await using nats = await natsServer();
      await using way = await tcpProxy(Number(new URL(nats.webUrl).port));
      await using a = await browser(`ws://127.0.0.1:${way.port}`);
      await a.settled();
      way.bytesPerSecond = 200_000;
      const image = { type: 'image' as const, mimeType: 'image/png', data: Buffer.alloc(1_600_000, 'attached ').toString('base64') };
      await a.vault.sessions.add(newSession(), [newMessage('m-1', null, { content: [image] })]);
      await a.vault.sessions.update(KEY, { title: 'Renamed' });
      await a.settled(18_000);
      expect(await objectsOf(nats)).toEqual({ objects: 1, uploads: 1 });
      way.bytesPerSecond = Infinity;
      await using b = await browser(nats.webUrl);
      await same([a, b]);
      expect(await b.vault.sessions.get(KEY)).toMatchObject({ title: 'Renamed' });
    },
  );

  verifies(
    'vault.cluster/browser-faults',
    'a refused browser gets the reason, whatever the transport; an accepted one connects',
    async () => {
      const operator = natsOperator();
      await using nats = await natsServer({ config: operator.config });
      await using a = await browser(nats.webUrl);
      const refused = /^The cluster denied access to this browser: its credentials are wrong or expired/;
      await until(() => refused.test(a.problem ?? ''));
      await a.alone();
      await a.share({ servers: [nats.webUrl], credentials: operator.credentials({ ofAnother: true }) });
      await until(() => refused.test(a.problem ?? ''));
      await a.alone();
      await a.share({ servers: [nats.webUrl], credentials: operator.credentials() });
      await a.settled();
      for (const [config, right, wrong] of [
        ['authorization { user: perch, password: right }', { user: 'perch', password: 'right' }, { user: 'perch', password: 'wrong' }],
        ['authorization { token: right }', { token: 'right' }, { token: 'wrong' }],
      ] as const) {
        await using other = await natsServer({ config });
        await a.alone();
        await a.share({ servers: [other.webUrl], ...wrong });
        await until(() => refused.test(a.problem ?? ''));
        await a.alone();
        await a.share({ servers: [other.webUrl], ...right });
        await a.settled();
      }
    },
  );

  verifies('vault.cluster/browser-faults', 'a server without JetStream', async () => {
    await using nats = await natsServer({ jetstream: false });
    await using a = await browser(nats.webUrl);
    await until(() => a.problem === 'The server doesn’t have JetStream');
  });

  verifies(
    'vault.cluster/browser-faults',
    'a stream that accepts no more: it is reported, nothing is lost, and sending resumes once possible',
    async () => {
      await using nats = await natsServer();
      await using a = await browser(nats.webUrl);
      await a.settled();
      const operator = await nats.operator();
      const { streams } = await jetstreamManager(operator);
      await streams.update(STREAM, { max_bytes: 1 });
      await a.vault.sessions.add(newSession(), []);
      // A host that is about to start a job waits until its writes are stored.
      expect(await a.replicator.lease('cron:tick', 60_000, true)).toBeNull();
      await until(() => a.replicator.state().state === 'failing');
      expect(a.replicator.state().problem).toMatch(/^The cluster is out of storage/);
      await streams.update(STREAM, { max_bytes: -1 });
      await a.settled();
      await using b = await browser(nats.webUrl);
      await same([a, b], (records) => records.length > 0);
      await operator.close();
    },
  );

  verifies(
    'vault.cluster/browser-faults',
    'a stream that was deleted, or emptied, is filled again',
    async () => {
      await using nats = await natsServer();
      await using a = await browser(nats.webUrl);
      await answer(a.vault, await ask(a.vault, 'm-1'));
      await a.settled();
      const operator = await nats.operator();
      const { streams } = await jetstreamManager(operator);
      const count = async (): Promise<number> => (await streams.info(STREAM).catch(() => null))?.state.messages ?? 0;
      await until(async () => (await count()) === 5);
      await streams.delete(STREAM);
      await until(async () => (await count()) === 5, 'the stream that was deleted, filled', LOST_MS);
      await a.settled();
      await streams.purge(STREAM);
      await until(async () => (await count()) === 5, 'the stream that was emptied, filled', LOST_MS);
      await a.alone();
      await streams.purge(STREAM);
      await a.share();
      await until(async () => (await count()) === 5, 'the stream that was emptied behind its back, filled', LOST_MS);
      await using b = await browser(nats.webUrl);
      await same([a, b], has(5));
      await operator.close();
    },
    100_000,
  );

  verifies('vault.cluster/browser-faults', 'what an operator puts in the place of a record is left out, and written over', async () => {
    await using nats = await natsServer();
    await using a = await browser(nats.webUrl);
    await a.vault.sessions.add(newSession(), []);
    await a.settled();
    const operator = await nats.operator();
    const { streams } = await jetstreamManager(operator);
    const kept = await streams.getMessage(STREAM, { last_by_subj: SUBJECT });
    for (const isThere of [true, false]) {
      if (!isThere) await a.alone();
      operator.publish(SUBJECT, 'nonsense');
      await operator.flush();
      if (!isThere) await a.share();
      await until(async () => {
        const now = await streams.getMessage(STREAM, { last_by_subj: SUBJECT });
        return now !== null && now.seq > (kept?.seq ?? 0) && SEAL.open(now.data, SUBJECT.split('.').at(-1) ?? '') !== undefined;
      }, 'the record, sent again');
      await a.settled();
    }
    // A subject without a known record stays unchanged, and blocks nothing.
    operator.publish(`perch.${SEAL.vault}.r.nonsense`, 'nonsense');
    await operator.flush();
    await a.vault.sessions.update(KEY, { title: 'behind it' });
    await using b = await browser(nats.webUrl);
    await same([a, b], has(2));
    await a.settled();
    expect((await b.vault.sessions.get(KEY))?.title).toBe('behind it');
    await operator.close();
  });

  verifies('vault.cluster/browser-faults', 'an older version that an operator plays back is written over', async () => {
    await using nats = await natsServer();
    await using a = await browser(nats.webUrl);
    await a.vault.sessions.add(newSession(), []);
    await a.settled();
    const operator = await nats.operator();
    const { streams } = await jetstreamManager(operator);
    const held = async () => streams.getMessage(STREAM, { last_by_subj: SUBJECT });
    const older = await held();
    if (!older) throw new Error('there is a message');
    await a.vault.sessions.update(KEY, { title: 'newer' });
    await until(async () => ((await held())?.seq ?? 0) > older.seq);
    for (const isThere of [true, false]) {
      if (!isThere) await a.alone();
      operator.publish(SUBJECT, older.data);
      await operator.flush();
      const replayed = (await held())?.seq ?? 0;
      if (!isThere) await a.share();
      await until(async () => ((await held())?.seq ?? 0) > replayed, 'the newer version, sent again');
    }
    await using b = await browser(nats.webUrl);
    await same([a, b], has(2));
    expect((await b.vault.sessions.get(KEY))?.title).toBe('newer');
    await operator.close();
  });

  verifies('vault.cluster/browser-sealed', 'whoever listens on the wire and at the server finds nothing of it', async () => {
    await using nats = await natsServer();
    const wire: string[] = [];
    const send = vi.spyOn(WebSocket.prototype, 'send').mockImplementation(function (this: WebSocket, data) {
      const bytes = data instanceof Uint8Array ? data : new Uint8Array(0);
      wire.push(Buffer.from(bytes).toString('latin1'));
      return original.call(this, data);
    });
    const operator = await nats.operator();
    const seen = operator.subscribe('>', { callback: (_, message) => void wire.push(Buffer.from(message.data).toString('latin1')) });
    {
      await using a = await browser(nats.webUrl);
      await a.settled();
      const data = Buffer.alloc(300_000, 'in the clear ').toString('base64');
      const image = { type: 'image' as const, mimeType: 'image/png', data };
      const question = { id: 'm-anna', role: 'user' as const, content: [image], timestamp: 1, sessionKey: KEY, parentId: null, depth: 0 };
      await a.vault.sessions.add(newSession(KEY, { title: 'About Anna' }), [question]);
      await a.vault.memories.add({ id: 'anna', category: 'fact', text: `clear ${'x'.repeat(1_200_000)}`, createdAt: 1 });
      await a.vault.secrets.set('anna’s key', 'sk-secret');
      await a.replicator.lease('cron:anna', 60_000);
      await a.settled();
      const [hash = ''] = (await a.contents()).flatMap(({ blobs }) => blobs ?? []);
      await using b = await machine(settings(nats.url));
      await same([a, b]);
      const all = wire.join('\n');
      expect(all.length).toBeGreaterThan(1_500_000);
      for (const secret of [
        ...['clear', 'Anna', 'anna', 'sessions', 'memories', 'cron:', 'sk-secret', hash, VAULT_KEY, a.vault.origin],
        Buffer.from(hash, 'hex').toString('latin1'),
        Buffer.from(VAULT_KEY, 'base64url').toString('latin1'),
      ])
        expect(all.includes(secret), secret).toBe(false);
    }
    seen.unsubscribe();
    send.mockRestore();
    await operator.close();
  });

  verifies(
    'vault.cluster/browser-leases',
    'requested by all at once, one gets it; a host that leaves loses it, under a higher fence',
    async () => {
      await using nats = await natsServer();
      await using a = await browser(nats.webUrl);
      await using c = await machine(settings(nats.url));
      await a.settled();
      await until(() => c.journal.cluster.state === 'shared');
      const ofBridge = (name: string): Promise<number | null> =>
        c.journal.takeLease({ name, holder: 'host', ttlMs: 60_000, present: ['host'] });
      for (let round = 0; round < 10; round++) {
        const name = `cron:${round}`;
        const fences = await Promise.all([a.replicator.lease(name, 60_000), ofBridge(name)]);
        expect(fences.filter((fence) => fence !== null)).toEqual([1]);
      }
      {
        await using b = await browser(nats.webUrl);
        await b.settled();
        expect(await b.replicator.lease('run:1', 1)).toBe(1);
        expect(await b.replicator.lease('run:1', 1)).toBe(1);
        expect(await a.replicator.lease('run:1', 1)).toBeNull();
        await ask(b.vault, 'm-1');
        await same([a, b], (records) => records.length > 0);
        // The run belongs to a host that is still attached.
        expect(await a.replicator.claim('run-m-1', b.vault.origin)).toBeNull();
      }
      let fence: number | null = null;
      await until(async () => (fence = await a.replicator.claim('run-m-1', 'gone')) !== null, 'a run of one who has gone', 40_000);
      expect(fence).toBe(2);
      await until(async () => (fence = await a.replicator.lease('run:1', 60_000)) !== null, 'the lease of one who has gone', 40_000);
      expect(fence).toBe(2);
      await a.replicator.release('run:1', 2);
      expect(await ofBridge('run:1')).toBe(3);
      await nats.stop();
      await until(() => a.replicator.state().state === 'away');
      expect(await a.replicator.lease('run:2', 1)).toBeNull();
    },
    60_000,
  );
});

const original = WebSocket.prototype.send;
