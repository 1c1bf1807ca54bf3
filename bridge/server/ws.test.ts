import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { verifies } from '../../tests/requirements.ts';
import { importSecret, linkResult, createProof, verifyProof } from '#shared/link/link-credentials.ts';
import { PROTOCOL_LIMITS } from '#shared/rpc/frames.ts';
import { startTestBridge } from './tests/test-bridge.ts';
import { TestSocketClient } from './tests/test-client.ts';
import { awaitClose, connectFrame, createRawFrame, createRawSocket } from './tests/raw-socket.ts';
import { TIMING } from './timing.ts';

describe('the first frame', () => {
  for (const [name, text, code, message] of [
    [
      'another method',
      JSON.stringify({ type: 'req', id: 'x', method: 'health', params: {} }),
      'AUTH_REQUIRED',
      'The first request must be connect',
    ],
    ['a wrong token', connectFrame({ auth: { token: 'wrong' } }, 'x'), 'AUTH_REQUIRED', 'Incorrect token'],
    ['a token that is no text', connectFrame({ auth: { token: 5 } }, 'x'), 'AUTH_REQUIRED', 'A token is required'],
    ['no token', connectFrame({}, 'x'), 'AUTH_REQUIRED', 'A token is required'],
    [
      'a password where none is set',
      connectFrame({ auth: { password: 'p' } }, 'x'),
      'AUTH_REQUIRED',
      'Incorrect password, or no password is set',
    ],
    ['a password that is no text', connectFrame({ auth: { password: 5 } }, 'x'), 'AUTH_REQUIRED', 'A token is required'],
    [
      'a wrong proof',
      connectFrame({ auth: { credentialId: 'a', nonce: 'n'.repeat(20), proof: 'x' } }, 'x'),
      'AUTH_REQUIRED',
      'Invalid proof',
    ],
  ] as const) {
    verifies(['connect/bad-token', 'connect/first-frame'], `${name}: AUTH_REQUIRED, then 1008, and the host hears nothing`, async () => {
      await using gateway = await startTestBridge();
      const host = await gateway.attach();
      const client = await TestSocketClient.open(gateway.url);
      client.send(text);
      expect(await client.next()).toEqual({ type: 'res', id: 'x', ok: false, error: { code, message } });
      expect(await client.closed).toMatchObject({ code: 1008, reason: message });
      expect(host.openings).toEqual([]);
    });
  }

  it.each([
    ['malformed JSON', '{"type":"req",', 1008, 'malformed JSON'],
    ['no object', '[1,2]', 1008, 'not a request frame'],
    ['null', 'null', 1008, 'not a request frame'],
    ['no id', '{"type":"req","method":"connect"}', 1008, 'not a request frame'],
    ['26 MiB', 'x'.repeat(26 * 1024 * 1024), 1009, ''],
  ])('with %s: closed with a reason', async (_name, text, code, reason) => {
    await using gateway = await startTestBridge();
    const client = await TestSocketClient.open(gateway.url);
    client.send(text);
    expect(await client.closed).toMatchObject({ code, reason });
  });

  verifies('frames/binary', 'JSON in binary frames is read, before and after connect', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach();
    const client = await TestSocketClient.open(gateway.url);
    client.send(Buffer.from(connectFrame({ auth: { token: gateway.token } })));
    expect(await client.next()).toMatchObject({ ok: true });
    client.send(Buffer.from('{"type":"req","id":"x","method":"echo","params":{"a":"ü"}}'));
    expect(await client.next()).toMatchObject({ id: 'x', payload: { a: 'ü' } });
  });

  verifies('frames/binary', 'what looks like a host’s hand-over is a client’s text', async () => {
    await using gateway = await startTestBridge();
    const received: [string, boolean][] = [];
    await gateway.attach({
      onstream: (stream) =>
        stream.receive({
          data(chunk, _fin, text) {
            received.push([Buffer.from(chunk).toString(), text]);
            stream.release(chunk.byteLength);
          },
          end: () => {},
          reset: () => {},
          drain: () => {},
        }),
    });
    const client = await TestSocketClient.open(gateway.url);
    client.send(connectFrame({ auth: { token: gateway.token } }));
    // An empty binary message, then a state: a host's way to hand a client over.
    const forged = ['', '{"principal":"owner"}', '{"type":"req","id":"x","method":"echo"}'];
    for (const message of forged) client.send(Buffer.from(message));
    await expect
      .poll(() =>
        received
          .map(([message]) => message)
          .slice(1)
          .filter(Boolean),
      )
      .toEqual(forged.filter(Boolean));
    expect(received.every(([, text]) => text)).toBe(true);
    expect(client.socket.readyState).toBe(client.socket.OPEN);
  });

  it('is taken at / as well as at /ws', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach();
    const client = new TestSocketClient(new WebSocket(`${gateway.url.replace('http', 'ws')}/`));
    expect(await client.next()).toMatchObject({ event: 'connect.challenge' });
    client.send(connectFrame({ auth: { token: gateway.token } }));
    expect(await client.next()).toMatchObject({ ok: true });
    client.socket.terminate();
  });

  verifies('frames/binary', 'bytes that are no UTF-8 close with a reason', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach();
    const client = await TestSocketClient.connect(gateway.url, gateway.token);
    client.send(Buffer.from([0xff, 0xfe]));
    expect(await client.closed).toMatchObject({ code: 1007, reason: 'binary frames must be JSON in UTF-8' });
  });

  verifies('limits/frame-before-connect', '64 KiB are taken, a byte more closes with 1009 and a reason', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach();
    const auth = { token: gateway.token };
    const pad = 'x'.repeat(64 * 1024 - connectFrame({ auth, pad: '' }).length);
    const client = await TestSocketClient.open(gateway.url);
    client.send(connectFrame({ auth, pad }));
    expect(await client.next()).toMatchObject({ ok: true });
    const other = await TestSocketClient.open(gateway.url);
    other.send(connectFrame({ auth, pad: `${pad}x` }));
    expect(await other.closed).toMatchObject({ code: 1009, reason: 'frames before connect are limited to 65536 bytes' });
  });

  it('of the wrong form but with an id is answered INVALID_PARAMS, and connect may still follow', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach();
    const client = await TestSocketClient.open(gateway.url);
    client.send('{"type":"req","id":"x","method":5}');
    expect(await client.next()).toMatchObject({
      id: 'x',
      ok: false,
      error: { code: 'INVALID_PARAMS', message: expect.stringContaining('method') },
    });
    expect(await client.call('connect', { minProtocol: 3, maxProtocol: 3, auth: { token: gateway.token } })).toMatchObject({ ok: true });
  });

  it('is not waited for beyond the limit', async () => {
    await using gateway = await startTestBridge({ timing: { connectMs: 50 } });
    const client = await TestSocketClient.open(gateway.url);
    expect(await client.closed).toMatchObject({ code: 1008, reason: 'no connect within 15 s' });
  });

  verifies('limits/frame-before-connect', 'nothing beyond 64 KiB is collected, whatever length is claimed', async () => {
    await using gateway = await startTestBridge();
    const socket = await createRawSocket(gateway.url);
    let taken = 0;
    const closed = awaitClose(socket);
    socket.resume();
    // The frame claims 20 MiB; the bridge must close the connection long before they are sent.
    socket.write(createRawFrame(1, Buffer.alloc(1024, 0x61), 20 * 1024 * 1024));
    const chunk = Buffer.alloc(64 * 1024, 0x61);
    while (!socket.destroyed && taken < 20 * 1024 * 1024) {
      taken += chunk.byteLength;
      if (!socket.write(chunk)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
    }
    await closed;
    // Anything beyond the limit is in the kernel's buffers, not in the bridge.
    expect(taken).toBeLessThan(16 * 1024 * 1024);
  });

  verifies('frames/binary', 'invalid UTF-8, before and after connect, ends that client alone', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach();
    const other = await TestSocketClient.connect(gateway.url, gateway.token);
    const before = await createRawSocket(gateway.url);
    before.write(createRawFrame(1, Buffer.from([0xc3, 0x28])));
    const [closing] = (await once(before, 'data')) as [Buffer];
    expect(closing.readUInt16BE(2)).toBe(1007);
    const after = await createRawSocket(gateway.url);
    after.write(createRawFrame(1, Buffer.from(connectFrame({ auth: { token: gateway.token } }))));
    await once(after, 'data');
    after.write(createRawFrame(1, Buffer.from([0xff, 0xfe])));
    const [answer] = (await once(after, 'data')) as [Buffer];
    expect(answer.readUInt16BE(2)).toBe(1007);
    expect(await other.call('echo', { still: 'here' })).toMatchObject({ payload: { still: 'here' } });
    before.destroy();
    after.destroy();
  });
});

describe('an admitted client', () => {
  it('is the owner by its token, which the host never sees', async () => {
    await using gateway = await startTestBridge();
    const host = await gateway.attach();
    const client = await TestSocketClient.open(gateway.url, { headers: { 'user-agent': 'test/1' } });
    const answer = await client.call('connect', { minProtocol: 3, maxProtocol: 3, clientName: 'me', auth: { token: gateway.token } });
    expect(answer.payload).toEqual({
      opening: {
        kind: 'rpc',
        principal: 'owner',
        scopes: ['read', 'write', 'admin'],
        origin: null,
        headers: { 'user-agent': 'test/1', 'x-perch-head': '0', 'x-perch-moves': '1' },
      },
      params: { minProtocol: 3, maxProtocol: 3, clientName: 'me' },
    });
    expect(JSON.stringify(host.openings)).not.toContain(gateway.token);
  });

  it('may bring the token in a header instead', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach();
    const client = await TestSocketClient.open(gateway.url, { headers: { authorization: `Bearer ${gateway.token}` } });
    expect(await client.call('connect', { minProtocol: 3, maxProtocol: 3 })).toMatchObject({ ok: true });
    const wrong = await TestSocketClient.open(gateway.url, { headers: { authorization: 'Bearer wrong' } });
    expect(await wrong.call('connect', { minProtocol: 3, maxProtocol: 3 })).toMatchObject({ error: { code: 'AUTH_REQUIRED' } });
  });

  verifies(
    'uplink/mutual-proof',
    'a linked browser gets the bridge to prove itself; a proof heard elsewhere is worth nothing',
    async () => {
      await using gateway = await startTestBridge();
      await gateway.attach();
      const linkResponse = await gateway.http('/link', {
        method: 'POST',
        token: null,
        headers: { origin: gateway.url, 'content-type': 'application/json' },
        body: JSON.stringify({ code: gateway.bridge.issueCode(1000) }),
      });
      const { app } = linkResult.parse(await linkResponse.json());
      const key = await importSecret(app.secret);
      const client = await TestSocketClient.open(gateway.url, { origin: gateway.url });
      const nonce = randomBytes(16).toString('base64url');
      const auth = { credentialId: app.id, nonce, proof: await createProof(key, 'client', 'app', client.nonce, nonce) };
      const { payload } = await client.call('connect', { minProtocol: 3, maxProtocol: 3, auth });
      const { opening } = payload as { opening: { principal: string; origin: string; headers: Record<string, string> } };
      expect([opening.principal, opening.origin]).toEqual([`app:${app.id}`, gateway.url]);
      expect(await verifyProof(key, opening.headers['x-perch-proof'] ?? '', 'server', 'app', client.nonce, nonce)).toBe(true);
      const replay = await TestSocketClient.open(gateway.url, { origin: gateway.url });
      expect(await replay.call('connect', { minProtocol: 3, maxProtocol: 3, auth })).toMatchObject({
        ok: false,
        error: { code: 'AUTH_REQUIRED' },
      });
    },
  );

  verifies('admission/guessing', 'told after ten wrong tokens, on every surface, while the owner still gets in', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach();
    const tryOnce = async () =>
      (await (await TestSocketClient.open(gateway.url)).call('connect', { minProtocol: 3, maxProtocol: 3, auth: { token: 'x' } })).error
        ?.code;
    for (let i = 0; i < 10; i++) expect(await tryOnce()).toBe('AUTH_REQUIRED');
    expect(await tryOnce()).toBe('RATE_LIMITED');
    await TestSocketClient.connect(gateway.url, gateway.token);
    expect((await gateway.http('/v1/models', { token: 'x' })).status).toBe(429);
    expect((await gateway.http('/v1/models')).status).toBe(200);
    expect(gateway.lines.filter((line) => line.includes('Locked out'))).toHaveLength(1);
  });

  it('exchanges large messages whole, both ways, with small ones in order behind them', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach();
    const client = await TestSocketClient.connect(gateway.url, gateway.token);
    const big = randomBytes(9 * 1024 * 1024).toString('base64');
    client.send(JSON.stringify({ type: 'req', id: 'big', method: 'echo', params: { big } }));
    client.send(JSON.stringify({ type: 'req', id: 'small', method: 'echo', params: { é: '💧' } }));
    const first = await client.next();
    expect([first.id, first.payload?.big === big]).toEqual(['big', true]);
    expect(await client.next()).toMatchObject({ id: 'small', payload: { é: '💧' } });
  });

  it('loses nothing that it sent right behind connect, before the answer', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach();
    const client = await TestSocketClient.open(gateway.url);
    client.send(connectFrame({ auth: { token: gateway.token } }));
    for (let i = 0; i < 50; i++)
      client.send(JSON.stringify({ type: 'req', id: `r${i}`, method: 'echo', params: { pad: 'x'.repeat(3000) } }));
    const ids = [(await client.next()).id];
    for (let i = 0; i < 50; i++) ids.push((await client.next()).id);
    expect(ids).toEqual(['c', ...Array.from({ length: 50 }, (_, i) => `r${i}`)]);
  });

  verifies('limits/frame', 'a frame of 25 MiB is exchanged, one a byte larger closes with 1009, and the host is told', async () => {
    await using gateway = await startTestBridge();
    const host = await gateway.attach();
    const client = await TestSocketClient.connect(gateway.url, gateway.token);
    const frame = (pad: string): string => JSON.stringify({ type: 'req', id: 'x', method: 'echo', params: { pad } });
    const pad = 'x'.repeat(PROTOCOL_LIMITS.maxPayload - frame('').length);
    client.send(frame(pad));
    const { payload } = await client.next();
    expect(payload?.pad === pad).toBe(true);
    client.send(frame(`${pad}x`));
    expect((await client.closed).code).toBe(1009);
    await expect.poll(() => host.clients[0]?.stream.closed).toBe(true);
  });

  it.each([
    [1002, 'protocol', 1002],
    [4321, 'own code', 4321],
    [1006, 'not sendable', 1011],
    [1008, 'é'.repeat(200), 1008],
  ])('is closed by the host with %i', async (code, reason, clientCode) => {
    await using gateway = await startTestBridge();
    await gateway.attach({ rpc: (link) => link.close(code, reason) });
    const client = await TestSocketClient.connect(gateway.url, gateway.token);
    client.send('{"type":"req","id":"x","method":"leave"}');
    const closed = await client.closed;
    expect(closed.code).toBe(clientCode);
    expect(reason.startsWith(closed.reason)).toBe(true);
    expect(closed.reason.length).toBeGreaterThan(5);
  });

  it('is let go by the host when it leaves', async () => {
    await using gateway = await startTestBridge();
    const host = await gateway.attach();
    const client = await TestSocketClient.connect(gateway.url, gateway.token);
    expect(host.mux.streams).toBe(1);
    client.socket.terminate();
    await expect.poll(() => host.mux.streams).toBe(0);
  });
});

describe('the host', () => {
  verifies('connect/no-host', 'none, and none starting: 1013 at once', async () => {
    await using gateway = await startTestBridge();
    const client = await TestSocketClient.open(gateway.url);
    client.send(connectFrame({ auth: { token: gateway.token } }));
    expect(await client.closed).toMatchObject({ code: 1013, reason: 'no gateway' });
  });

  verifies('connect/waits-for-host', 'clients wait for one that starts', async () => {
    await using gateway = await startTestBridge();
    gateway.bridge.hosts.expectHost(10_000);
    const client = await TestSocketClient.open(gateway.url);
    client.send(connectFrame({ auth: { token: gateway.token } }));
    client.send('{"type":"req","id":"x","method":"echo","params":{"a":1}}');
    await gateway.attach();
    expect([(await client.next()).id, (await client.next()).payload]).toEqual(['c', { a: 1 }]);
  });

  verifies(
    ['connect/waits-for-host', 'connect/no-host'],
    'starting in vain: 1013 as soon as that is known, or the wait is over',
    async () => {
      expect(TIMING.hostWaitMs).toBe(15_000);
      await using gateway = await startTestBridge({ timing: { hostWaitMs: 50 } });
      gateway.bridge.hosts.expectHost(10_000);
      const late = await TestSocketClient.open(gateway.url);
      late.send(connectFrame({ auth: { token: gateway.token } }));
      expect(await late.closed).toMatchObject({ code: 1013 });
      await using other = await startTestBridge();
      other.bridge.hosts.expectHost(10_000);
      const client = await TestSocketClient.open(other.url);
      client.send(connectFrame({ auth: { token: other.token } }));
      await expect.poll(() => other.bridge.hosts.waiting).toBe(1);
      other.bridge.hosts.expectHost(0);
      expect(await client.closed).toMatchObject({ code: 1013 });
    },
  );

  it('dying: its clients are told that the gateway restarts', async () => {
    await using gateway = await startTestBridge();
    const host = await gateway.attach();
    const clients = await Promise.all([1, 2, 3].map(() => TestSocketClient.connect(gateway.url, gateway.token)));
    host.die();
    for (const client of clients) expect(await client.closed).toMatchObject({ code: 1012, reason: 'gateway restarting' });
    await gateway.attach();
    await TestSocketClient.connect(gateway.url, gateway.token);
  });

  it('breaking the multiplexer: the same', async () => {
    await using gateway = await startTestBridge();
    const host = await gateway.attach();
    const client = await TestSocketClient.connect(gateway.url, gateway.token);
    host.socket.send(Buffer.from([1, 2, 3]));
    expect(await client.closed).toMatchObject({ code: 1012 });
    expect(gateway.bridge.hosts.current).toBeNull();
  });
});
