import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { RESPONSES_KIND } from '#shared/http/responses-socket.ts';
import { VIA_BRIDGE_HEADER } from '#shared/link/splice.ts';
import { MIN_HEAD_HEADER, HANDOFF_STATE_HEADER } from '#shared/ports/journal-streams.ts';
import { textLink } from '#shared/link/text-link.ts';
import { CLOSE_CODES, PROTOCOL_LIMITS } from '#shared/rpc/frames.ts';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { TestSocketClient } from '../server/tests/test-client.ts';
import { hasNats, createNatsServer } from '../sync/tests/nats-server.ts';
import { createRoutedBridge } from './tests/bridges.ts';

const OWNER = 'the-owner';

if (!hasNats) test.skip('cluster.routes: nats-server is not installed here', () => {});
describe.runIf(hasNats)('clients of one bridge at the host of another', () => {
  verifies(
    'cluster.routes/anywhere',
    'WebSocket clients and requests reach it with who they are and what they may, and get its answers',
    async () => {
      await using nats = await createNatsServer();
      await using a = await createRoutedBridge(nats, 'a');
      await using b = await createRoutedBridge(nats, 'b');
      const host = await a.bridge.attach();
      a.bridge.journal.head = 42;
      await b.use('a');
      expect(await (await b.bridge.http('/health')).json()).toMatchObject({ status: 'ok', host: 'remote', hosts: 0 });
      expect((await b.bridge.http('/ready')).status).toBe(200);
      expect(await (await a.bridge.http('/health')).json()).toMatchObject({ status: 'ok', host: 'headless', hosts: 1 });

      const client = await TestSocketClient.connect(b.bridge.url, OWNER);
      const large = 'ü'.repeat(300_000);
      expect(await client.call('echo', { large })).toMatchObject({ ok: true, payload: { large } });
      const [opening] = host.openings;
      expect(opening).toMatchObject({ kind: 'rpc', principal: 'owner' });
      expect(opening?.headers[MIN_HEAD_HEADER]).toBe('42');

      const posted = await b.bridge.http('/v1/things?x=1', {
        method: 'POST',
        body: large,
        headers: { 'content-type': 'text/plain' },
        token: OWNER,
      });
      expect(posted.headers.get('x-perch-test')).toBe('echo');
      expect(await posted.json()).toMatchObject({
        body: large,
        contentType: 'text/plain',
        opening: {
          kind: 'http',
          principal: 'owner',
          headers: { ':path': '/v1/things?x=1', [VIA_BRIDGE_HEADER]: '1', [MIN_HEAD_HEADER]: '42' },
        },
      });
      expect(a.routes.counts).toEqual({ links: 1, streams: 2 });
      client.socket.close();
      await waitFor(() => a.routes.counts.streams === 1, 'the end of the client’s stream');
    },
  );

  verifies('cluster.routes/anywhere', 'a WebSocket at /v1/responses, whose messages stay whole', async () => {
    await using nats = await createNatsServer();
    await using a = await createRoutedBridge(nats, 'a');
    await using b = await createRoutedBridge(nats, 'b');
    let left = false;
    await a.bridge.attach({
      onstream(stream, { kind }) {
        if (kind !== RESPONSES_KIND) return;
        const link = textLink(stream, () => PROTOCOL_LIMITS.maxPayload);
        link.receive({ message: (text) => link.send(text), close: () => (left = true) });
      },
    });
    await b.use('a');
    const socket = new WebSocket(`${b.bridge.url.replace('http', 'ws')}/v1/responses`, { headers: { authorization: `Bearer ${OWNER}` } });
    await once(socket, 'open');
    const large = 'ü'.repeat(300_000);
    socket.send(large);
    const [echoed] = (await once(socket, 'message')) as [Buffer];
    expect(echoed.toString()).toBe(large);
    socket.close();
    await waitFor(() => left, 'the host that hears of it');
  });

  verifies('cluster.routes/streamed', 'an answer comes piece by piece, and a caller that hangs up is gone for the host too', async () => {
    await using nats = await createNatsServer();
    await using a = await createRoutedBridge(nats, 'a');
    await using b = await createRoutedBridge(nats, 'b');
    let hungUp = false;
    const pieces = new TransformStream<Uint8Array, Uint8Array>();
    const writer = pieces.writable.getWriter();
    await a.bridge.attach({
      http: async ({ signal }) => {
        signal.addEventListener('abort', () => (hungUp = true));
        return new Response(pieces.readable, { headers: { 'content-type': 'text/event-stream' } });
      },
    });
    await b.use('a');
    const leave = new AbortController();
    const answer = await b.bridge.http('/v1/stream', { token: OWNER, signal: leave.signal });
    const reader = answer.body?.getReader();
    for (const piece of ['data: 1\n\n', 'data: 2\n\n']) {
      await writer.write(new TextEncoder().encode(piece));
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe(piece);
    }
    leave.abort();
    await waitFor(() => hungUp, 'the host that hears of it');
  });

  verifies('cluster.routes/own-first', 'a peer without a listener is logged once, however often it is tried', async () => {
    await using nats = await createNatsServer();
    await using b = await createRoutedBridge(nats, 'b');
    const listErrors = (): string[] => b.bridge.lines.filter((line) => line.includes('Couldn’t reach'));
    for (let tries = 0; tries < 3; tries++) await b.use('a');
    expect(listErrors()).toEqual(['Couldn’t reach the bridge that serves the vault: not connected to the cluster']);
    await using a = await createRoutedBridge(nats, 'a');
    await a.bridge.attach();
    await b.use('a');
    await a[Symbol.asyncDispose]();
    await waitFor(async () => !(await b.routes.reaches('a')), 'the end of the way');
    await b.use('a');
    expect(listErrors()).toHaveLength(2);
  });

  verifies('cluster.routes/own-first', 'a host of its own is preferred; what comes over a link is never sent over another', async () => {
    await using nats = await createNatsServer();
    await using a = await createRoutedBridge(nats, 'a');
    await using b = await createRoutedBridge(nats, 'b');
    await b.use('a');
    await a.use('b');
    // Neither has a host and each routes to the other: clients are told to retry rather than forwarded in circles.
    const refused = await b.bridge.http('/v1/models', { token: OWNER });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    const client = await TestSocketClient.open(b.bridge.url);
    client.send(
      JSON.stringify({ type: 'req', id: '1', method: 'connect', params: { minProtocol: 3, maxProtocol: 3, auth: { token: OWNER } } }),
    );
    expect(await client.closed).toMatchObject({ code: 1012 });
    await b.bridge.attach();
    expect((await (await b.bridge.http('/health')).json()).host).toBe('headless');
    expect((await (await a.bridge.http('/health')).json()).host).toBe('remote');
    expect((await a.bridge.http('/v1/models', { token: OWNER })).status).toBe(200);
  });

  verifies(
    'cluster.routes/moves',
    'clients are handed on to the next bridge’s host without hearing of it; one whose host dies may try again',
    async () => {
      await using nats = await createNatsServer();
      await using a = await createRoutedBridge(nats, 'a');
      await using b = await createRoutedBridge(nats, 'b');
      await using c = await createRoutedBridge(nats, 'c');
      const [first, second] = [await a.bridge.attach(), await b.bridge.attach()];
      await c.use('a');
      const client = await TestSocketClient.connect(c.bridge.url, OWNER);
      const own = await TestSocketClient.connect(a.bridge.url, OWNER);
      await c.use('b');
      // Like a host that is no longer active.
      for (const { link, left } of first.clients) {
        link.leave();
        await left;
        link.move(JSON.stringify({ was: 'at a' }));
      }
      expect(await client.call('echo', { at: 'b' })).toMatchObject({ payload: { at: 'b' } });
      await waitFor(() => second.clients.length === 1, 'the client at the next host');
      expect(second.clients[0]?.opening.headers[HANDOFF_STATE_HEADER]).toBe('{"was":"at a"}');
      expect(await own.call('echo', { at: 'a' })).toMatchObject({ ok: true });
      await waitFor(() => a.routes.counts.links === 0, 'the way to a that is not needed any more');

      second.die();
      expect(await client.closed).toMatchObject({ code: 1012 });
    },
  );

  verifies('cluster.routes/yields', 'a managed Chromium that yields hands its clients on to the other bridge’s host', async () => {
    await using nats = await createNatsServer();
    await using a = await createRoutedBridge(nats, 'a');
    await using b = await createRoutedBridge(nats, 'b');
    await Promise.all([a.bridge.attach(), b.bridge.attach()]);
    const { hosts } = a.bridge.bridge;
    await a.use('b');
    expect(hosts.kind).toBe('headless');
    hosts.yields = true;
    expect([hosts.kind, hosts.own?.kind]).toEqual(['remote', 'headless']);
    hosts.yields = false;
    expect(hosts.kind).toBe('headless');
  });

  verifies('cluster.routes/admits', 'who is paired at the vault is let in by every bridge, and cut off by every bridge', async () => {
    await using nats = await createNatsServer();
    await using a = await createRoutedBridge(nats, 'a');
    await using b = await createRoutedBridge(nats, 'b');
    const host = await a.bridge.attach();
    await b.use('a');
    const tokenHash = createHash('sha256').update('of-a-device').digest('hex');
    const grant = { principal: 'device:one', tokenHash, scopes: ['read' as const] };
    await a.bridge.bridge.shared.access.mirror([grant]);
    await waitFor(() => b.bridge.bridge.shared.access.find('of-a-device') !== undefined, 'the device that b knows');
    const client = await TestSocketClient.connect(b.bridge.url, 'of-a-device');
    expect(host.openings.at(-1)).toMatchObject({ principal: 'device:one', scopes: ['read'] });
    await a.bridge.bridge.shared.access.revoke('device:one');
    expect(await client.closed).toMatchObject({ code: CLOSE_CODES.policy });
  });
});
