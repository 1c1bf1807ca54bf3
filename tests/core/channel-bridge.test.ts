import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { startTestBridge } from '../../bridge/server/tests/test-bridge.ts';
import { systemClock } from '../../shared/async/clock.ts';
import { verifies } from '../requirements.ts';
import { createBridgedGateway } from '../support/bridged-gateway.ts';
import { createTestGateway, waitFor } from '../support/test-gateway.ts';
import { startTelegramServer, TELEGRAM_TOKEN } from '../support/telegram-server.ts';

const token = TELEGRAM_TOKEN;

verifies(
  ['channels/telegram', 'channels/token', 'channels/doctor'],
  'by the bridge’s egress, with real time and sockets; its log has no token',
  async () => {
    await using server = await startTelegramServer(systemClock);
    await using bridge = await startTestBridge();
    await using gw = await createBridgedGateway({ egress: true });
    const { client } = await gw.client();
    const status = () => client.call('channels.status', { channelId: 'telegram' });
    await client.call('config.patch', {
      patch: { channels: { telegram: { enabled: true, botToken: token, allowedUsers: [], apiBase: server.url } } },
    });
    expect(await status()).toMatchObject({ status: 'configured', problem: expect.stringContaining('needs the bridge') as string });
    const check = async () => (await client.call('doctor.run', {})).checks.find(({ id }) => id === 'channels');
    expect(await check()).toMatchObject({ severity: 'warning', message: expect.stringContaining('needs the bridge') as string });
    await gw.attach(bridge);
    await waitFor(async () => (await status()).status === 'running', 'it runs');
    expect(await check()).toMatchObject({ severity: 'ok', message: expect.stringContaining('Telegram') as string });
    server.write('Hello');
    await waitFor(() => server.sent.length === 1, 'the answer');
    expect(server.sent[0]?.text).toContain('guide');
    server.fault = () => ({ status: 500, body: 'no' });
    server.write('Hello again');
    await waitFor(async () => (await status()).status === 'error', 'an error');
    expect(await check()).toMatchObject({ severity: 'error', message: expect.stringContaining('Telegram: ') as string });
    gw.detach();
    await waitFor(async () => (await status()).status === 'configured', 'it rests');
    const { lines } = await client.call('logs.tail', { limit: 2000 });
    expect(JSON.stringify([lines, bridge.lines, gw.faults])).not.toContain(token);
  },
);

verifies('channels/doctor', 'an enabled channel whose server does not respond is not reported as healthy', async () => {
  await using silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const apiBase = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  await using bridge = await startTestBridge();
  await using gw = await createBridgedGateway({ egress: true });
  const { client } = await gw.client();
  await gw.attach(bridge);
  const set = (enabled: boolean) =>
    client.call('config.patch', { patch: { channels: { telegram: { enabled, botToken: token, apiBase } } } });
  const check = async () => (await client.call('doctor.run', {})).checks.find(({ id }) => id === 'channels');
  await set(true);
  expect(await check()).toMatchObject({ severity: 'warning', message: 'Not connected yet: Telegram.' });
  await set(false);
  expect(await check()).toMatchObject({ severity: 'ok', message: 'Connected: Perch app.' });
  silent.closeAllConnections();
});

verifies(
  ['channels/social', 'channels/switched'],
  'an invalid server address is refused, and only configured ones may be called',
  async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const set = (value: unknown) => client.call('config.set', { key: 'channels.telegram', value });
    for (const apiBase of ['ftp://a.test', 'http://user:pass@a.test', 'http://a.test?x', 'nonsense', 7])
      await expect(set({ botToken: token, apiBase }), String(apiBase)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    for (const searchesPerMonth of [0, -1, 1.5, '3000'])
      await expect(client.call('config.set', { key: 'channels.x', value: { bearerToken: 'b', searchesPerMonth } })).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
      });
    expect([...gw.gateway.origins()].filter((origin) => origin.includes('telegram'))).toEqual([]);
    await set({ botToken: token });
    expect(gw.gateway.origins().has('https://api.telegram.org')).toBe(true);
    expect(JSON.stringify(await client.call('config.get', {}))).not.toContain(token);
  },
);
