import { expect } from 'vitest';
import { linkedBrowsersPort } from '#shared/ports/linked-browsers-port.ts';
import { createPushHandlers } from '../../../../bridge/capabilities/push-handlers.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createCapability, FakeBridge } from '../../../../tests/support/fake-bridge.ts';
import { startPushService } from '../../../../tests/support/push-service.ts';
import { createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';

const ID = 'phone-device';

verifies('push/service-faults', 'each failure of a push service has its effect and a sentence', async () => {
  await using service = await startPushService();
  const bridge = new FakeBridge(service.capability);
  await using gw = await createTestGateway({ bridge });
  const { client } = await gw.client();
  const phone = service.subscribe('phone');
  const subscribe = (id = ID) => client.call('push.subscribe', { id, name: 'Phone', subscription: phone.subscription });
  await subscribe();
  const getDevice = async () => (await client.call('push.list', {})).devices[0];
  await client.call('push.test', { id: ID });
  expect(phone.received()).toEqual([{ kind: 'test', tag: `test:${ID}`, body: '', path: '/settings' }]);
  expect(await getDevice()).toMatchObject({ id: ID, service: 'push.test', lastSentAt: expect.any(Number) as number });

  const fail = async (fault: ReturnType<typeof service.fault>): Promise<unknown> => {
    service.fault = () => fault;
    return client.call('push.test', { id: ID }).catch((error: unknown) => error);
  };
  expect(await fail({ status: 429, body: '', headers: { 'retry-after': '7' } })).toMatchObject({ code: 'RATE_LIMITED' });
  expect(await fail({ status: 413, body: 'too big' })).toMatchObject({ message: expect.stringContaining('too large') as string });
  expect(await getDevice()).toMatchObject({ problem: expect.stringContaining('too large') as string });
  expect(await fail({ status: 403, body: 'wrong key\n' })).toMatchObject({
    message: expect.stringMatching(/403: wrong key.*off and on again/) as string,
  });
  expect(await fail({ status: 500, body: '<html>' })).toMatchObject({ message: 'The push service failed (500: <html>).' });
  expect(await fail({ status: 301, body: '', headers: { location: 'http://127.0.0.1/' } })).toMatchObject({ code: 'INTERNAL_ERROR' });
  expect(await fail({ cut: 'before' })).toMatchObject({ message: expect.stringContaining('can’t be reached') as string });
  expect(await fail({ endless: true })).toMatchObject({ accepted: true });
  expect(await getDevice()).not.toHaveProperty('problem');
  expect(await fail({ status: 410, body: '' })).toMatchObject({
    message: expect.stringContaining('turned off push notifications') as string,
  });
  expect(await getDevice()).toBeUndefined();
  expect(await fail(undefined)).toMatchObject({ code: 'NOT_FOUND' });
  await subscribe('phone-device-2');
  bridge.detach();
  expect(await client.call('push.test', { id: 'phone-device-2' }).catch((error: unknown) => error)).toMatchObject({
    extra: { details: { reason: 'needs-bridge' } },
  });
  expect((await client.call('push.list', {})).available).toBe(false);
});

verifies('push/people', 'invalid subscriptions are refused, and a second one of a browser replaces the first', async () => {
  await using service = await startPushService();
  await using gw = await createTestGateway({ bridge: new FakeBridge(service.capability) });
  const { client } = await gw.client();
  const { subscription } = service.subscribe('phone');
  const subscribe = (changes: object, id = ID) =>
    client.call('push.subscribe', { id, name: 'Phone', subscription: { ...subscription, ...changes } });
  const invalid = { code: 'INVALID_PARAMS' };
  await expect(subscribe({ endpoint: 'http://push.test/1' })).rejects.toMatchObject(invalid);
  await expect(subscribe({ keys: { ...subscription.keys, auth: 'short' } })).rejects.toMatchObject(invalid);
  await expect(subscribe({ keys: { ...subscription.keys, p256dh: `B${'A'.repeat(86)}` } })).rejects.toMatchObject(invalid);
  await expect(subscribe({}, '../x')).rejects.toMatchObject(invalid);
  await subscribe({});
  await subscribe({}, 'phone-device-2');
  expect((await client.call('push.list', {})).devices.map(({ id }) => id)).toEqual(['phone-device-2']);
  expect(JSON.stringify(await client.call('push.list', {}))).not.toContain(subscription.keys.auth);
});

verifies('push/people', 'revoking a paired device ends its notifications', async () => {
  await using service = await startPushService();
  await using gw = await createTestGateway({ bridge: new FakeBridge(service.capability) });
  const { client } = await gw.client();
  const { GatewayClient } = await import('#shared/client/client.ts');
  await gw.vault.collection('devices').put({ id: 'd1', state: 'paired' } as never);
  const device = await GatewayClient.connect(gw.link({ principal: 'device:d1' }), { params: { clientName: 'phone' } });
  await device.call('push.subscribe', { id: ID, name: 'Phone', subscription: service.subscribe('phone').subscription });
  expect((await client.call('push.list', {})).devices).toHaveLength(1);
  await gw.vault.collection('devices').remove('d1');
  await waitFor(async () => (await client.call('push.list', {})).devices.length === 0);
});

verifies('push/people', 'unlinking a browser ends its notifications, however its page was connected', async () => {
  await using service = await startPushService();
  const linked = new Set(['app-one', 'app-two']);
  const browsers = createCapability(linkedBrowsersPort, {
    'linked-browsers.list': async () => ({ browsers: [] }),
    'linked-browsers.revoke': async ({ id }) => ({ revoked: linked.delete(id) }),
  });
  await using gw = await createTestGateway({ bridge: new FakeBridge(service.capability, browsers) });
  const { client } = await gw.client();
  const { GatewayClient } = await import('#shared/client/client.ts');
  const own = await GatewayClient.connect(gw.link({ principal: 'app:local' }), { params: { clientName: 'page' } });
  const remote = await GatewayClient.connect(gw.link({ principal: 'app:app-two' }), { params: { clientName: 'page' } });
  const subscribe = (page: typeof own, id: string, browserId?: string) =>
    page.call('push.subscribe', {
      ...{ id, name: id, subscription: service.subscribe(id).subscription },
      ...(browserId === undefined ? {} : { browserId }),
    });
  await subscribe(own, 'device-one', 'app-one');
  // Its credential counts, not what it says.
  await subscribe(remote, 'device-two', 'app-one');
  await subscribe(own, 'unlinked-one');
  const list = async () => (await client.call('push.list', {})).devices.map(({ id }) => id);
  await client.call('device.unlink', { browserId: 'app-one' });
  expect(await list()).toEqual(['device-two', 'unlinked-one']);
  await expect(client.call('push.test', { id: 'device-one' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(client.call('device.unlink', { browserId: 'app-one' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await client.call('device.unlink', { browserId: 'app-two' });
  expect(await list()).toEqual(['unlinked-one']);
});

verifies('push/endpoint', 'messages go to public https addresses only, also after the name is resolved', async () => {
  const deliver = (endpoint: string) =>
    createPushHandlers({ resolve: async () => [{ address: '10.0.0.7', family: 4 }] })['push.deliver'](
      { endpoint, headers: { ttl: '60', urgency: 'normal', authorization: 'vapid' }, body: '' },
      { signal: new AbortController().signal } as never,
    );
  for (const endpoint of [
    'http://push.example.net/1',
    'https://127.0.0.1/1',
    'https://localhost/1',
    'https://[::1]/1',
    'https://192.168.1.1:8443/1',
    'https://user:secret@push.example.net/1',
    'https://push.example.net:22/1',
    'https://rebound.example.net/1',
    'file:///etc/passwd',
    'nothing',
  ])
    await expect(deliver(endpoint)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
});
