import { expect } from 'vitest';
import { oauthPort } from '#shared/ports/oauth-port.ts';
import { createChannelGateway, egressCapability } from './channel-gateway.ts';
import { FakeClock } from './fake-clock.ts';
import { FakeBridge, createCapability } from './fake-bridge.ts';
import type { ModelScript } from './test-gateway.ts';
import { APP_BEARER, startXServer } from './x-server.ts';

export const REDIRECT_URI = 'http://127.0.0.1:7333/oauth/callback';

/** Starts X’s test server and a gateway connected to it. */
export async function createXGateway(
  settings: Record<string, unknown> = {},
  { model, pageSize }: { model?: ModelScript; pageSize?: number } = {},
) {
  const clock = new FakeClock();
  const server = await startXServer(clock, pageSize === undefined ? {} : { pageSize });
  const oauth = createCapability(oauthPort, { 'oauth.callback': () => Promise.resolve({ redirectUri: REDIRECT_URI }) });
  const x = { enabled: true, bearerToken: APP_BEARER, socialUsername: 'perch', apiBase: server.url, allowedUsers: [], ...settings };
  const gw = await createChannelGateway({ x }, { clock, bridge: new FakeBridge(egressCapability, oauth), ...(model ? { model } : {}) });
  const { client } = await gw.client();
  const status = () => gw.status('x');
  return {
    ...{ server, gw, client, clock, status },
    /** Larger steps: polls are minutes apart. */
    passes: (condition: () => boolean | Promise<boolean>, label?: string) => gw.advanceUntil(condition, label, 5_000),
    runs: () => gw.advanceUntil(async () => (await status()).status === 'running', 'it runs'),
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A model that repeats the message. */
export const echoScript: ModelScript = ({ body: { messages } }) => [`You said: ${String(messages.at(-1)?.content)}`];

type XGateway = Awaited<ReturnType<typeof createXGateway>>;

/** Grants access as the account's owner and follows the redirect. */
export async function authorizeAccount(at: Pick<XGateway, 'client' | 'server' | 'gw'>): Promise<URLSearchParams> {
  const { url } = await at.client.call('channels.authorize', { channelId: 'x' });
  const authorizeParams = new URL(url).searchParams;
  const code = at.server.allow(url);
  const back = `${REDIRECT_URI}?code=${code}&state=${authorizeParams.get('state') ?? ''}`;
  const page = await at.gw.gateway.fetch(new Request(back), { id: 'anybody', scopes: [] });
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('connected')]);
  return authorizeParams;
}
