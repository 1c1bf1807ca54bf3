import { readFile, stat, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { OwnerPassword } from '../owner-password.ts';
import { startTestBridge, type TestBridge } from './tests/test-bridge.ts';
import { TestSocketClient } from './tests/test-client.ts';

const PASSWORD = 'correct horse battery';

async function connect(bridge: TestBridge, auth: Record<string, unknown>) {
  const client = await TestSocketClient.open(bridge.url);
  return { client, answer: await client.call('connect', { minProtocol: 3, maxProtocol: 3, auth }) };
}

describe('a password', () => {
  verifies(
    ['password/off', 'password/connects'],
    'lets nobody in until it is set; then the owner, with all rights, over WebSocket alone',
    async () => {
      await using bridge = await startTestBridge();
      const host = await bridge.attach();
      const before = await connect(bridge, { password: PASSWORD });
      expect(before.answer).toMatchObject({
        ok: false,
        error: { code: 'AUTH_REQUIRED', message: expect.stringContaining('no password is set') },
      });
      expect(await before.client.closed).toMatchObject({ code: 1008 });

      await new OwnerPassword(bridge.home.passwordFile).set(PASSWORD);
      for (const auth of [
        { password: PASSWORD },
        { token: 'a wrong one', password: PASSWORD },
        { token: '', password: PASSWORD },
        { deviceToken: 'a wrong one', password: PASSWORD },
        { token: bridge.token, password: 'a wrong one' },
      ]) {
        const { client, answer } = await connect(bridge, auth);
        expect(answer, JSON.stringify(auth)).toMatchObject({ ok: true });
        expect(host.openings.at(-1)).toMatchObject({ kind: 'rpc', principal: 'owner', scopes: ['read', 'write', 'admin'] });
        client.socket.close();
      }
      for (const password of ['', 'correct horse batter', `${PASSWORD} `, 'x'.repeat(20_000), 5, null, { a: 1 }]) {
        const { client, answer } = await connect(bridge, { password });
        expect(answer, String(password).slice(0, 30)).toMatchObject({ ok: false, error: { code: 'AUTH_REQUIRED' } });
        expect(await client.closed).toMatchObject({ code: 1008 });
      }
      expect((await bridge.http('/v1/models', { token: PASSWORD })).status).toBe(401);
      expect(bridge.lines.join()).not.toContain(PASSWORD);
    },
  );

  verifies('password/hash', 'is stored as a scrypt hash with its own salt, in a file of mode 0600', async () => {
    await using bridge = await startTestBridge();
    const { passwordFile } = bridge.home;
    const password = new OwnerPassword(passwordFile);
    await password.set('Zoë, 8 or more');
    const first = JSON.parse(await readFile(passwordFile, 'utf8')) as Record<string, unknown>;
    expect(first).toEqual({ version: 1, N: 32_768, r: 8, p: 3, salt: expect.any(String), hash: expect.stringMatching(/^[\w-]{43}$/) });
    if (process.platform !== 'win32') expect((await stat(passwordFile)).mode & 0o777).toBe(0o600);
    // The same letters, as composed by another keyboard.
    expect(await password.check('Zoe\u0308, 8 or more')).toBeDefined();
    await password.set('Zoë, 8 or more');
    const second = JSON.parse(await readFile(passwordFile, 'utf8')) as Record<string, unknown>;
    expect([second.salt, second.hash]).not.toContain(first.salt);
    expect(second.hash).not.toBe(first.hash);
  });

  verifies('password/changes', 'changed or removed, ends the sessions that used it, and no others', async () => {
    await using bridge = await startTestBridge({ timing: { passwordMs: 20 } });
    await bridge.attach();
    const password = new OwnerPassword(bridge.home.passwordFile);
    await password.set(PASSWORD);
    const byToken = await TestSocketClient.connect(bridge.url, bridge.token);
    const old = await connect(bridge, { password: PASSWORD });
    await password.set('another password');
    expect(await old.client.closed).toMatchObject({ code: 1008, reason: 'access was revoked' });
    expect((await connect(bridge, { password: PASSWORD })).answer).toMatchObject({ ok: false });
    const next = await connect(bridge, { password: 'another password' });
    expect(next.answer).toMatchObject({ ok: true });
    await password.clear();
    expect(await next.client.closed).toMatchObject({ code: 1008 });
    expect((await connect(bridge, { password: 'another password' })).answer).toMatchObject({ ok: false });
    expect(byToken.socket.readyState).toBe(byToken.socket.OPEN);
  });

  it('with a damaged file admits nobody, and says what to do', async () => {
    await using bridge = await startTestBridge();
    for (const text of [
      '',
      '{}',
      'null',
      '{"version":1,"salt":"AAAAAAAAAAAAAAAAAAAAAA","hash":"AAAAAAAAAAAAAAAAAAAAAA","N":1000000000,"r":8,"p":1}',
    ]) {
      await writeFile(bridge.home.passwordFile, text, { mode: 0o600 });
      expect((await connect(bridge, { password: PASSWORD })).answer, text).toMatchObject({ ok: false, error: { code: 'AUTH_REQUIRED' } });
    }
    expect(bridge.lines).toContainEqual(expect.stringMatching(/password\.json is damaged.*npm run -s perch -- token --set-password/));
  });
});
