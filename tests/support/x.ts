import { expect } from 'vitest';
import { oauthPort } from '#shared/ports/oauth.ts';
import { channelGateway, egress } from './channels.ts';
import { FakeClock } from './clock.ts';
import { FakeBridge, lend } from './fake-bridge.ts';
import type { Script } from './gateway.ts';
import { BEARER, xServer } from './x-server.ts';

export const REDIRECT = 'http://127.0.0.1:7333/oauth/callback';

/** X’s server, and a gateway that is connected to it. */
export async function connected(settings: Record<string, unknown> = {}, { model, pageSize }: { model?: Script; pageSize?: number } = {}) {
  const clock = new FakeClock();
  const server = await xServer(clock, pageSize === undefined ? {} : { pageSize });
  const oauth = lend(oauthPort, { 'oauth.callback': () => Promise.resolve({ redirectUri: REDIRECT }) });
  const x = { enabled: true, bearerToken: BEARER, socialUsername: 'perch', apiBase: server.url, allowedUsers: [], ...settings };
  const gw = await channelGateway({ x }, { clock, bridge: new FakeBridge(egress, oauth), ...(model ? { model } : {}) });
  const { client } = await gw.client();
  const status = () => gw.status('x');
  return {
    ...{ server, gw, client, clock, status },
    /** Larger steps: polls are minutes apart. */
    passes: (condition: () => boolean | Promise<boolean>, what?: string) => gw.passes(condition, what, 5_000),
    runs: () => gw.passes(async () => (await status()).status === 'running', 'it runs'),
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Repeats the message. */
export const echo: Script = ({ body: { messages } }) => [`You said: ${String(messages.at(-1)?.content)}`];

export type Connected = Awaited<ReturnType<typeof connected>>;

/** The owner of the account allows it, and the browser comes back. */
export async function authorize(at: Pick<Connected, 'client' | 'server' | 'gw'>): Promise<URLSearchParams> {
  const { url } = await at.client.call('channels.authorize', { channelId: 'x' });
  const wanted = new URL(url).searchParams;
  const code = at.server.allow(url);
  const back = `${REDIRECT}?code=${code}&state=${wanted.get('state') ?? ''}`;
  const page = await at.gw.gateway.fetch(new Request(back), { id: 'anybody', scopes: [] });
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('connected')]);
  return wanted;
}
