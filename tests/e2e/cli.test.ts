import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { findProcesses, waitUntil } from '../../bridge/headless/tests/stub-host-page.ts';
import { verifies } from '../requirements.ts';
import { hasCurl, runPerch, startPerch } from './perch-process.ts';

/** How a command ended that was to fail. */
async function runFailing(args: string[], env?: Record<string, string>): Promise<{ code: number; stdout: string; stderr: string }> {
  const error: unknown = await runPerch(args, { PERCH_HOME: join(tmpdir(), 'perch-none'), ...env }).then(
    () => undefined,
    (error: unknown) => error,
  );
  return error as { code: number; stdout: string; stderr: string };
}

verifies('cli/errors', 'wrong usage is one line and exit code 2', async () => {
  for (const args of [
    [],
    ['nonsense'],
    ['gateway', 'nonsense'],
    ['gateway', 'run', '--nonsense'],
    ['gateway', 'run', '--port', '70000'],
    ['gateway', 'run', '--port', '-1'],
    ['gateway', 'run', '--port', '1e3'],
    ['gateway', 'run', '--host', 'moon'],
    ['gateway', 'run', '--auth-token', 'two words'],
    ['gateway', 'discover', '--timeout', 'soon'],
    ['gateway', 'discover', 'more'],
    ['gateway', 'install', '--port', '0'],
    ['gateway', 'install', '--bind', '0.0.0.0'],
    ['gateway', 'run', '--bind', '0.0.0.0', '--expose', '--tls-cert', 'x.pem'],
    ['gateway', 'run', '--tls-cert', 'x.pem', '--tls-key', 'x.pem'],
    ['gateway', 'install', '--tls-key', 'x.pem'],
    ['gateway', 'uninstall', 'more'],
    ['open', 'more'],
    ['mcp'],
    ['mcp', 'nonsense'],
    ['mcp', 'status', '--port', '0'],
    ['open', '--url', 'nonsense'],
    ['open', '--url', 'https://perch.example'],
    ['open', '--password', 'no way in by it'],
    ['open', '--url', 'ws://127.0.0.1:1', '--port', '1'],
    ['doctor', '--url', 'ws://perch.example'],
    ['doctor', '--token', 'a', '--password', 'b'],
    ['doctor', '--token', 'a', '--auth-token', 'b'],
    ['doctor', '--timeout', '0'],
    ['doctor', '--timeout', '1s'],
    ['gateway', 'status', 'more'],
    ['gateway', 'status', '--url', 'wss://perch.example'],
    ['gateway', 'probe', '--deep'],
    ['gateway', 'probe', '--url', 'ftp://127.0.0.1'],
    ['gateway', 'call'],
    ['gateway', 'call', 'health', '--params', 'nonsense'],
    ['gateway', 'call', 'health', '--params', '[]'],
    ['chat', '--session'],
    ['chat', 'hello', '--nonsense'],
    ['chat', ' '],
    ['sessions', 'nonsense'],
    ['sessions', '--limit', '0'],
    ['sessions', 'export'],
    ['sessions', 'export', 'main/main', '--format', 'pdf'],
    ['logs', '--level', 'nonsense'],
    ['logs', '-n', '2001'],
    ['completion'],
    ['completion', 'tcsh'],
  ]) {
    const { code, stdout, stderr } = await runFailing(args);
    expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' });
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/^perch: \S/);
    expect(stderr).not.toMatch(/\n\s+at /);
  }
});

verifies(['cli/errors', 'admission/bind'], 'what cannot be done is one line and exit code 1', async () => {
  const home = mkdtempSync(join(tmpdir(), 'perch-cli-'));
  try {
    for (const [args, expectedError] of [
      [['open', '--port', '1'], /No gateway is running on port 1/],
      [['gateway', 'run', '--port', '0', '--bind', '0.0.0.0', '--host', 'tab'], /--expose/],
    ] as const) {
      const { code, stderr } = await runFailing([...args], { PERCH_HOME: home });
      expect(code).toBe(1);
      expect(stderr.trimEnd().split('\n')).toEqual([expect.stringMatching(expectedError)]);
    }
    const { code, stderr } = await runFailing(['gateway', 'run', '--port', '0'], { PERCH_HOME: home, PERCH_CHROMIUM: '/no/such/browser' });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^perch: PERCH_CHROMIUM is set to \/no\/such\/browser[^\n]*\n$/),
    });
  } finally {
    rmSync(home, { recursive: true, maxRetries: 20, retryDelay: 50 });
  }
});

verifies('bridge/port-taken', 'the error names who holds the port', async () => {
  const server = createServer((_, response) => response.end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const { code, stderr } = await runFailing(['gateway', 'run', '--host', 'tab', '--port', String(port)]);
  server.close();
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`^perch: [^\\n]*${port}[^\\n]*\\n$`));
  if (process.platform === 'linux') expect(stderr).toContain(String(process.pid));
});

verifies(
  ['cli/three-lines', 'headless/serves', 'bridge/closes'],
  'the three lines are printed when it serves, the `curl` works when pasted, and a signal ends it well',
  async () => {
    await using gateway = await startPerch();
    expect(gateway.output.stdout.trimEnd().split('\n')).toHaveLength(3);
    expect(gateway.wsUrl).toBe(`${gateway.url.replace('http', 'ws')}/ws`);
    expect(gateway.linkUrl).toMatch(/\/#link=[\w-]{20,}$/);
    if (hasCurl) {
      const { stdout } = await promisify(execFile)('sh', ['-c', `${gateway.curl} --silent --show-error --max-time 20`]);
      expect(JSON.parse(stdout)).toMatchObject({
        object: 'chat.completion',
        choices: [{ message: { role: 'assistant', content: expect.stringMatching(/\S/) } }],
      });
    }

    const started = performance.now();
    expect(await gateway.kill('SIGTERM')).toBe(0);
    expect(performance.now() - started).toBeLessThan(3500);
    expect(gateway.output.stdout.trimEnd().split('\n')).toHaveLength(3);
    if (process.platform === 'linux') await waitUntil(() => findProcesses(gateway.home).length === 0);
  },
);

verifies(['cli/open', 'token/file'], '`perch open` prints a new link each time; the token file is the owner’s alone', async () => {
  await using gateway = await startPerch({ host: 'tab' });
  const first = await gateway.open();
  expect(first.startsWith(`${gateway.url}/#link=`)).toBe(true);
  expect(await gateway.open()).not.toBe(first);
  if (process.platform !== 'win32') expect(statSync(join(gateway.home, 'token')).mode & 0o777).toBe(0o600);
  expect(gateway.token).toMatch(/^[\w-]{43}$/);
  expect(await gateway.kill('SIGINT')).toBe(0);
});

test('what a write that was killed has left is gone after the next start', async () => {
  await using gateway = await startPerch({ host: 'tab' });
  const tempFile = join(gateway.home, 'token.0123456789ab.tmp');
  const young = join(gateway.home, 'token.ba9876543210.tmp');
  for (const path of [tempFile, young]) writeFileSync(path, 'half a tok', { mode: 0o600 });
  utimesSync(tempFile, 0, 0);
  await gateway.restart();
  expect([tempFile, young].map((path) => existsSync(path))).toEqual([false, true]);
});

test('a token that is given works, warns where it shows, and is kept for `perch open` only while the gateway runs', async () => {
  const token = 'a-token-that-the-owner-chose-himself-42';
  await using gateway = await startPerch({ host: 'tab', args: ['--auth-token', token] });
  const tokenFile = join(gateway.home, `token.${new URL(gateway.url).port}`);
  expect(gateway.output.stderr).toContain('--auth-token is visible in the process list');
  expect(gateway.output.stdout + gateway.output.stderr).not.toContain(token);
  expect(readFileSync(tokenFile, 'utf8').trim()).toBe(token);
  expect(gateway.curl).toContain(tokenFile);
  expect(await gateway.open()).toContain('#link=');
  const status = async (bearer: string): Promise<number> =>
    (await fetch(`${gateway.url}/link/code`, { method: 'POST', headers: { authorization: `Bearer ${bearer}` } })).status;
  expect(await status(token)).toBe(200);
  expect(await status('x'.repeat(39))).toBe(401);
  await gateway.kill('SIGTERM');
  expect(existsSync(tokenFile)).toBe(false);
});

verifies(
  ['bridge/killed', 'headless/gone', 'storage/acknowledged-is-durable'],
  'killed outright, its client is told, no process is left, and it serves again with all that was acknowledged',
  async () => {
    await using gateway = await startPerch();
    const { url } = gateway;
    const client = await gateway.client();
    await client.call('chat.send', { message: 'where is my data kept?', sessionId: 'kept' });
    await gateway.kill('SIGKILL');
    await client.closed;
    if (process.platform === 'linux') await waitUntil(() => findProcesses(gateway.home).length === 0);

    await gateway.restart();
    expect(gateway.url).toBe(url);
    const again = await gateway.client();
    const { messages } = await again.call('chat.history', { sessionId: 'kept' });
    again.close();
    expect(messages[0]).toMatchObject({ role: 'user', content: 'where is my data kept?' });
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: expect.stringMatching(/\S/) });
  },
);

verifies('secrets/argv-and-logs', 'no token, code or credential is in an argument or on standard error', async () => {
  await using gateway = await startPerch();
  const code = gateway.linkUrl.split('=').at(-1) ?? '';
  const args =
    process.platform === 'linux'
      ? findProcesses(gateway.home).flatMap((process) => process.args)
      : [execFileSync('ps', ['-axo', 'args'], { encoding: 'utf8' })];
  for (const secret of [gateway.token, code]) {
    expect(args.filter((arg) => arg.includes(secret))).toEqual([]);
    expect(gateway.output.stderr).not.toContain(secret);
  }
});

verifies('cli/no-host', 'a bridge without a host is told as that, with how to get one', async () => {
  await using gateway = await startPerch({ host: 'tab' });
  const { port } = new URL(gateway.url);
  for (const words of [['gateway', 'call', 'health'], ['gateway', 'status'], ['sessions'], ['doctor']]) {
    const failed: unknown = await runPerch([...words, '--port', port], { PERCH_HOME: gateway.home }).catch((error: unknown) => error);
    expect(failed).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Perch on port \d+ is running, but no browser runs the gateway.*open --port \d+/),
    });
  }
});
