import { type NatsConnection, TimeoutError } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { extendRequestTimeouts } from '#shared/sync/nats/request-timeouts.ts';
import { hasNats, createNatsServer } from './tests/nats-server.ts';
import { startTcpProxy } from './tests/tcp-proxy.ts';

test('accepts a response that arrives together with the notice that all earlier ones have arrived', async () => {
  const piece = Promise.withResolvers<void>();
  let inBytes = 0;
  // Behaves like the client: a ping's answer is delivered in fewer event loop turns than a request's.
  const nc = {
    stats: () => ({ inBytes: ++inBytes }),
    flush: () => (piece.resolve(), piece.promise),
    async request() {
      await piece.promise;
      for (let turn = 0; turn < 10; turn++) await null;
      return 'answered';
    },
  } as unknown as NatsConnection;
  extendRequestTimeouts(nc);
  expect(await nc.request('ask', '', { timeout: 5 })).toBe('answered');
});

if (!hasNats) test.skip('vault.cluster/faults: nats-server is not installed here', () => {});
describe.runIf(hasNats)('how long an answer is waited for', () => {
  verifies(
    'vault.cluster/faults',
    'behind what the server has to send on a narrow line, until that has come',
    async () => {
      await using nats = await createNatsServer();
      await using proxy = await startTcpProxy(nats.port);
      await using stack = new AsyncDisposableStack();
      const [narrow, other] = [await connect({ servers: `127.0.0.1:${proxy.port}` }), await connect({ servers: nats.url })];
      for (const machine of [narrow, other]) stack.defer(() => machine.close());
      extendRequestTimeouts(narrow);
      narrow.subscribe('flood', { callback: () => {} });
      other.subscribe('ask', { callback: (_, message) => void message.respond('answered') });
      await Promise.all([narrow.flush(), other.flush()]);
      proxy.bytesPerSecond = 1_000_000;
      for (let at = 0; at < 50; at++) other.publish('flood', new Uint8Array(100_000));
      await other.flush();
      expect((await narrow.request('ask', '', { timeout: 2000 })).string()).toBe('answered');
    },
    30_000,
  );

  verifies('vault.cluster/faults', 'no longer than its time where nobody answers, whether much else comes or nothing', async () => {
    await using nats = await createNatsServer();
    await using stack = new AsyncDisposableStack();
    const [one, other] = [await connect({ servers: nats.url }), await connect({ servers: nats.url })];
    for (const nc of [one, other]) stack.defer(() => nc.close());
    extendRequestTimeouts(one);
    other.subscribe('mute', { callback: () => {} });
    await other.flush();
    await expect(one.request('mute', '', { timeout: 200 })).rejects.toThrow(TimeoutError);
    one.subscribe('flood', { callback: () => {} });
    const flooding = setInterval(() => other.publish('flood', new Uint8Array(10_000)), 5);
    stack.defer(() => clearInterval(flooding));
    await expect(one.request('mute', '', { timeout: 200 })).rejects.toThrow(TimeoutError);
  });
});
