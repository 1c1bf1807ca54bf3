import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { createScript, createTestGateway } from '../../../../tests/support/test-gateway.ts';
import { sendRawRequest } from '../../../../tests/support/raw-connection.ts';

const X_SETTINGS = { enabled: true, bearerToken: 'a-secret-bearer-token' };

verifies(['channels/list', 'channels/status', 'channels/earlier'], 'what is connected, then what is configured', async () => {
  await using gw = await createTestGateway();
  const { client } = await gw.client();
  await client.call('config.patch', { patch: { channels: { x: X_SETTINGS, telegram: { botToken: 't' }, other: { enabled: true } } } });
  const { channels } = await client.call('channels.list', {});
  expect(channels.map(({ id, source, status, running }) => [id, source, status, running])).toEqual([
    ['webchat', 'runtime', 'running', true],
    ['x', 'config', 'configured', false],
    ['telegram', 'config', 'stopped', false],
  ]);
  expect(channels[1]).toMatchObject({
    display_name: 'X',
    category: 'social',
    capabilities: { threads: true, editing: false },
    media_limits: { max_message_length: 280, max_file_size_mb: 5 },
    supports_dm: true,
    problem: expect.any(String) as string,
  });
  const { id, ...x } = channels[1] ?? { id: '' };
  for (const params of [{ channelId: 'x' }, { channel_id: 'x' }]) {
    expect(await client.call('channels.status', params)).toEqual({ channel_id: id, ...x });
  }
  for (const params of [{}, { channelId: 'x', channel_id: 'x' }])
    await expect(client.request('channels.status', params)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await expect(client.call('channels.status', { channelId: 'slack' })).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: expect.stringContaining('channels.slack'),
  });
  expect(await sendRawRequest(gw, 'channels.list', '{}', 2)).toMatchObject({
    payload: [
      { id: 'webchat', type: 'webchat', status: 'running' },
      { id: 'x', type: 'x', status: 'configured' },
      { id: 'telegram', type: 'telegram', status: 'stopped' },
    ],
  });
});

verifies('channels/webchat', 'which count what came, was answered, and failed', async () => {
  const clock = new FakeClock();
  let calls = 0;
  await using gw = await createTestGateway({
    clock,
    model: () => (++calls === 2 ? [{ status: 400, body: 'no' }] : createScript(['Hi'])({} as never, 1)),
  });
  const { client } = await gw.client();
  const since = clock.now();
  await client.call('chat.send', { message: 'one' });
  clock.advance(1000);
  await expect(client.call('chat.send', { message: 'two' })).rejects.toThrow();
  expect((await client.call('channels.status', { channelId: 'webchat' })).metrics).toEqual({
    messages_received: 2,
    messages_sent: 1,
    messages_failed: 1,
    last_message_at: clock.now(),
    connected_since: since,
  });
});

verifies('channels/catalog', 'each once, with settings that name its secrets', async () => {
  await using gw = await createTestGateway();
  const { client } = await gw.client();
  const { channels, count } = await client.call('channels.catalog', {});
  expect(count).toBe(channels.length);
  expect(new Set(channels.map(({ id }) => id)).size).toBe(count);
  expect(channels.filter(({ startable }) => startable).map(({ id }) => id)).toEqual([
    'webchat',
    'x',
    'telegram',
    'discord',
    'slack',
    'matrix',
    'nostr',
    'ntfy',
    'signal',
    'whatsapp',
    'email',
    'irc',
  ]);
  for (const { id, startable, reason, settings } of channels) {
    if (!startable) expect(reason, id).toBeTruthy();
    // Every setting that the catalogue marks as secret is also a secret in the configuration.
    const given = Object.fromEntries(settings.filter(({ secret }) => secret).map(({ name }) => [name, `secret-of-${id}`]));
    if (Object.keys(given).length === 0) continue;
    await client.call('config.patch', { patch: { channels: { [id]: given } } });
    for (const name of Object.keys(given)) {
      expect((await client.call('config.get', { key: `channels.${id}.${name}` })).value, `${id}.${name}`).toBe('***');
    }
  }
});

verifies(['channels/social', 'channels/secrets'], 'defaults are filled in, wrong ones refused, the token never read', async () => {
  await using gw = await createTestGateway();
  const { client } = await gw.client();
  const set = (value: unknown) => client.call('config.set', { key: 'channels.x', value });
  for (const wrong of [
    { ...X_SETTINGS, pollIntervalSeconds: 59 },
    { ...X_SETTINGS, socialUsername: '@perch' },
    { ...X_SETTINGS, monitorDMs: 'yes' },
    { ...X_SETTINGS, allowedUsers: 'me' },
    { enabled: true },
  ])
    await expect(set(wrong), JSON.stringify(wrong)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await set({ ...X_SETTINGS, pollIntervalSeconds: 60, allowedUsers: [] });
  const { value } = await client.call('config.get', {});
  expect(JSON.stringify(value)).not.toContain('a-secret');
  expect(value).toMatchObject({ channels: { x: { enabled: true, bearerToken: '***', pollIntervalSeconds: 60 } } });
  expect(JSON.stringify(await client.call('channels.list', {}))).not.toContain('a-secret');
});
