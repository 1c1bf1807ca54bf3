import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { z } from 'zod';
import { findFreePort } from '../../bridge/sync/tests/nats-server.ts';
import { waitFor } from '../support/test-gateway.ts';
import { verifies } from '../requirements.ts';
import { findBrowserProgram } from './perch-process.ts';
import { packPackage, NEEDS_SHELL } from './pack-package.ts';

// The ways to get the `perch` command, each from an empty folder and with an empty home: npm install -g, npx, and the steps of the container image.

const dockerfile = readFileSync(join(import.meta.dirname, '../../deploy/Dockerfile'), 'utf8');
const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')));
const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline'];
/** npm's cache of this machine: the home is empty, and packages need not be downloaded again. */
const cache = execFileSync('npm', ['config', 'get', 'cache'], { shell: NEEDS_SHELL, encoding: 'utf8' }).trim();

let installDir: string;
let packedFile: string;
let command: string;

const certificates = process.env['NODE_EXTRA_CA_CERTS'];

/** The environment of somebody who has nothing but Node: no variables of tests or of npm. */
function emptyEnvironment(name: string): Record<string, string> {
  const home = join(installDir, name);
  mkdirSync(home, { recursive: true });
  return {
    PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
    HOME: home,
    USERPROFILE: home,
    npm_config_cache: cache,
    // Behind a proxy with a certificate of its own nothing could be downloaded.
    ...(certificates === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificates }),
  };
}

function emptyFolder(name: string): string {
  const folder = join(installDir, name);
  mkdirSync(folder);
  return folder;
}

beforeAll(async () => {
  installDir = mkdtempSync(join(tmpdir(), 'perch-ways-'));
  packedFile = await packPackage(installDir);
  const prefix = emptyFolder('prefix');
  const options = { cwd: emptyFolder('installing'), env: emptyEnvironment('home'), shell: NEEDS_SHELL, encoding: 'utf8' as const };
  execFileSync('npm', ['install', '-g', '--prefix', prefix, ...quiet, packedFile], options);
  command = NEEDS_SHELL ? join(prefix, 'perch.cmd') : join(prefix, 'bin/perch');
}, 300_000);
afterAll(() => rmSync(installDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));

verifies('package/ways', '`npm install -g` gives a `perch` that names itself so, and writes nothing where it is called', () => {
  const options = { cwd: emptyFolder('calling'), env: emptyEnvironment('calling-home'), shell: NEEDS_SHELL, encoding: 'utf8' as const };
  expect(execFileSync(command, ['--version'], options).trim()).toBe(version);
  const help = execFileSync(command, ['mcp', 'status', '--help'], options);
  expect(help).toMatch(/^Usage: perch mcp status /);
  expect(help).toContain('--url <address>');
  expect(execFileSync(command, ['models', 'local'], options)).toContain('`perch models download <owner>/<name>`');
  const { status, stderr } = spawnSync(command, ['mcp', 'status', '--port', '1'], options);
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^perch: .*Start it with `perch gateway run --port 1`\.\n$/)]);
  expect(readdirSync(options.cwd)).toEqual([]);
});

verifies('package/ways', '`npx` runs it without installing it', () => {
  const options = { cwd: emptyFolder('npx'), env: emptyEnvironment('npx-home'), shell: NEEDS_SHELL, encoding: 'utf8' as const };
  expect(execFileSync('npx', ['--yes', '--prefer-offline', '--package', packedFile, 'perch', '--version'], options).trim()).toBe(version);
  expect(readdirSync(options.cwd)).toEqual([]);
});

const SYSTEM_NODE = '/usr/bin/node';
const isOldNode =
  existsSync(SYSTEM_NODE) && /^v(?:\d|1\d|2[01])\./.test(spawnSync(SYSTEM_NODE, ['--version'], { encoding: 'utf8' }).stdout);
verifies('cli/old-node', 'the installed command run by an old Node', ({ skip }) => {
  skip(!isOldNode, 'the system has no old Node');
  const { status, stdout, stderr } = spawnSync(SYSTEM_NODE, [command, 'gateway', 'run'], {
    encoding: 'utf8',
    env: emptyEnvironment('old'),
  });
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^perch: Perch needs Node 22\.18 or newer\. This is Node [\d.]+\.\n$/);
});

/** The JSON list of an instruction of the image's last stage. */
function readInstruction(name: string): string[] {
  const stage = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
  const list = new RegExp(`^${name}[\\s\\S]*?(\\[.*\\])$`, 'm').exec(stage)?.[1];
  return z.array(z.string()).parse(JSON.parse(list ?? 'null'));
}

// Without Docker its steps are taken one by one: the packed file is installed above, as the image does.
verifies(
  'package/ways',
  'what the container image runs becomes ready by its own health check',
  async ({ skip }) => {
    skip(NEEDS_SHELL, 'the image is of Linux');
    expect(dockerfile).toContain('npm ci && npm run build && npm pack');
    expect(dockerfile).toContain('npm install -g /tmp/perch-*.tgz');
    const port = await findFreePort();
    const atPort = (text: string): string => text.replaceAll('7333', String(port));
    const env = {
      ...emptyEnvironment('container'),
      PERCH_HOME: join(installDir, 'container-data'),
      PERCH_CHROMIUM: await findBrowserProgram(),
      PATH: `${dirname(command)}${delimiter}${emptyEnvironment('container').PATH ?? ''}`,
    };
    const [program = '', ...first] = readInstruction('ENTRYPOINT');
    const server = spawn(program, [...first, ...readInstruction('CMD'), '--port', String(port)], {
      cwd: emptyFolder('container-folder'),
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    server.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    try {
      const [check = '', ...args] = readInstruction('HEALTHCHECK').map(atPort);
      await waitFor(() => spawnSync(check, args, { env }).status === 0 || server.exitCode !== null, 'the health check', 90_000);
      expect(server.exitCode, output).toBeNull();
      expect(execFileSync(command, ['mcp', 'status', '--port', String(port)], { env, encoding: 'utf8' })).toMatch(/^No MCP servers/);
    } finally {
      server.kill('SIGTERM');
      if (server.exitCode === null) await once(server, 'exit');
    }
  },
  120_000,
);
