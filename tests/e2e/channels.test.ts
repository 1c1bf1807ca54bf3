import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { systemClock } from '../../web/gateway/core/clock.ts';
import { verifies } from '../requirements.ts';
import { until } from '../support/gateway.ts';
import { telegramServer, TOKEN } from '../support/telegram-server.ts';
import { BEARER, xServer } from '../support/x-server.ts';
import { startPerch } from './harness.ts';

/** As a browser goes to an address; `fetch` says that it is none. */
async function visit(address: URL): Promise<string> {
  const [response] = (await once(get(address), 'response')) as [IncomingMessage];
  return text(response);
}

describe('the managed Chromium hosts', () => {
  verifies(
    ['channels/telegram', 'channels/x-direct', 'channels/one-executor', 'channels/token'],
    'channels run unattended, go on after a restart, and give their tokens to no log',
    async () => {
      await using telegram = await telegramServer(systemClock);
      await using x = await xServer(systemClock);
      await using perch = await startPerch({ env: { MY_BOT: TOKEN } });
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
            x: { enabled: true, bearerToken: BEARER, socialUsername: 'perch', monitorDMs: true, clientId: 'client-id', apiBase: x.url },
          },
        },
      });
      await until(async () => (await status('telegram')).status === 'running', 'telegram runs', 30_000);
      telegram.write('Hello');
      await until(() => telegram.sent.length === 1, 'an answer on telegram', 30_000);
      expect(telegram.sent[0]?.text).toContain('guide');

      // The browser comes back to the bridge, without a credential.
      const { url } = await client.call('channels.authorize', { channelId: 'x' });
      const wanted = new URL(url).searchParams;
      const back = new URL(wanted.get('redirect_uri') ?? '');
      expect(back.origin).toBe(perch.url);
      back.search = new URLSearchParams({ code: x.allow(url), state: wanted.get('state') ?? '' }).toString();
      expect(await visit(back)).toContain('connected');
      await until(async () => (await status('x')).status === 'running', 'x runs', 30_000);

      // The channel polls every two minutes, and once when it starts.
      x.write('And after a restart?');
      await perch.restart();
      client = await perch.client();
      telegram.write('Still there?');
      await until(() => telegram.sent.length === 2, 'another answer on telegram', 60_000);
      await until(() => x.ownDirect().length === 1, 'a direct answer on x', 60_000);
      expect((await status('telegram')).metrics).toMatchObject({ messages_received: 2, messages_failed: 0 });
      const { lines } = await client.call('logs.tail', { limit: 2000 });
      const written = JSON.stringify([lines, perch.output]);
      for (const secret of [TOKEN, BEARER, x.grants.access, x.grants.refresh]) expect(written).not.toContain(secret);
      client.close();
    },
    120_000,
  );
});
