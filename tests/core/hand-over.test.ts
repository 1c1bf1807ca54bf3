import { describe, expect } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import { type Link, type LinkEvents, memoryPair, type MovableLink } from '#shared/link/link.ts';
import { SCOPES } from '#shared/rpc/contract.ts';
import { CLOSE } from '#shared/rpc/frames.ts';
import { verifies } from '../requirements.ts';
import { testGateway, type TestGateway, until } from '../support/gateway.ts';

/** A client of the gateway over its own link, and the codes with which it was closed. */
async function joined(gw: TestGateway, socket: boolean): Promise<{ client: GatewayClient; closed: number[] }> {
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
    await using gw = await testGateway({ model: () => ['half', { wait: gate.promise }, ' and half'] });
    const [idle, busy, port] = [await joined(gw, true), await joined(gw, true), await joined(gw, false)];
    const sent = busy.client.call('chat.send', { message: 'hi' });
    await until(() => gw.calls.length === 1);
    gw.gateway.handOver();
    await until(() => idle.closed.length === 1);
    expect(idle.closed).toEqual([CLOSE.handingOver]);
    // The connection works as before, also for other calls, while one is in progress.
    expect((await busy.client.call('sessions.list', {})).sessions).toMatchObject([{ running: true }]);
    expect(busy.closed).toEqual([]);
    gate.resolve();
    expect((await sent).completed).toBe(true);
    await until(() => busy.closed.length === 1);
    expect(busy.closed).toEqual([CLOSE.handingOver]);
    expect((await port.client.call('health', {})).status).toBe('ok');
    expect(port.closed).toEqual([]);
  });

  verifies('vault.hand-over/connections', 'who still comes is sent on; serving again ends that', async () => {
    await using gw = await testGateway();
    gw.gateway.handOver();
    const codes: number[] = [];
    gw.link({ socket: true }).receive({ message: () => {}, close: (code) => codes.push(code) });
    await until(() => codes.length === 1);
    expect(codes).toEqual([CLOSE.handingOver]);
    gw.gateway.resume();
    const { client, closed } = await joined(gw, true);
    expect((await client.call('health', {})).status).toBe('ok');
    expect(closed).toEqual([]);
  });

  verifies('vault.hand-over/connections', 'a socket that was about to go stays where this host serves again', async () => {
    const gate = Promise.withResolvers<void>();
    await using gw = await testGateway({ model: () => [{ wait: gate.promise }, 'done'] });
    const { client, closed } = await joined(gw, true);
    const sent = client.call('chat.send', { message: 'hi' });
    await until(() => gw.calls.length === 1);
    gw.gateway.handOver();
    gw.gateway.resume();
    gate.resolve();
    await sent;
    expect((await client.call('health', {})).status).toBe('ok');
    expect(closed).toEqual([]);
  });

  verifies(
    'vault.hand-over/connections',
    'a long call that came while the bridge began to hold back does not keep the client from all others',
    async () => {
      const gate = Promise.withResolvers<void>();
      await using gw = await testGateway({ model: () => [{ wait: gate.promise }, 'done'] });
      const [far, near] = memoryPair<string>();
      const asked = Promise.withResolvers<void>();
      let events: LinkEvents<string> | undefined;
      const movable: MovableLink = {
        buffered: 0,
        send: (text) => near.send(text),
        close: (code, reason) => near.close(code, reason),
        receive: (given) => near.receive((events = given)),
        leave: () => asked.resolve(),
        move: () => near.close(CLOSE.normal),
      };
      gw.gateway.accept(movable, { principal: 'owner', scopes: SCOPES, challenged: false, socket: true, movable });
      const client = await GatewayClient.connect(far, { params: { clientName: 'test' } });
      gw.gateway.handOver();
      await asked.promise;
      const sent = client.call('chat.send', { sessionId: 'a', message: 'hi' });
      sent.catch(() => {});
      await until(() => gw.calls.length === 1);
      events?.left?.();
      // Its messages are ignored from here on: it is asked to reconnect.
      expect((await client.closed).code).toBe(CLOSE.handingOver);
      await expect(sent).rejects.toThrow();
      gate.resolve();
      const { client: next } = await gw.client();
      await until(async () => (await next.call('chat.history', { sessionId: 'a' })).messages.at(-1)?.role === 'assistant');
    },
  );
});
