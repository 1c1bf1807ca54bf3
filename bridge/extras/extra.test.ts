import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { ProcessKeeper } from '../processes/process-keeper.ts';
import { OptionalPackage, type ExtraSpec } from './extra.ts';
import { createGgufExtra } from './gguf-extra.ts';

/** A local registry with two tiny packages, in two versions. */
async function registry() {
  const dir = mkdtempSync(join(tmpdir(), 'perch-registry-'));
  const requestedPaths: string[] = [];
  const packed = (name: string, version: string): Buffer => {
    const from = join(dir, `${name}-${version}`);
    mkdirSync(from);
    const scripts = { postinstall: `node -e "require('fs').writeFileSync('${join(dir, 'script-ran')}', '')"` };
    writeFileSync(join(from, 'package.json'), JSON.stringify({ name, version, type: 'module', scripts }));
    writeFileSync(join(from, 'index.js'), `export const version = '${version}';\n`);
    execFileSync('npm', ['pack', '--silent', '--ignore-scripts'], { cwd: from });
    return readFileSync(join(from, `${name}-${version}.tgz`));
  };
  const files = new Map<string, Buffer>(
    ['tiny', 'beside'].flatMap((name) =>
      ['1.0.0', '2.0.0'].map((version) => [`/${name}/-/${name}-${version}.tgz`, packed(name, version)] as const),
    ),
  );
  const server = createServer((request, response) => {
    const { url = '' } = request;
    requestedPaths.push(url);
    const file = files.get(url);
    if (file) return void response.end(file);
    const name = url.slice(1);
    if (!['tiny', 'beside'].includes(name)) return void response.writeHead(404).end('{}');
    const version = (each: string) => ({ name, version: each, dist: { tarball: `${address}/${name}/-/${name}-${each}.tgz` } });
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ name, 'dist-tags': { latest: '2.0.0' }, versions: { '1.0.0': version('1.0.0'), '2.0.0': version('2.0.0') } }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = (server.address() as { port: number }).port;
  const address = `http://127.0.0.1:${port}`;
  const home = join(dir, 'home');
  const env = { ...process.env, npm_config_registry: address, npm_config_cache: join(dir, 'cache'), npm_config_fetch_retries: '0' };
  return {
    home,
    env,
    asked: requestedPaths,
    ranScripts: () => existsSync(join(dir, 'script-ran')),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

const spec = (version: string, proves = 'process.exit(0)'): ExtraSpec => ({
  name: 'tiny',
  package: 'tiny',
  version,
  platformPackages: [`beside@${version}`],
  entry: 'tiny/index.js',
  size: 'next to nothing',
  proof: (entry) =>
    `const { version } = await import(${JSON.stringify(entry)}); if (version !== '${version}') throw new TypeError('another'); ${proves}`,
});

verifies('gguf/extra', 'installed, of another version, replaced, removed', async () => {
  await using at = await registry();
  const keeper = new ProcessKeeper(() => {});
  const extra = new OptionalPackage(spec('1.0.0'), { ...at, keeper });
  expect(await extra.state()).toEqual({ state: 'missing' });
  const lines: string[] = [];
  await extra.install({ report: (line) => lines.push(line) });
  expect(lines).toEqual(['Downloading tiny 1.0.0 (next to nothing)…', 'Testing the installation…', 'Installed tiny 1.0.0']);
  expect(await extra.state()).toEqual({ state: 'ready', version: '1.0.0' });
  expect(await import(extra.entry)).toMatchObject({ version: '1.0.0' });
  expect(at.ranScripts()).toBe(false);

  const two = new OptionalPackage(spec('2.0.0'), { ...at, keeper });
  expect(await two.state()).toEqual({ state: 'outdated', version: '1.0.0' });
  await two.install();
  expect(await two.state()).toEqual({ state: 'ready', version: '2.0.0' });

  expect(await two.uninstall()).toBe(true);
  expect(await two.uninstall()).toBe(false);
  expect(readdirSync(join(at.home, 'extras'))).toEqual([]);
});

verifies('gguf/extra', 'a failed installation leaves the earlier one unchanged', async () => {
  await using at = await registry();
  const keeper = new ProcessKeeper(() => {});
  const extra = new OptionalPackage(spec('1.0.0'), { ...at, keeper });
  await extra.install();
  const broken = new OptionalPackage(spec('2.0.0', `throw new RangeError('no such processor')`), { ...at, keeper });
  await expect(broken.install()).rejects.toThrow('tiny 2.0.0 doesn’t work on this computer (RangeError: no such processor)');
  const unknown = new OptionalPackage(spec('3.0.0'), { ...at, keeper });
  await expect(unknown.install()).rejects.toThrow('Couldn’t download tiny 3.0.0 (npm: ETARGET)');
  const far = new OptionalPackage(spec('2.0.0'), {
    ...at,
    keeper,
    env: { ...at.env, npm_config_registry: 'http://127.0.0.1:1', npm_config_cache: join(at.home, 'none') },
  });
  await expect(far.install()).rejects.toThrow('Couldn’t download tiny 2.0.0 (npm: ECONNREFUSED)');
  const aborter = new AbortController();
  const left = new OptionalPackage(spec('2.0.0', 'await new Promise((done) => setTimeout(done, 600_000))'), { ...at, keeper });
  const abortOnTest = (line: string): void => void (line.startsWith('Testing') && aborter.abort(new Error('left')));
  await expect(left.install({ signal: aborter.signal, report: abortOnTest })).rejects.toThrow('left');
  expect(await extra.state()).toEqual({ state: 'ready', version: '1.0.0' });
  expect(readdirSync(join(at.home, 'extras'))).toEqual(['tiny']);
});

verifies('gguf/extra', 'the builds for each machine', () => {
  const listBuilds = (platform: NodeJS.Platform, arch: string, gpu = false): string[] =>
    createGgufExtra({ platform, arch, gpu }).platformPackages.map((each) => each.replace(/^@node-llama-cpp\/(.*)@.*$/, '$1'));
  expect(listBuilds('linux', 'x64')).toEqual(['linux-x64']);
  expect(listBuilds('linux', 'x64', true)).toEqual(['linux-x64', 'linux-x64-vulkan']);
  expect(listBuilds('linux', 'arm64', true)).toEqual(['linux-arm64']);
  expect(listBuilds('darwin', 'arm64')).toEqual(['mac-arm64-metal']);
  expect(listBuilds('win32', 'x64')).toEqual(['win-x64']);
  expect(listBuilds('freebsd', 'x64')).toEqual([]);
});

verifies('gguf/extra', 'a machine that there is no build for', async () => {
  const none = new OptionalPackage(createGgufExtra({ platform: 'freebsd', arch: 'x64', gpu: false }), {
    home: tmpdir(),
    keeper: new ProcessKeeper(() => {}),
  });
  expect(await none.state()).toEqual({ state: 'unsupported' });
  await expect(none.install()).rejects.toThrow(/node-llama-cpp has no build for/);
});
