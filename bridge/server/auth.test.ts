import { describe, expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { importSecret, createProof } from '#shared/link/link-credentials.ts';
import type { OwnerPassword } from '../owner-password.ts';
import { AuthLimiter } from './auth-limiter.ts';
import { Authenticator, getBearerToken } from './auth.ts';

const TOKEN = 'T'.repeat(43);
const credential = (id: string, kind: 'app' | 'host') => ({ id, kind, secret: 'S'.repeat(42) + 'E', createdAt: 0 });

function setUp(
  token = TOKEN,
  password: Pick<OwnerPassword, 'check' | 'isSet'> = { check: async () => undefined, isSet: async () => false },
) {
  const clock = { now: 0 };
  const locks: string[] = [];
  const limiter = new AuthLimiter({ now: () => clock.now, onlock: (key) => locks.push(key) });
  return {
    clock,
    locks,
    auth: new Authenticator({
      ...{ token, access: { find: () => undefined }, password, limiter },
      credentials: [credential('a', 'app'), credential('h', 'host')],
    }),
  };
}

const codes = (auth: Authenticator, tries: number, origin?: string) =>
  Array.from({ length: tries }, () => auth.checkToken('wrong', origin)).map((verdict) => (verdict.ok ? 'ok' : verdict.code));

describe('failed credentials', () => {
  verifies('admission/guessing', 'answered ten times a minute, then locked out for 5 minutes, told once', () => {
    const { auth, clock, locks } = setUp();
    expect(codes(auth, 10)).toEqual(Array(10).fill('AUTH_REQUIRED'));
    expect(auth.checkToken('wrong', undefined)).toEqual({
      ok: false,
      code: 'RATE_LIMITED',
      message: 'Too many failed attempts. Try again in 300 s.',
      retryAfterMs: 300_000,
    });
    clock.now = 299_999;
    expect(codes(auth, 3)).toEqual(Array(3).fill('RATE_LIMITED'));
    clock.now = 300_000;
    expect(codes(auth, 1)).toEqual(['AUTH_REQUIRED']);
    expect(locks).toEqual(['token from programs']);
  });

  it('are forgotten after a minute', () => {
    const { auth, clock } = setUp();
    codes(auth, 9);
    clock.now = 60_000;
    expect(codes(auth, 10)).toEqual(Array(10).fill('AUTH_REQUIRED'));
    expect(codes(auth, 1)).toEqual(['RATE_LIMITED']);
  });

  it('are counted for each origin and kind of credential by itself', async () => {
    const { auth } = setUp();
    codes(auth, 11, 'http://a');
    expect(codes(auth, 1, 'http://b')).toEqual(['AUTH_REQUIRED']);
    expect(await auth.checkConnect({ credentialId: 'a', nonce: 'n'.repeat(16), proof: 'x' }, undefined, 'nonce', 'http://a')).toMatchObject(
      { code: 'AUTH_REQUIRED' },
    );
    expect(auth.deny('code', 'http://a', 'no')).toMatchObject({ code: 'AUTH_REQUIRED' });
  });

  verifies('admission/guessing', 'they never keep the owner out; only a token that could be guessed', async () => {
    const { auth } = setUp();
    codes(auth, 20);
    expect(auth.checkToken(TOKEN, undefined)).toMatchObject({ ok: true, principal: 'owner', scopes: ['read', 'write', 'admin'] });
    const weak = setUp('hunter2').auth;
    expect(weak.checkToken('hunter2', undefined)).toMatchObject({ ok: true });
    codes(weak, 20);
    expect(weak.checkToken('hunter2', undefined)).toMatchObject({ ok: false, code: 'RATE_LIMITED' });
  });

  it('requests without credentials do not count as failed tries', () => {
    const { auth } = setUp();
    for (let i = 0; i < 50; i++) expect(auth.checkToken(undefined, undefined)).toMatchObject({ code: 'AUTH_REQUIRED' });
    expect(codes(auth, 1)).toEqual(['AUTH_REQUIRED']);
  });
});

describe('passwords', () => {
  const byPassword = (auth: Authenticator, password: string, origin?: string, more: object = {}) =>
    auth.checkConnect({ password, ...more }, undefined, 'nonce', origin);

  verifies(
    'password/locked-out',
    'ten tries, however many come at one time; then refused unchecked, the right one too; never the token',
    async () => {
      const checked: string[] = [];
      const { auth, clock, locks } = setUp(TOKEN, {
        isSet: async () => true,
        check: async (params) => {
          checked.push(params);
          await Promise.resolve();
          return params === 'the right one' ? () => () => {} : undefined;
        },
      });
      const verdicts = await Promise.all(Array.from({ length: 40 }, (_, n) => byPassword(auth, `guess ${n}`)));
      expect(checked).toHaveLength(10);
      expect(verdicts.map((verdict) => (verdict.ok ? 'ok' : verdict.code))).toEqual([
        ...Array(10).fill('AUTH_REQUIRED'),
        ...Array(30).fill('RATE_LIMITED'),
      ]);
      expect(await byPassword(auth, 'the right one')).toMatchObject({ ok: false, code: 'RATE_LIMITED', retryAfterMs: 300_000 });
      expect(checked).toHaveLength(10);
      expect(locks).toEqual(['password from programs']);
      expect(auth.checkToken(TOKEN, undefined)).toMatchObject({ ok: true });
      expect(await byPassword(auth, 'the right one', undefined, { token: TOKEN })).toMatchObject({ ok: true });
      // Other origins and other kinds of credentials are counted separately.
      expect(await byPassword(auth, 'the right one', 'http://a')).toMatchObject({
        ok: true,
        principal: 'owner',
        scopes: ['read', 'write', 'admin'],
      });
      expect(codes(auth, 1)).toEqual(['AUTH_REQUIRED']);
      clock.now = 300_000;
      expect(await byPassword(auth, 'the right one')).toMatchObject({ ok: true });
    },
  );
});

describe('proofs', () => {
  const prover = async (purpose: 'app' | 'uplink', serverNonce: string, by: 'client' | 'server' = 'client') => {
    const nonce = 'client-nonce-0000';
    return { nonce, proof: await createProof(await importSecret('S'.repeat(42) + 'E'), by, purpose, serverNonce, nonce) };
  };

  verifies('uplink/mutual-proof', 'an app gets in by its own credential, purpose and challenge alone', async () => {
    const { auth } = setUp();
    const good = await prover('app', 'challenge-1');
    const key = await importSecret('S'.repeat(42) + 'E');
    expect(await auth.checkConnect({ credentialId: 'a', ...good }, undefined, 'challenge-1', undefined)).toEqual({
      ok: true,
      principal: 'app:a',
      scopes: ['read', 'write', 'admin'],
      proof: await createProof(key, 'server', 'app', 'challenge-1', good.nonce),
      hold: expect.any(Function) as unknown,
    });
    const refused = [
      auth.checkConnect({ credentialId: 'a', ...good }, undefined, 'challenge-2', undefined),
      auth.checkConnect({ credentialId: 'h', ...good }, undefined, 'challenge-1', undefined),
      auth.checkConnect({ credentialId: '__proto__', ...good }, undefined, 'challenge-1', undefined),
      auth.checkConnect({ credentialId: 'a', ...(await prover('uplink', 'challenge-1')) }, undefined, 'challenge-1', undefined),
      auth.checkConnect({ credentialId: 'a', ...(await prover('app', 'challenge-1', 'server')) }, undefined, 'challenge-1', undefined),
      auth.checkConnect({ credentialId: 'a', nonce: good.nonce, proof: '%%%' }, undefined, 'challenge-1', undefined),
      auth.checkConnect({ credentialId: 'a', nonce: good.nonce, proof: 5 }, undefined, 'challenge-1', undefined),
    ];
    for (const verdict of await Promise.all(refused)) expect(verdict).toMatchObject({ ok: false, code: 'AUTH_REQUIRED' });
  });

  it('admit a host and identify its kind; the headless credential expires once there is a newer one', async () => {
    const { auth } = setUp();
    const good = await prover('uplink', 'c');
    expect(await auth.checkUplink({ credentialId: 'h', ...good }, 'c', 'o')).toMatchObject({ ok: true, kind: 'tab' });
    expect(await auth.checkUplink({ credentialId: 'a', ...good }, 'c', 'o')).toMatchObject({ ok: false });
    const first = auth.issueHeadless();
    const headless = {
      credentialId: first.id,
      nonce: good.nonce,
      proof: await createProof(await importSecret(first.secret), 'client', 'uplink', 'c', good.nonce),
    };
    expect(await auth.checkUplink(headless, 'c', 'o')).toMatchObject({ ok: true, kind: 'headless' });
    auth.issueHeadless();
    expect(await auth.checkUplink(headless, 'c', 'o')).toMatchObject({ ok: false });
  });
});

it.each([
  ['Bearer abc', 'abc'],
  ['bearer   abc ', 'abc'],
  ['Bearer', undefined],
  ['Basic abc', undefined],
  ['Bearer a b', undefined],
  [undefined, undefined],
])('the token of %j is %j', (header, expected) => expect(getBearerToken(header)).toBe(expected));
