import { describe, expect } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import { type Link, type LinkEvents, memoryPair, type MovableLink } from '#shared/link/link.ts';
import { SCOPES } from '#shared/rpc/contract.ts';
import { CLOSE_CODES } from '#shared/rpc/frames.ts';
import { verifies } from '../../../tests/requirements.ts';
import { createTestGateway, type TestGateway, waitFor } from '../../../tests/support/test-gateway.ts';

/** A client of the gateway over its own link, and the codes with which it was closed. */
async function connectClient(gw: TestGateway, socket: boolean): Promise<{ client: GatewayClient; closed: number[] }> {
  const closed: number[] = [];
  const link = gw.link({ socket });
  const watched: Link<string> = {
    buffered: 0,
    send: (text) => link.send(text),
    close: (code, reason) => link.close(code, reason),
    receive: (events) =>
      link.receive({
        ...events,
        close(code, reason) {
          closed.push(code);
          events.close(code, reason);
        },
      }),
  };
  return { client: await GatewayClient.connect(watched, { params: { clientName: 'test', events: 'all' } }), closed };
}

describe('another host serves', () => {
  verifies('vault.hand-over/connections', 'idle sockets go at once, a busy one after its answer, ports stay', async () => {
    const gate = Promise.withResolvers<void>();
    await using gw = await createTestGateway({ model: () => ['half', { wait: gate.promise }, ' and half'] });
    const [idle, busy, port] = [await connectClient(gw, true), await connectClient(gw, true), await connectClient(gw, false)];
    const pendingSend = busy.client.call('chat.send', { message: 'hi' });
    await waitFor(() => gw.calls.length === 1);
    gw.gateway.handOver();
    await waitFor(() => idle.closed.length === 1);
    expect(idle.closed).toEqual([CLOSE_CODES.handingOver]);
    // The connection works as before, also for other calls, while one is in progress.
    expect((await busy.client.call('sessions.list', {})).sessions).toMatchObject([{ running: true }]);
    expect(busy.closed).toEqual([]);
    gate.resolve();
    expect((await pendingSend).completed).toBe(true);
    await waitFor(() => busy.closed.length === 1);
    expect(busy.closed).toEqual([CLOSE_CODES.handingOver]);
    expect((await port.client.call('health', {})).status).toBe('ok');
    expect(port.closed).toEqual([]);
  });

  verifies('vault.hand-over/connections', 'who still comes is sent on; serving again ends that', async () => {
    await using gw = await createTestGateway();
    gw.gateway.handOver();
    const codes: number[] = [];
    gw.link({ socket: true }).receive({ message: () => {}, close: (code) => codes.push(code) });
    await waitFor(() => codes.length === 1);
    expect(codes).toEqual([CLOSE_CODES.handingOver]);
    gw.gateway.resume();
    const { client, closed } = await connectClient(gw, true);
    expect((await client.call('health', {})).status).toBe('ok');
    expect(closed).toEqual([]);
  });

  verifies('vault.hand-over/connections', 'a socket that was about to go stays where this host serves again', async () => {
    const gate = Promise.withResolvers<void>();
    await using gw = await createTestGateway({ model: () => [{ wait: gate.promise }, 'done'] });
    const { client, closed } = await connectClient(gw, true);
    const pendingSend = client.call('chat.send', { message: 'hi' });
    await waitFor(() => gw.calls.length === 1);
    gw.gateway.handOver();
    gw.gateway.resume();
    gate.resolve();
    await pendingSend;
    expect((await client.call('health', {})).status).toBe('ok');
    expect(closed).toEqual([]);
  });

  verifies(
    'vault.hand-over/connections',
    'a long call that came while the bridge began to hold back does not keep the client from all others',
    async () => {
      const gate = Promise.withResolvers<void>();
      await using gw = await createTestGateway({ model: () => [{ wait: gate.promise }, 'done'] });
      const [far, near] = memoryPair<string>();
      const modelRequested = Promise.withResolvers<void>();
      let events: LinkEvents<string> | undefined;
      const movable: MovableLink = {
        buffered: 0,
        send: (text) => near.send(text),
        close: (code, reason) => near.close(code, reason),
        receive: (given) => near.receive((events = given)),
        leave: () => modelRequested.resolve(),
        move: () => near.close(CLOSE_CODES.normal),
      };
      gw.gateway.accept(movable, { principal: 'owner', scopes: SCOPES, challenged: false, socket: true, movable });
      const client = await GatewayClient.connect(far, { params: { clientName: 'test' } });
      gw.gateway.handOver();
      await modelRequested.promise;
      const pendingSend = client.call('chat.send', { sessionId: 'a', message: 'hi' });
      pendingSend.catch(() => {});
      await waitFor(() => gw.calls.length === 1);
      events?.left?.();
      // Its messages are ignored from here on: it is asked to reconnect.
      expect((await client.closed).code).toBe(CLOSE_CODES.handingOver);
      await expect(pendingSend).rejects.toThrow();
      gate.resolve();
      const { client: next } = await gw.client();
      await waitFor(async () => (await next.call('chat.history', { sessionId: 'a' })).messages.at(-1)?.role === 'assistant');
    },
  );
});
