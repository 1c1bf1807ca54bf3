import { describe, expect } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import { channelSettings } from '../../../config/sections/channel-settings.ts';
import { XAuthorization } from './x-authorization.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { waitFor } from '../../../../../tests/support/test-gateway.ts';
import { failFirst } from '../../../../../tests/support/platform-server.ts';
import { authorizeAccount, createXGateway, echoScript, REDIRECT_URI } from '../../../../../tests/support/x-gateway.ts';
import { isMentionsRequest } from '../../../../../tests/support/x-server.ts';

const MINUTE = 60_000;

describe('direct messages', () => {
  const DIRECT = { monitorDMs: true, clientId: 'client-id' };

  verifies(
    ['channels/x-direct', 'channels/oauth'],
    'by the account’s own authorization, with PKCE; answered to whoever wrote',
    async () => {
      await using at = await createXGateway(DIRECT, { model: echoScript });
      await at.passes(async () => Boolean((await at.status()).problem?.includes('channels.authorize')), 'what is missing');
      const scopeParams = await authorizeAccount(at);
      expect(Object.fromEntries(scopeParams)).toMatchObject({
        response_type: 'code',
        client_id: 'client-id',
        redirect_uri: REDIRECT_URI,
        scope: 'dm.read dm.write tweet.read tweet.write users.read offline.access',
        code_challenge_method: 'S256',
      });
      await at.passes(async () => (await at.status()).status === 'running');
      at.server.addDirectMessage('in private');
      at.server.addMention('in public');
      await at.passes(() => at.server.ownDirect().length === 1 && at.server.own().length === 1, 'both answers');
      expect(at.server.ownDirect()).toMatchObject([{ text: 'You said: in private', with: '2001' }]);
      expect((await at.client.call('sessions.list', {})).sessions.map(({ sessionId }) => sessionId).sort()).toEqual([
        'x-2001',
        'x-dm-2001',
      ]);
      // The token is used until it expires, and renewed once for all callers.
      at.server.addDirectMessage('hours later');
      await at.gw.advanceUntil(() => at.server.ownDirect().length === 2, 'hours later', MINUTE);
      const before = at.server.grants.count;
      const end = at.clock.now() + 5 * 3_600_000;
      await at.gw.advanceUntil(() => at.clock.now() > end, 'five hours', 5 * MINUTE);
      at.server.addDirectMessage('and later');
      at.server.addMention('and later too');
      await at.gw.advanceUntil(() => at.server.ownDirect().length === 3, 'later still', MINUTE);
      expect(at.server.grants.count).toBeGreaterThan(before);
      expect(new Set(at.server.grants.used).size).toBe(at.server.grants.used.length);
      const { lines } = await at.client.call('logs.tail', { limit: 2000 });
      for (const text of [JSON.stringify(lines), JSON.stringify(await at.client.call('config.get', {}))])
        expect(text).not.toMatch(/(access|refresh)-\d+-of/);
      expect(at.gw.faults).toEqual([]);
    },
  );

  verifies('channels/oauth', 'an authorization that was taken back is told; mentions go on', async () => {
    await using at = await createXGateway(DIRECT, { model: echoScript });
    await authorizeAccount(at);
    await at.passes(async () => (await at.status()).status === 'running');
    at.server.grants.refresh = 'another';
    const end = at.clock.now() + 3 * 3_600_000;
    await at.gw.advanceUntil(() => at.clock.now() > end, 'three hours', 5 * MINUTE);
    await at.passes(async () => Boolean((await at.status()).problem?.includes('no longer valid')), 'it is told');
    const looks = at.server.looks();
    await at.gw.advanceUntil(() => at.server.looks() > looks, 'mentions are looked for', MINUTE);
    await authorizeAccount(at);
    await at.passes(async () => (await at.status()).status === 'running');
  });

  verifies('channels/errors', 'failing mentions do not delay direct messages, and are reported until resolved', async () => {
    await using at = await createXGateway(DIRECT, { model: echoScript });
    await authorizeAccount(at);
    await at.passes(async () => (await at.status()).status === 'running');
    at.server.fault = (asked) => (isMentionsRequest(asked) ? { status: 500, body: '' } : undefined);
    at.server.addMention('both');
    await at.gw.advanceUntil(async () => Boolean((await at.status()).problem?.includes('500')), 'it is told', 20_000);
    at.server.addDirectMessage('still there?');
    await at.passes(() => at.server.ownDirect().length === 1, 'the direct answer');
    expect(await at.status()).toMatchObject({ status: 'error', running: true });
    at.server.fault = () => ({ status: 502, body: '' });
    await at.gw.advanceUntil(async () => !(await at.status()).running, 'nothing works', 20_000);
    at.server.fault = () => undefined;
    await at.gw.advanceUntil(() => at.server.own().length === 1, 'the mention', 20_000);
    await at.gw.advanceUntil(async () => (await at.status()).status === 'running', 'all is well', 20_000);
  });

  verifies('channels/once', 'a direct answer that broke off is looked for', async () => {
    await using at = await createXGateway({ ...DIRECT, monitorMentions: false }, { model: echoScript });
    await authorizeAccount(at);
    await at.passes(async () => (await at.status()).status === 'running');
    at.server.fault = failFirst(1, { cut: 'done' }, ({ method, path }) => method === 'POST' && path.startsWith('/2/dm_'));
    at.server.addDirectMessage('once');
    await at.passes(async () => (await at.status()).metrics?.messages_sent === 1);
    expect(at.server.ownDirect().map(({ text }) => text)).toEqual(['You said: once']);
  });

  verifies('channels/oauth', 'whoever wants a new token at the same time gets the same one, also past a caller who leaves', async () => {
    await using at = await createXGateway({ ...DIRECT, enabled: false });
    await authorizeAccount(at);
    const { x } = channelSettings.parse({ x: { bearerToken: 'b', clientId: 'client-id', apiBase: at.server.url } });
    const hidden: string[] = [];
    const account = new XAuthorization({
      ...{ fetch, clock: at.clock, secrets: at.gw.vault.secrets },
      settings: () => x,
      clientSecret: () => undefined,
      hide: (secrets) => hidden.push(...secrets),
      onAuthorized: () => {},
    });
    const { signal } = new AbortController();
    expect(await account.getToken(signal)).toBe('access-1-of-the-account');
    at.clock.advance(2 * 3_600_000);
    const leaves = new AbortController();
    const answers = Promise.withResolvers<void>();
    at.server.here.tokensAfter = answers.promise;
    const first = account.getToken(leaves.signal);
    const others = Promise.all([account.getToken(signal), account.getToken(signal)]);
    await waitFor(() => at.server.asked.filter(({ path }) => path.endsWith('/token')).length === 2);
    leaves.abort();
    await expect(first).rejects.toThrow();
    answers.resolve();
    expect(await others).toEqual(['access-2-of-the-account', 'access-2-of-the-account']);
    expect([at.server.grants.count, await account.getToken(signal)]).toEqual([2, 'access-2-of-the-account']);
    expect(hidden).toEqual(expect.arrayContaining(['access-2-of-the-account', 'refresh-2-of-the-account']));
    // A host that looked before, and continues when another has renewed the token.
    at.clock.advance(2 * 3_600_000);
    const gate = Promise.withResolvers<void>();
    const looking = Promise.withResolvers<void>();
    const gates = [gate.promise];
    const { secrets } = at.gw.vault;
    const slow = new XAuthorization({
      ...{ fetch, clock: at.clock },
      secrets: {
        set: (name, value) => secrets.set(name, value),
        async get(name) {
          // The first to look is held up, regardless of the order of the responses.
          const nextGate = gates.shift();
          looking.resolve();
          const text = await secrets.get(name);
          await nextGate;
          return text;
        },
      },
      settings: () => x,
      clientSecret: () => undefined,
      hide: () => {},
      onAuthorized: () => {},
    });
    const late = slow.getToken(signal);
    await looking.promise;
    expect(await slow.getToken(signal)).toBe('access-3-of-the-account');
    gate.resolve();
    expect([await late, at.server.grants.count]).toEqual(['access-3-of-the-account', 3]);
    // To another server they do not go.
    const elsewhere = new XAuthorization({
      ...{ fetch, clock: at.clock, secrets: at.gw.vault.secrets },
      settings: () => x && { ...x, apiBase: 'http://elsewhere.test' },
      clientSecret: () => undefined,
      hide: () => {},
      onAuthorized: () => {},
    });
    expect(await elsewhere.getToken(signal)).toBeUndefined();
  });

  verifies('channels/oauth', 'only a person begins one, with the app’s id', async () => {
    await using at = await createXGateway({});
    const program = await GatewayClient.connect(at.gw.link({ principal: 'key:abc' }), { params: { clientName: 'a program' } });
    await expect(program.call('channels.authorize', { channelId: 'x' })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    await expect(at.client.call('channels.authorize', { channelId: 'x' })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      message: expect.stringContaining('clientId') as string,
    });
  });
});
