import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { findProcesses, waitUntil } from '../../bridge/headless/tests/stub-host-page.ts';
import { verifies } from '../requirements.ts';
import { runPerch, startPerch } from './perch-process.ts';

/** A user's manager as systemd has one, as far as the command asks it: it notes what it is told, and runs what a unit says. */
const FAKE_SYSTEMCTL = `
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
const [, verb] = process.argv.slice(2);
const { STATE, XDG_CONFIG_HOME } = process.env;
appendFileSync(STATE + '/told', process.argv.slice(2).join(' ') + '\\n');
const stop = () => { if (existsSync(STATE + '/pid')) try { process.kill(Number(readFileSync(STATE + '/pid', 'utf8'))); } catch {} };
if (verb === 'disable') stop();
if (verb === 'restart') {
  stop();
  const unit = readFileSync(XDG_CONFIG_HOME + '/systemd/user/perch.service', 'utf8');
  const [program, ...args] = /^ExecStart=(.*)$/m.exec(unit)[1].split(' ');
  const env = Object.fromEntries([...unit.matchAll(/^Environment=([^=]+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
  const child = spawn(program, args, { env, detached: true, stdio: 'ignore' });
  writeFileSync(STATE + '/pid', String(child.pid));
  child.unref();
}
`;

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address ? address.port : 0;
}

const linux = process.platform === 'linux';

verifies(['service/installs', 'service/no-secrets'], 'the gateway is installed, answers, and is taken away', async () => {
  if (!linux) return;
  const dir = mkdtempSync(join(tmpdir(), 'perch-service-'));
  const home = join(dir, 'home');
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'systemctl.mjs'), FAKE_SYSTEMCTL);
  writeFileSync(join(bin, 'systemctl'), `#!/bin/sh\nexec "${process.execPath}" "${bin}/systemctl.mjs" "$@"\n`);
  chmodSync(join(bin, 'systemctl'), 0o755);
  const token = 'a-token-that-no-service-is-to-be-given-42';
  const env = {
    ...{ PATH: `${bin}:${process.env.PATH}`, STATE: dir, PERCH_HOME: home, XDG_CONFIG_HOME: join(dir, 'config'), PERCH_TOKEN: token },
    ...{ PERCH_PASSWORD: token, SOME_API_KEY: token },
  };
  const unit = join(dir, 'config/systemd/user/perch.service');
  const port = String(await freePort());
  try {
    const shown = await runPerch(['gateway', 'install', '--port', port, '--host', 'tab', '--dry-run'], env);
    expect(existsSync(unit)).toBe(false);
    const installed = await runPerch(['gateway', 'install', '--port', port, '--host', 'tab'], env);
    expect(installed.stdout).toContain(`The gateway is running on port ${port}`);
    expect(readFileSync(unit, 'utf8')).toBe(shown.stdout);
    expect(readFileSync(unit, 'utf8')).not.toContain(token);
    const health: unknown = await (await fetch(`http://127.0.0.1:${port}/health`)).json();
    expect(health).toMatchObject({ mode: 'tab' });
    // The service uses the same home: its link is available.
    expect((await runPerch(['open', '--port', port], { PERCH_HOME: home })).stdout).toContain(`:${port}/#link=`);

    expect((await runPerch(['gateway', 'uninstall'], env)).stdout).toContain('Removed the service');
    expect(existsSync(unit)).toBe(false);
    await waitUntil(() => findProcesses(`main.ts`).every(({ args }) => !args.includes(port)));
    expect((await runPerch(['gateway', 'uninstall'], env)).stdout).toContain('No service is installed');
    expect(readFileSync(join(dir, 'told'), 'utf8')).toContain('--user enable perch.service\n');
  } finally {
    await runPerch(['gateway', 'uninstall'], env).catch(() => {});
    rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
});

verifies('service/refused', 'a port that is taken, or no manager of the user’s, is one line', async () => {
  if (!linux) return;
  await using gateway = await startPerch({ host: 'tab' });
  const dir = mkdtempSync(join(tmpdir(), 'perch-service-'));
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'systemctl'), '#!/bin/sh\necho "Failed to connect to bus: No medium found" >&2\nexit 1\n', { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env.PATH}`, PERCH_HOME: dir, XDG_CONFIG_HOME: dir };
  try {
    const port = new URL(gateway.url).port;
    const taken: unknown = await runPerch(['gateway', 'install', '--port', port], env).catch((error: unknown) => error);
    expect(taken).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(new RegExp(`^perch: Port ${port} is in use by a running Perch[^\\n]*\\n$`)),
    });
    const none: unknown = await runPerch(['gateway', 'install', '--port', String(await freePort())], env).catch((error: unknown) => error);
    expect(none).toMatchObject({ code: 1, stderr: expect.stringMatching(/^perch: systemd is not running for this user[^\n]*\n$/) });
  } finally {
    rmSync(dir, { recursive: true, maxRetries: 20, retryDelay: 50 });
  }
});
