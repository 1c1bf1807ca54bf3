import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeBridge } from '../../../../tests/support/fake-bridge.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { createTestGateway, waitFor, type ModelScript } from '../../../../tests/support/test-gateway.ts';
import { startPushService } from '../../../../tests/support/push-service.ts';
import { getLongTermMemory } from '../../../../tests/support/long-term-memory.ts';

const NOTE = 'The door code is 4711';
/** Calls the tool at first, and answers after its result. */
const callMemory =
  (text = NOTE): ModelScript =>
  ({ body: { messages } }) =>
    messages.at(-1)?.role === 'tool' ? ['ok'] : [{ tool: 'memory_add', args: { text } }];

/** A gateway whose approvals go to two subscribed browsers. */
async function createPushGateway(model: ModelScript = callMemory()) {
  const service = await startPushService();
  const clock = new FakeClock();
  const gw = await createTestGateway({ clock, model, bridge: new FakeBridge(service.capability) });
  const { client } = await gw.client();
  const [phone, laptop] = [service.subscribe('phone'), service.subscribe('laptop')];
  await client.call('push.subscribe', { id: 'phone-device', name: 'Phone', subscription: phone.subscription });
  await client.call('push.subscribe', { id: 'laptop-device', name: 'Laptop', subscription: laptop.subscription });
  await client.call('config.patch', {
    patch: { tools: { policies: { memory_add: 'ask' } }, approvals: { deliver: [{ kind: 'device' }] } },
  });
  return {
    ...{ service, gw, client, clock, phone, laptop },
    send: (message = 'remember', sessionId = 'main') => client.call('chat.send', { message, sessionId }),
    memories: async () => (await getLongTermMemory(gw.vault).memories()).map(({ text }) => text),
    async answer(value: unknown): Promise<{ status: number; outcome: string; message: string }> {
      const request = new Request('http://perch/push/answer', { method: 'POST', body: JSON.stringify({ value }) });
      const response = await gw.gateway.fetch(request, { id: 'push', scopes: [] });
      return { status: response.status, ...((await response.json()) as { outcome: string; message: string }) };
    },
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

const getButton = (message: { buttons?: { kind: string; value: string }[] } | undefined, kind: 'approve' | 'deny'): string =>
  message?.buttons?.find((button) => button.kind === kind)?.value ?? '';

verifies(
  ['push/approvals', 'push/encrypted'],
  'an approval is pushed to each device, and Allow there lets exactly this call run, once',
  async () => {
    await using at = await createPushGateway();
    const sent = at.send();
    await waitFor(() => at.phone.received().length === 1 && at.laptop.received().length === 1, 'two notifications');
    const [message] = at.phone.received();
    const [approval] = (await at.client.call('approvals.list', {})).approvals;
    expect(message).toMatchObject({
      kind: 'approval',
      tag: `approval:${approval?.id ?? ''}`,
      body: expect.stringContaining(`text: ${NOTE}`) as string,
      path: '/approvals',
      expiresAt: approval?.expiresAt,
    });
    // The push service gets ciphertext only.
    for (const { body, headers } of at.service.asked) {
      for (const secret of [NOTE, 'memory_add', approval?.id ?? '', 'approve', getButton(message, 'approve')])
        expect(body.includes(secret)).toBe(false);
      expect(headers).toMatchObject({ 'content-encoding': 'aes128gcm', urgency: 'high', ttl: '300' });
      expect(headers['topic']).toMatch(/^[\w-]{32}$/);
      expect(headers['authorization']).toMatch(/^vapid t=/);
    }
    expect(getButton(at.laptop.received()[0], 'approve')).not.toBe(getButton(message, 'approve'));
    expect(await at.answer(getButton(message, 'approve'))).toMatchObject({ status: 200, outcome: 'approved' });
    await sent;
    expect(await at.memories()).toEqual([NOTE]);
    expect((await at.client.call('approvals.list', { status: 'all' })).approvals[0]).toMatchObject({
      status: 'approved',
      resolvedVia: 'push',
    });
    // The same button again, and the other device's, have no effect.
    expect(await at.answer(getButton(message, 'approve'))).toMatchObject({ status: 409, outcome: 'decided' });
    expect(await at.answer(getButton(at.laptop.received()[0], 'deny'))).toMatchObject({ status: 409, outcome: 'decided' });
    expect(at.gw.faults).toEqual([]);
  },
);

verifies('push/approvals', 'Deny refuses the call', async () => {
  await using at = await createPushGateway();
  const sent = at.send();
  await waitFor(() => at.phone.received().length === 1);
  expect(await at.answer(getButton(at.phone.received()[0], 'deny'))).toMatchObject({ status: 200, outcome: 'denied' });
  await sent;
  expect(await at.memories()).toEqual([]);
});

verifies('push/bound', 'refuses values of other approvals, of removed devices, expired and invented ones', async () => {
  await using at = await createPushGateway(({ body: { messages } }) =>
    messages.at(-1)?.role === 'tool' ? ['ok'] : [{ tool: 'memory_add', args: { text: String(messages.at(-1)?.content) } }],
  );
  const sends = [at.send('first', 'one'), at.send('second', 'two')];
  await waitFor(() => at.phone.received().length === 2 && at.laptop.received().length === 2);
  const messages = at.phone.received();
  const [first = '', second = ''] = messages.map((message) => getButton(message, 'approve'));
  // The decision and the code of one with the id of the other.
  const swapped = `${first.slice(0, 1)}${second.slice(1, 33)}${first.slice(33)}`;
  const turned = `a${getButton(messages[0], 'deny').slice(1)}`;
  for (const value of [swapped, turned, `a${'0'.repeat(32)}${'A'.repeat(22)}`, 'hello'])
    expect(await at.answer(value)).toMatchObject({ status: 404, outcome: 'unknown' });
  for (const value of ['', 7, 'x'.repeat(65), null]) expect(await at.answer(value)).toMatchObject({ status: 400 });
  await at.client.call('push.remove', { id: 'phone-device' });
  expect(await at.answer(first)).toMatchObject({ status: 404 });
  at.clock.advance(301_000);
  await Promise.all(sends);
  expect(await at.answer(getButton(at.laptop.received()[0], 'approve'))).toMatchObject({ status: 409, outcome: 'expired' });
  expect(await at.memories()).toEqual([]);
});

verifies('push/hidden', 'what does not fit a notification can be denied there, not allowed', async () => {
  for (const text of ['x'.repeat(300), 'a\nb\nc\nd\ne', 'Tea \u202e eeffoC']) {
    await using at = await createPushGateway(callMemory(text));
    const sent = at.send();
    await waitFor(() => at.phone.received().length === 1);
    const [message] = at.phone.received();
    expect(message?.buttons?.map(({ kind }) => kind)).toEqual(['deny']);
    expect(message?.body).toContain('Open Perch to see all of it and decide.');
    await at.answer(getButton(message, 'deny'));
    await sent;
  }
});

verifies('push/people', 'nothing is sent unless the settings say so, which programs cannot change', async () => {
  await using at = await createPushGateway();
  await at.client.call('config.set', { key: 'approvals.deliver', value: [] });
  const sent = at.send();
  await waitFor(async () => (await at.client.call('approvals.list', {})).count === 1);
  const { GatewayClient } = await import('#shared/client/client.ts');
  const program = await GatewayClient.connect(at.gw.link({ principal: 'key:ci' }), { params: { clientName: 'ci' } });
  const deliver = [{ kind: 'device' as const }];
  await expect(program.call('config.set', { key: 'approvals.deliver', value: deliver })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  await expect(program.call('config.patch', { patch: { approvals: { deliver } } })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  const own = at.service.subscribe('own');
  await expect(program.call('push.subscribe', { id: 'own-device', name: 'CI', subscription: own.subscription })).rejects.toMatchObject({
    code: 'AUTH_REQUIRED',
  });
  expect(at.service.asked).toEqual([]);
  // Turned on meanwhile: what waits is sent.
  await at.client.call('config.set', { key: 'approvals.deliver', value: deliver });
  await expect(program.call('config.patch', { patch: { channels: { telegram: { owners: ['1'] } } } })).rejects.toMatchObject({
    code: 'AUTH_REQUIRED',
  });
  await waitFor(() => at.phone.received().length === 1);
  await at.answer(getButton(at.phone.received()[0], 'deny'));
  await sent;
});

verifies('push/receipts', 'a device that has shown a notification proves its delivery, once opened that it was read', async () => {
  await using at = await createPushGateway();
  const sent = at.send();
  await waitFor(() => at.phone.received().length === 1 && at.laptop.received().length === 1);
  const getStates = async () => (await at.client.call('deliveries.list', {})).deliveries.map(({ state }) => state).sort();
  await waitFor(async () => (await getStates()).join() === 'accepted,accepted');
  const [message] = at.phone.received();
  const { shown = '', opened = '' } = message?.receipts ?? {};
  expect(await at.answer(`${shown.slice(0, -1)}${shown.endsWith('A') ? 'B' : 'A'}`)).toMatchObject({ status: 404 });
  expect(await at.answer(`o${shown.slice(1)}`)).toMatchObject({ status: 404 });
  expect(await at.answer(shown)).toMatchObject({ status: 200, outcome: 'received' });
  await waitFor(async () => (await getStates()).join() === 'accepted,delivered');
  await at.answer(opened);
  await waitFor(async () => (await getStates()).join() === 'accepted,read');
  await at.answer(getButton(message, 'deny'));
  await sent;
});
