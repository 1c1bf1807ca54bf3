import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { systemClock } from '../../shared/async/clock.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startTelegramServer, TELEGRAM_TOKEN } from '../support/telegram-server.ts';
import { APP_BEARER, startXServer } from '../support/x-server.ts';
import { startPerch } from './perch-process.ts';

/** As a browser goes to an address; `fetch` says that it is none. */
async function fetchAddress(address: URL): Promise<string> {
  const [response] = (await once(get(address), 'response')) as [IncomingMessage];
  return text(response);
}

describe('the managed Chromium hosts', () => {
  verifies(
    ['channels/telegram', 'channels/x-direct', 'channels/one-executor', 'channels/token'],
    'channels run unattended, go on after a restart, and give their tokens to no log',
    async () => {
      await using telegram = await startTelegramServer(systemClock);
      await using x = await startXServer(systemClock);
      await using perch = await startPerch({ env: { MY_BOT: TELEGRAM_TOKEN } });
      let client = await perch.client();
      // The test polls the status more often than people do.
      await client.call('config.set', { key: 'gateway.rateLimit', value: { perMinute: 0, burst: 1 } });
      client.close();
      client = await perch.client();
      const status = (channelId: string) => client.call('channels.status', { channelId });
      await client.call('config.patch', {
        patch: {
          channels: {
            // As a reference, whose value the bridge has.
            telegram: { enabled: true, botToken: '${MY_BOT}', apiBase: telegram.url, allowedUsers: [] },
            x: { enabled: true, bearerToken: APP_BEARER, socialUsername: 'perch', monitorDMs: true, clientId: 'client-id', apiBase: x.url },
          },
        },
      });
      await waitFor(async () => (await status('telegram')).status === 'running', 'telegram runs', 30_000);
      telegram.write('Hello');
      await waitFor(() => telegram.sent.length === 1, 'an answer on telegram', 30_000);
      expect(telegram.sent[0]?.text).toContain('guide');

      // The browser comes back to the bridge, without a credential.
      const { url } = await client.call('channels.authorize', { channelId: 'x' });
      const authorizeParams = new URL(url).searchParams;
      const back = new URL(authorizeParams.get('redirect_uri') ?? '');
      expect(back.origin).toBe(perch.url);
      back.search = new URLSearchParams({ code: x.allow(url), state: authorizeParams.get('state') ?? '' }).toString();
      expect(await fetchAddress(back)).toContain('connected');
      await waitFor(async () => (await status('x')).status === 'running', 'x runs', 30_000);

      // The channel polls every two minutes, and once when it starts.
      x.addDirectMessage('And after a restart?');
      await perch.restart();
      client = await perch.client();
      telegram.write('Still there?');
      await waitFor(() => telegram.sent.length === 2, 'another answer on telegram', 60_000);
      await waitFor(() => x.ownDirect().length === 1, 'a direct answer on x', 60_000);
      expect((await status('telegram')).metrics).toMatchObject({ messages_received: 2, messages_failed: 0 });
      const { lines } = await client.call('logs.tail', { limit: 2000 });
      const written = JSON.stringify([lines, perch.output]);
      for (const secret of [TELEGRAM_TOKEN, APP_BEARER, x.grants.access, x.grants.refresh]) expect(written).not.toContain(secret);
      client.close();
    },
    120_000,
  );
});
