import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { createTempFolder } from '../backup/fixture.ts';
import { startCliGateway, runPerch } from './tests/cli-gateway.ts';

const oneLine = /^perch: [^\n]+\n$/;
const ms = expect.any(Number) as number;

verifies(
  ['cli.status/row', 'cli/json'],
  'shows the service and the gateway’s status; more with --deep, none of it with --no-probe',
  async () => {
    await using cli = await startCliGateway();
    using config = createTempFolder();
    const env = { XDG_CONFIG_HOME: config.path, HOME: config.path };
    const status = async (...args: string[]): Promise<unknown> => {
      const { code, stdout, stderr } = await cli.run(['gateway', 'status', '--port', cli.port, '--json', ...args], { env });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return JSON.parse(stdout);
    };
    const service = { status: 'not-installed', port: Number(cli.port) };
    const health = { status: 'ok', uptime: ms, connections: ms };
    expect(await status()).toEqual({ service, probe: { reachable: true, latencyMs: ms, payload: health } });
    expect(await status('--no-probe')).toEqual({ service });
    expect(await status('--deep')).toMatchObject({
      probe: {
        payload: {
          info: { version: expect.any(String) },
          presence: expect.arrayContaining([expect.objectContaining({ component: 'gateway' })]),
        },
      },
    });
    const text = await cli.run(['gateway', 'status', '--port', cli.port, '--deep'], { env });
    expect(text.stdout).toMatch(
      /^Service {2}not installed, port \d+\nGateway {2}reachable in [\d.]+ ms: ok, .*\nSystem\n[^]*\n {2}gateway: online\n/,
    );
  },
);

verifies(['cli.status/row', 'cli/errors'], 'a gateway that does not answer: the JSON tells why, one line too, exit code 1', async () => {
  using home = createTempFolder();
  const env = { PERCH_HOME: home.path, XDG_CONFIG_HOME: home.path };
  const down = await runPerch(['gateway', 'status', '--port', '1', '--json'], env);
  expect(down).toMatchObject({ code: 1, stderr: expect.stringMatching(oneLine) });
  expect(JSON.parse(down.stdout)).toEqual({
    service: { status: 'not-installed', port: 1 },
    probe: { reachable: false, latencyMs: ms, error: expect.stringMatching(/ECONNREFUSED/) },
  });
  expect(await runPerch(['gateway', 'status', '--port', '1', '--no-probe'], env)).toMatchObject({ code: 0, stderr: '' });
});

verifies(['cli.probe/row', 'cli/json'], 'step by step: which of them fails is told', async () => {
  await using cli = await startCliGateway();
  const well = await cli.run(['gateway', 'probe', '--url', cli.bridge.url, '--json']);
  expect(well).toMatchObject({ code: 0, stderr: '' });
  const reachable = { reachable: true, latencyMs: ms };
  expect(JSON.parse(well.stdout)).toEqual({
    ok: true,
    probes: [
      { name: 'http', url: `${cli.bridge.url}/health`, ...reachable, payload: expect.objectContaining({ status: 'ok' }) },
      { name: 'websocket', url: expect.stringMatching(/^ws:.*\/ws$/), ...reachable, payload: { event: 'connect.challenge' } },
      { name: 'rpc', url: expect.stringMatching(/^ws:/), ...reachable, payload: expect.objectContaining({ status: 'ok' }) },
    ],
  });
  const wrong = await cli.run(['gateway', 'probe', '--port', cli.port, '--json'], { env: { PERCH_TOKEN: 'w'.repeat(43) } });
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringMatching(/^perch: [^\n]*Incorrect token[^\n]*\n$/) });
  expect(JSON.parse(wrong.stdout)).toMatchObject({ ok: false, probes: [{ reachable: true }, { reachable: true }, { reachable: false }] });
});

verifies('cli/timeouts', 'a silent gateway times out after --timeout', async () => {
  using home = createTempFolder();
  const silent = createServer();
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const address = silent.address();
  const port = String(typeof address === 'object' && address ? address.port : 0);
  try {
    for (const command of ['status', 'probe', 'call']) {
      const args = ['gateway', command, ...(command === 'call' ? ['health'] : []), '--port', port, '--timeout', '200'];
      expect(await runPerch(args, { PERCH_HOME: home.path })).toMatchObject({ code: 1, stderr: expect.stringMatching(oneLine) });
    }
  } finally {
    silent.close();
  }
});

verifies(['cli.call/row', 'cli/json', 'cli/escape'], 'parameters as JSON, of a file or of standard input; the answer as JSON', async () => {
  await using cli = await startCliGateway();
  const call = (args: string[], input = ''): ReturnType<typeof cli.run> =>
    cli.run(['gateway', 'call', ...args, '--port', cli.port], { input });
  const params = { title: 'a plan' };
  await call(['chat.send', '--params', JSON.stringify({ message: 'hello', sessionId: 'called' })]);
  const { stdout } = await call(['sessions.list', '--json']);
  expect(stdout).toMatch(/^\{[^\n]*\}\n$/);
  const { sessions } = JSON.parse(stdout) as { sessions: { path: string }[] };
  expect(sessions).toHaveLength(1);
  const rename = JSON.stringify({ path: sessions[0]?.path, ...params });
  using dir = createTempFolder();
  writeFileSync(join(dir.path, 'params.json'), rename);
  for (const [flags, input] of [
    [rename, ''],
    [`@${join(dir.path, 'params.json')}`, ''],
    ['-', rename],
  ] as const) {
    const renamed = await call(['sessions.rename', '--params', flags], input);
    expect(renamed).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(renamed.stdout)).toMatchObject({ session: { title: 'a plan' } });
  }
  await call(['chat.send', '--params', JSON.stringify({ message: 'a \u202e plan', sessionId: 'odd' })]);
  const history = ['chat.history', '--params', '{"sessionId":"odd"}'];
  const [pretty, raw] = [await call(history), await call([...history, '--raw'])];
  expect([pretty.stdout.includes('\u202e'), raw.stdout.includes('\u202e')]).toEqual([false, true]);
  expect(JSON.parse(pretty.stdout)).toEqual(JSON.parse(raw.stdout));
  for (const [args, code, says] of [
    [['nonsense'], 1, /^perch: METHOD_NOT_FOUND: /],
    [['chat.history', '--params', '{"sessionId":"none"}'], 1, /^perch: NOT_FOUND: /],
    [['chat.history', '--params', '{}'], 1, /^perch: INVALID_PARAMS: /],
    [['health', '--params', '@/no/such/file'], 1, /^perch: --params: /],
    [['health', '--params', '[]'], 2, /^perch: --params must be a JSON object/],
    [['health', '--params', '{'], 2, /^perch: --params is not valid JSON/],
  ] as const) {
    const refused = await call([...args]);
    expect({ args, code: refused.code, stdout: refused.stdout }).toEqual({ args, code, stdout: '' });
    expect(refused.stderr).toMatch(says);
    expect(refused.stderr).toMatch(oneLine);
  }
});
