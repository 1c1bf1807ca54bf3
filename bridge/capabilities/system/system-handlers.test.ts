import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Home } from '../../home-directory.ts';
import { BrowserNotFoundError } from '../../headless/find-browser.ts';
import { verifies } from '../../../tests/requirements.ts';
import { ProcessKeeper } from '../../processes/process-keeper.ts';
import { type SystemDeps, createSystemHandlers } from './system-handlers.ts';

const POSIX = process.platform !== 'win32';
let dir: string;
let home: Home;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'perch-system-'));
  home = await Home.open({ dir: join(dir, 'home') });
});
afterEach(() => rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));

const call = { signal: new AbortController().signal, send: () => {} };
const system = (change: Partial<SystemDeps> = {}) =>
  createSystemHandlers({
    home,
    version: '0.1.0',
    build: 'build-1',
    mode: 'auto',
    keeper: new ProcessKeeper(() => {}),
    isRoot: false,
    findBrowser: async () => '/usr/bin/chromium',
    ...change,
  });

/** Creates a program and a PATH that contains it. */
function program(name: string, script: string): NodeJS.ProcessEnv {
  const folder = join(dir, 'bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { PATH: `${folder}${delimiter}/usr/bin${delimiter}/bin`, HOME: dir };
}

verifies('system/python', 'reports its version, read once without a shell; null if there is none', async () => {
  if (!POSIX) return;
  const callsFile = join(dir, 'asked');
  const env = program('python3', `echo "$@" >> '${callsFile}'; echo "Python 3.99.1+dev"`);
  const handlers = system({ env });
  expect(await handlers['system.about']({}, call)).toMatchObject({ python: '3.99.1+dev', version: '0.1.0', node: process.versions.node });
  expect(await handlers['system.about']({}, call)).toMatchObject({ python: '3.99.1+dev' });
  expect(readFileSync(callsFile, 'utf8')).toBe('--version\n');
  expect(await system({ env: { PATH: '/nowhere' } })['system.about']({}, call)).toMatchObject({ python: null });
  // A program that fails or prints something else does not count.
  expect(await system({ env: { PATH: dirname(callsFile) } })['system.about']({}, call)).toMatchObject({ python: null });
});

test('open files are named with the mode that they should have; none in a new home', async () => {
  if (!POSIX) return;
  await home.token();
  expect(await system()['system.faults']({}, call)).toMatchObject({ open: [], modesUnknown: null, unsandboxed: false, hostMode: 'auto' });
  chmodSync(home.tokenFile, 0o644);
  chmodSync(home.dir, 0o755);
  expect((await system()['system.faults']({}, call)).open).toEqual([
    { path: home.dir, mode: '755', wanted: '700' },
    { path: home.tokenFile, mode: '644', wanted: '600' },
  ]);
});

test('reports the user, and which browser exists or why none does', async () => {
  const none = async (): Promise<string | null> => null;
  const wrong = (): Promise<string | null> =>
    Promise.reject(new BrowserNotFoundError('PERCH_CHROMIUM names /no, which is no program that can be run'));
  expect(await system({ isRoot: true })['system.faults']({}, call)).toMatchObject({
    unsandboxed: true,
    browser: '/usr/bin/chromium',
    noBrowser: null,
  });
  expect(await system({ findBrowser: none })['system.faults']({}, call)).toMatchObject({ browser: null, noBrowser: null });
  expect(await system({ findBrowser: wrong, mode: 'tab' })['system.faults']({}, call)).toMatchObject({
    browser: null,
    noBrowser: 'PERCH_CHROMIUM names /no, which is no program that can be run.',
    hostMode: 'tab',
  });
});

/** A fake registry server. */
async function registry(answer: (path: string) => { status: number; body: unknown }) {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    const { status, body } = answer(request.url ?? '');
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const env = {
    ...process.env,
    npm_config_registry: `http://127.0.0.1:${port}/`,
    npm_config_cache: join(dir, 'cache'),
    npm_config_userconfig: join(dir, 'npmrc'),
  };
  return { env, paths, [Symbol.asyncDispose]: async () => void server.close() };
}

const packument = (version: string, bin: unknown) => ({
  name: 'perch',
  'dist-tags': { latest: version },
  versions: { [version]: { name: 'perch', version, bin, dist: { tarball: 'http://127.0.0.1:9/perch.tgz', shasum: '0'.repeat(40) } } },
});

verifies('update/check', 'the registry that npm is set to is asked, and asked once for a while', async () => {
  await using server = await registry(() => ({ status: 200, body: packument('1.2.3', { perch: 'dist/perch.js' }) }));
  const handlers = system({ env: server.env });
  expect(await handlers['system.latest']({}, call)).toEqual({ version: '1.2.3' });
  expect(await handlers['system.latest']({}, call)).toEqual({ version: '1.2.3' });
  expect(server.paths).toEqual(['/perch']);
});

verifies('update/check', 'a registry without the package is no failure', async () => {
  const note = 'The package registry has no package perch. Update this copy from where you got it.';
  for (const answer of [
    { status: 404, body: { error: 'not found' } },
    { status: 200, body: packument('not a version', { perch: 'x.js' }) },
  ]) {
    await using server = await registry(() => answer);
    expect(await system({ env: server.env })['system.latest']({}, call)).toEqual({ version: null, note });
  }
});

verifies(
  'update/never-fails',
  'one of others, nonsense, a failing registry, no registry, no npm: each is said',
  async () => {
    const answers: [status: number, body: unknown, says: RegExp][] = [
      [200, packument('9.9.9', { other: 'x.js' }), /another program/],
      [200, 'nonsense', /registry/],
      [500, { error: 'oops' }, /Couldn’t reach the registry/],
    ];
    for (const [status, body, says] of answers) {
      await using server = await registry(() => ({ status, body }));
      expect(await system({ env: server.env })['system.latest']({}, call)).toEqual({
        version: null,
        error: expect.stringMatching(says) as string,
      });
    }
    const offlineEnv = { ...process.env, npm_config_registry: 'http://127.0.0.1:9/', npm_config_cache: join(dir, 'cache') };
    expect(await system({ env: offlineEnv })['system.latest']({}, call)).toMatchObject({
      version: null,
      error: expect.stringMatching(/Couldn’t reach the registry/) as string,
    });
    if (POSIX)
      expect(await system({ env: { PATH: dir } })['system.latest']({}, call)).toMatchObject({
        version: null,
        error: expect.stringMatching(/npm/) as string,
      });
  },
  60_000,
);
