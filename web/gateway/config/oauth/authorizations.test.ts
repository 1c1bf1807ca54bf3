import { describe, expect } from 'vitest';
import { oauthPort } from '#shared/ports/oauth-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { createOauthHandlers } from '../../../../bridge/capabilities/oauth-handlers.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { FakeBridge, createCapability } from '../../../../tests/support/fake-bridge.ts';
import { Authorizations, type AuthorizationGrant, AUTHORIZATION_TIMEOUT_MS } from './authorizations.ts';

const CALLBACK = 'http://127.0.0.1:7333/oauth/callback';

function createAuthorizations() {
  const clock = new FakeClock();
  const faults: unknown[] = [];
  const authorizations = new Authorizations({
    clock,
    bridge: new FakeBridge(createCapability(oauthPort, createOauthHandlers(CALLBACK))),
    fault(error) {
      faults.push(error);
      return new RpcError('INTERNAL_ERROR', 'Something went wrong (id)');
    },
  });
  const traded: AuthorizationGrant[] = [];
  const failures: string[] = [];
  return {
    ...{ clock, faults, authorizations, traded, failures },
    begin: (owner = 'The server far', complete?: (granted: AuthorizationGrant, signal: AbortSignal) => Promise<void>) =>
      authorizations.start({
        owner,
        complete: async (granted, signal) => {
          traded.push(granted);
          await complete?.(granted, signal);
        },
        onFailed: ({ message }) => failures.push(message),
      }),
    answer: (query: Record<string, string> | string) => authorizations.handleCallback(new URLSearchParams(query)),
  };
}

describe('an authorization', () => {
  verifies('oauth/state', 'good once, with a state of 256 bits, at the address of the bridge', async () => {
    const { begin, answer, traded } = createAuthorizations();
    const { state, redirectUri } = await begin();
    expect(redirectUri).toBe(CALLBACK);
    expect(state).toMatch(/^[\w-]{43}$/);
    expect((await begin('Another')).state).not.toBe(state);
    expect(await Promise.all(Array.from({ length: 4 }, () => answer({ state, code: 'c1', iss: 'https://a.test' })))).toMatchObject([
      { status: 200, text: expect.stringContaining('You can close this window') },
      ...Array.from({ length: 3 }, () => ({ status: 404 })),
    ]);
    expect(traded).toEqual([{ code: 'c1', iss: 'https://a.test' }]);
  });

  verifies('oauth/state', 'over after ten minutes, whatever the wall clock says', async () => {
    const { begin, answer, clock, failures, traded } = createAuthorizations();
    const { state } = await begin();
    clock.jump(AUTHORIZATION_TIMEOUT_MS * 10);
    clock.advance(AUTHORIZATION_TIMEOUT_MS - 1);
    const { state: later } = await begin('Another');
    expect(failures).toEqual([]);
    clock.advance(1);
    expect(failures).toEqual(['The server far was not authorized: it timed out after 10 minutes.']);
    expect(await answer({ state, code: 'c' })).toMatchObject({ status: 404 });
    expect(await answer({ state: later, code: 'c' })).toMatchObject({ status: 200 });
    expect([traded.length, clock.pending()]).toEqual([1, 0]);
  });

  verifies('oauth/state', 'a later one of the same owner takes its place; so many are pending, and the oldest make room', async () => {
    const { begin, answer, failures, authorizations, clock } = createAuthorizations();
    const first = await begin();
    const second = await begin();
    expect(failures).toEqual(['The server far was not authorized: authorization was started again.']);
    expect(await answer({ state: first.state, code: 'c' })).toMatchObject({ status: 404 });
    for (let n = 0; n < 32; n++) await begin(`Other ${n}`);
    expect(failures).toHaveLength(2);
    expect(await answer({ state: second.state, code: 'c' })).toMatchObject({ status: 404 });
    authorizations.cancel('Other 3');
    expect(failures[2]).toContain('Other 3 was not authorized');
    authorizations.stop();
    expect([failures.length, clock.pending()]).toEqual([34, 0]);
    await expect(begin()).rejects.toThrow('The gateway was closed.');
  });

  verifies('oauth/denied', 'nothing is traded, and its owner is told', async () => {
    const { begin, answer, failures, traded } = createAuthorizations();
    const { state } = await begin();
    const page = await answer({ state, code: 'c', error: 'access_denied', error_description: 'No\u202e <b>way</b>' });
    expect(page).toMatchObject({ status: 403, title: 'Access denied', text: expect.stringContaining('start in Perch') });
    expect(page.text).toContain(String.raw`access_denied: No\u{202e} <b>way</b>`);
    expect(failures).toEqual([
      String.raw`The server far was not authorized: the service responded "access_denied: No\u{202e} <b>way</b>".`,
    ]);
    expect(await answer({ state, code: 'c' })).toMatchObject({ status: 404 });
    const bare = await begin();
    expect(await answer({ state: bare.state })).toMatchObject({ status: 403 });
    expect([traded, failures.length]).toEqual([[], 2]);
  });

  verifies('oauth/page', 'what went wrong in trading the code, and what to do', async () => {
    const { begin, answer, faults, failures, clock } = createAuthorizations();
    const own = await begin('A', () => Promise.reject(new RpcError('AUTH_REQUIRED', 'the code is not taken')));
    expect(await answer({ state: own.state, code: 'c' })).toMatchObject({
      status: 502,
      text: 'Couldn’t connect A: the code is not taken. To try again, start in Perch.',
    });
    const odd = await begin('B', () => Promise.reject(new TypeError('secret')));
    expect(await answer({ state: odd.state, code: 'c' })).toMatchObject({ status: 502, text: expect.not.stringContaining('secret') });
    expect(faults).toHaveLength(1);
    const silent = await begin('C', () => new Promise(() => {}));
    const waiting = answer({ state: silent.state, code: 'c' });
    await clock.waitForTimer(60_000);
    clock.advance(60_000);
    expect(await waiting).toMatchObject({ status: 502, text: expect.stringContaining('did not respond within a minute') });
    expect(failures).toEqual([]);
  });

  verifies('oauth/page', 'addresses that are none of ours say what to do, and nothing of what they carry', async () => {
    const { begin, answer, traded } = createAuthorizations();
    const { state } = await begin();
    const incomplete: (string | Record<string, string>)[] = [
      {},
      { code: 'evil' },
      { state: '', code: 'evil' },
      `state=${state}&state=evil&code=c`,
      { state: 'x'.repeat(5000) },
    ];
    for (const query of incomplete) expect(await answer(query)).toMatchObject({ status: 400, text: expect.not.stringContaining('evil') });
    for (const wrong of ['evil', state.slice(1), `${state}A`, 'constructor', '__proto__'])
      expect(await answer({ state: wrong, code: 'evil', error_description: 'evil' })).toMatchObject({
        status: 404,
        text: expect.not.stringContaining('evil'),
      });
    expect(traded).toEqual([]);
    expect(await answer({ state, code: 'c' })).toMatchObject({ status: 200 });
  });
});

verifies('oauth/callback', 'without a bridge there is nowhere to come back to', async () => {
  const { bridge, ...rest } = { bridge: new FakeBridge(), clock: new FakeClock(), fault: () => new RpcError('INTERNAL_ERROR', '') };
  const authorizations = new Authorizations({ bridge, ...rest });
  await expect(authorizations.start({ owner: 'A', complete: async () => {} })).rejects.toMatchObject({
    extra: { details: { reason: 'needs-bridge' } },
  });
});
