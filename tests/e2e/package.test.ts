import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { startPerch } from './harness.ts';

const root = join(import.meta.dirname, '../..');
// npm is a program of the machine: on Windows a script that wants a shell.
const shell = process.platform === 'win32';
const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];

let elsewhere: string;
let installed: string;
let command: string;

beforeAll(() => {
  elsewhere = mkdtempSync(join(tmpdir(), 'perch-installed-'));
  installed = join(elsewhere, 'node_modules/perch');
  command = join(elsewhere, 'node_modules/.bin/perch');
  execFileSync(process.execPath, [join(root, 'bridge/build.ts')], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', elsewhere], { cwd: root, shell, encoding: 'utf8' }).trim();
  writeFileSync(join(elsewhere, 'package.json'), JSON.stringify({ name: 'elsewhere', private: true, type: 'module' }));
  execFileSync('npm', ['install', '--prefer-offline', ...quiet, join(elsewhere, packed)], {
    cwd: elsewhere,
    shell,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}, 240_000);
afterAll(() => rmSync(elsewhere, { recursive: true, force: true }));

const run = (program: string, args: string[]): string => execFileSync(program, args, { cwd: elsewhere, encoding: 'utf8', shell });

verifies('package/installs', 'its `perch` runs, serves the app, and answers', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  expect(run(command, ['--version']).trim()).toBe(version);
  await using gateway = await startPerch({
    host: 'tab',
    command: shell ? [process.execPath, join(installed, 'dist/perch.js')] : [command],
  });
  const health: unknown = await (await fetch(`${gateway.url}/health`)).json();
  expect(health).toMatchObject({ status: 'no-host', version, mode: 'tab' });
  const page = await fetch(gateway.url, { headers: { accept: 'text/html' } });
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('<!doctype html>');
});

verifies('package/installs', '`perch/client` can be imported and is typed', () => {
  writeFileSync(
    join(elsewhere, 'use.js'),
    "import { GatewayClient, memoryPair } from 'perch/client';\nconsole.log(typeof GatewayClient, typeof memoryPair);\n",
  );
  expect(run(process.execPath, ['use.js']).trim()).toBe('function function');
  writeFileSync(
    join(elsewhere, 'use.ts'),
    "import { GatewayClient, type Link, socketLink } from 'perch/client';\nexport const link: Link<string> = socketLink(new WebSocket('ws://localhost'));\nexport const wrong: number = GatewayClient;\n",
  );
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--lib', 'es2024,esnext.disposable,dom', 'use.ts'];
  let report = '';
  try {
    run(process.execPath, [tsc, ...options]);
  } catch (error) {
    report = error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
  }
  // The one mistake is found, so the types are there; and nothing else is wrong with them.
  expect(report.trim().split('\n')).toEqual([expect.stringMatching(/^use\.ts\(3,14\): error TS2322/)]);
});

test('it holds plain JavaScript alone: no TypeScript, no tests, no sources of the checkout', () => {
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  expect(files.filter((file) => /(?<!\.d)\.ts$|\.svelte$|\.test\./.test(file))).toEqual([]);
  expect(files).toContain(join('dist', 'app', 'index.html'));
});
