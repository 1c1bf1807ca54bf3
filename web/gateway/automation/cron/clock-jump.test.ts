import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';
import { openConnectedRaw } from '../../../../tests/support/raw-connection.ts';

const DAY_MS = 86_400_000;

for (const days of [1, -1]) {
  verifies('clock/jump', `limits, repeats, ticks and time-outs do not go by the wall clock (${days} day)`, async () => {
    const clock = new FakeClock();
    await using gw = await createTestGateway({ clock, model: () => [{ wait: new Promise(() => {}) }] });
    const { client, events } = await gw.client({ events: 'own' });
    const ticks = (): number => events.filter(({ event }) => event === 'tick').length;
    const socket = await openConnectedRaw(gw, { socket: true });
    for (let i = 0; i < 101; i++) socket.send({ type: 'req', id: `r${i}`, method: 'health' });
    expect(await socket.waitForResponse('r100')).toMatchObject({ error: { code: 'RATE_LIMITED' } });
    const job = { cron: '0 9 1 1 *', message: 'Tea', idempotencyKey: 'once' };
    const added = await client.call('cron.add', job);
    const silent = client.call('chat.send', { message: 'hello' });
    silent.catch(() => {});
    await waitFor(() => gw.calls.length === 1, 'the model to be asked');

    clock.jump(days * DAY_MS);
    socket.send({ type: 'req', id: 'after', method: 'health' });
    expect(await socket.waitForResponse('after')).toMatchObject({ error: { code: 'RATE_LIMITED' } });
    expect(await client.call('cron.add', job)).toEqual(added);
    const before = ticks();
    clock.advance(15_000);
    await waitFor(() => ticks() > before, 'a tick');
    expect(ticks()).toBe(before + 1);
    expect((await client.call('chat.history', { sessionId: 'main' })).messages).toHaveLength(1);
    clock.advance(50_000);
    await expect(silent).rejects.toMatchObject({ message: expect.stringContaining('60 s') });
  });
}
