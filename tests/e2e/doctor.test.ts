import { chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { getPackageVersion } from '../../bridge/package-root.ts';
import { verifies } from '../requirements.ts';
import { runPerch, startPerch } from './perch-process.ts';
import { connectOutside } from './outside-client.ts';

interface Failure {
  code: number;
  stdout: string;
  stderr: string;
}

verifies(
  ['doctor/cli', 'logs/bridge', 'system/info-host', 'doctor/checks'],
  'on a real gateway: `perch doctor` finds a token that others can read, the log has the bridge’s lines, and the host identifies itself',
  async () => {
    await using gateway = await startPerch({ host: 'headless' });
    const args = ['doctor', '--port', new URL(gateway.url).port];
    const env = { PERCH_HOME: gateway.home };
    const well = await runPerch(args, env);
    expect(well.stdout).toMatch(/ passed, (1 warning|(?!1 )\d+ warnings), 0 problems\n$/);
    expect(well.stdout).toMatch(/^ok +Database: Writing and reading work\.$/m);

    if (process.platform !== 'win32') {
      chmodSync(join(gateway.home, 'token'), 0o644);
      const failed = (await runPerch([...args, '--json'], env).catch((error: unknown) => error)) as Failure;
      expect(failed.code).toBe(1);
      const { checks, summary } = JSON.parse(failed.stdout) as { checks: { id: string; severity: string }[]; summary: { failed: number } };
      expect(checks).toContainEqual(expect.objectContaining({ id: 'file-modes', severity: 'error' }));
      expect(summary.failed).toBe(1);
      const text = (await runPerch(args, env).catch((error: unknown) => error)) as Failure;
      expect(text.stdout).toMatch(/^error .*\n +→ Run: chmod 600 /);
    }

    using outside = await connectOutside(gateway);
    const { client } = outside;
    const { lines } = await client.call('logs.tail', { limit: 2_000, json: true });
    const logTexts = lines.map((line) => (typeof line === 'object' ? `${line.component}: ${line.message}` : line));
    expect(logTexts).toEqual(expect.arrayContaining(['gateway: Gateway started', 'bridge: The gateway runs in the background browser']));
    expect(JSON.stringify(lines)).not.toContain(gateway.token);
    expect(await client.call('system.info', {})).toMatchObject({
      host: 'headless',
      node: process.versions.node,
      version: getPackageVersion(),
    });
    expect(await client.call('web.status', {})).toEqual({ connected: false, uptime: 0 });
    const components = client.hello.snapshot.presence.map(({ component }) => component);
    expect(components).toEqual(expect.arrayContaining(['gateway', 'bridge', 'journal']));
  },
  120_000,
);

verifies('doctor/cli', 'without a gateway it is one line and exit code 1', async () => {
  const failed = (await runPerch(['doctor', '--port', '1'], { PERCH_HOME: join(tmpdir(), 'perch-none') }).catch(
    (error: unknown) => error,
  )) as Failure;
  expect(failed.code).toBe(1);
  expect(failed.stderr.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^perch: Couldn’t connect to the gateway on port 1\b.*`npm start -- --port 1`/),
  ]);
});
