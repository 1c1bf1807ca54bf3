import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm, symlink } from 'node:fs/promises';
import type { Server } from 'node:http';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { createServer } from '../../node-http.ts';
import { startManagedProcess } from '../../processes/managed-process.ts';
import { NO_KEEPER } from '../../processes/process-keeper.ts';
import { createTestFolders, createTestHandlers, scanRoot, type TestHandlers, writeFiles } from './fixture.ts';

const run = promisify(execFile);

let base: string;
let home: string;
beforeEach(async () => {
  ({ base, home } = await createTestFolders());
});
afterEach(() => rm(base, { recursive: true, force: true }));

const getPaths = async (call: TestHandlers, { at, kind }: { at: string; kind: 'repository' }): Promise<string[]> =>
  (await scanRoot(call, at, { kind })).entries.map(({ path }) => path);

let server: Server;
let origin: string;
const git = (args: readonly string[], cwd: string) =>
  run('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'init.defaultBranch=main', ...args], { cwd });

beforeEach(async () => {
  const work = join(base, 'work');
  await writeFiles(work, {
    'README.md': '# Birds',
    '.gitattributes': '*.md filter=evil',
    'hooks/post-checkout': '#!/bin/sh\ntouch ../hacked',
  });
  await symlink('/etc/passwd', join(work, 'passwd.md'));
  await git(['init', '--quiet'], work);
  await git(['add', '.'], work);
  await git(['commit', '--quiet', '-m', 'first'], work);
  await git(['branch', 'old'], work);
  await git(['clone', '--quiet', '--bare', work, join(base, 'birds.git')], base);
  // Git's own server, over CGI.
  server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://x');
    if (url.pathname.startsWith('/redirect/')) {
      response.writeHead(302, { location: `http://169.254.169.254${url.pathname}${url.search}` }).end();
      return;
    }
    const { child } = startManagedProcess('git', ['http-backend'], {
      keeper: NO_KEEPER,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: base,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        GIT_PROTOCOL: [request.headers['git-protocol'] ?? ''].flat().join(),
      },
    });
    child.stdin.on('error', () => {});
    request.pipe(child.stdin);
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stdout.on('end', () => {
      const output = Buffer.concat(chunks);
      const end = output.indexOf('\r\n\r\n');
      const headers = output
        .subarray(0, end)
        .toString()
        .split('\r\n')
        .map((line) => line.split(': ', 2) as [string, string]);
      const status = Number(headers.find(([name]) => name === 'Status')?.[1].slice(0, 3) ?? 200);
      response.writeHead(status, Object.fromEntries(headers.filter(([name]) => name !== 'Status'))).end(output.subarray(end + 4));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
});
afterEach(() => void server.close());

verifies(
  'sources/clone',
  'copies the newest commit without hooks, filters and links, and updates it',
  async () => {
    const call = createTestHandlers(home);
    const url = `${origin}/birds.git`;
    const allow = ['127.0.0.1'];
    const { root: copy, commit } = await call('folders.clone', { url, allow });
    expect(dirname(copy)).toBe(join(home, 'repositories'));
    expect(commit).toMatch(/^[0-9a-f]{40}$/);
    expect(await readdir(join(home, 'repositories'))).toHaveLength(1);
    expect(await getPaths(call, { at: copy, kind: 'repository' })).toEqual(['README.md', 'passwd.md']);
    // A link is a file with its target.
    expect(await readFile(join(copy, 'passwd.md'), 'utf8')).toBe('/etc/passwd');
    const { content } = await call('folders.read', { root: copy, path: 'README.md' });
    expect(Buffer.from(content, 'base64').toString()).toBe('# Birds');
    expect(await call('folders.pull', { root: copy, allow })).toEqual({ root: copy, commit, changed: false });
    const work = join(base, 'work');
    await writeFiles(work, { 'new.md': 'new' });
    await git(['rm', '--quiet', 'README.md'], work);
    await git(['add', '.'], work);
    await git(['commit', '--quiet', '-m', 'second'], work);
    await git(['push', '--quiet', join(base, 'birds.git'), 'HEAD'], work);
    const updated = await call('folders.pull', { root: copy, allow });
    expect(updated.changed).toBe(true);
    expect(await getPaths(call, { at: copy, kind: 'repository' })).toEqual(['new.md', 'passwd.md']);
    // The same address is the same copy; a branch is another one.
    expect(await call('folders.clone', { url, allow })).toEqual({ root: copy, commit: updated.commit });
    const old = await call('folders.clone', { url, ref: 'old', allow });
    expect(old.commit).toBe(commit);
    expect(await call('folders.revoke', { root: copy })).toEqual({ revoked: true });
    expect(await readdir(join(home, 'repositories'))).toHaveLength(1);
    await expect(call('folders.pull', { root: copy, allow })).rejects.toThrow('was not approved');
  },
  60_000,
);

verifies(
  'sources/clone',
  'refuses private addresses, redirects to them, other protocols, and what is no repository',
  async () => {
    const call = createTestHandlers(home, { resolve: async () => [{ address: '10.0.0.1', family: 4 }] });
    const allow = ['127.0.0.1'];
    for (const [url, message] of [
      [`${origin}/birds.git`, 'tools.webFetch.allow'],
      ['file:///etc', 'as a folder'],
      ['ext::sh -c touch% hacked', 'address of a git repository'],
      ['git://example.com/a.git', 'Only http and https'],
      ['-u./x', 'address of a git repository'],
      ['https://user:pass@example.com/a.git', 'Remove the user name'],
      ['ssh://-oProxyCommand=x/a', 'SSH address|git repository'],
      ['git@intranet.example:a.git', 'blocked address'],
      ['https://intranet.example/a.git', 'blocked address'],
      ['https://metadata.google.internal/a.git', 'blocked'],
    ] as const)
      await expect(call('folders.clone', { url })).rejects.toThrow(new RegExp(message));
    await expect(call('folders.clone', { url: `${origin}/redirect/a.git`, allow })).rejects.toThrow(/Couldn’t clone|no git repository/);
    await expect(call('folders.clone', { url: `${origin}/none.git`, allow })).rejects.toThrow('There is no git repository at');
    await expect(call('folders.clone', { url: `${origin}/birds.git`, ref: 'nothing', allow })).rejects.toThrow('no such branch or tag');
    await expect(call('folders.clone', { url: `${origin}/birds.git`, ref: '--upload-pack=x', allow })).rejects.toThrow(
      'is not a branch or tag',
    );
    const small = createTestHandlers(home, { maxCloneBytes: 1000 });
    await expect(small('folders.clone', { url: `${origin}/birds.git`, allow })).rejects.toThrow('The repository is larger than');
    const stop = new AbortController();
    const cloning = call('folders.clone', { url: `${origin}/birds.git`, allow }, { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(cloning).rejects.toThrow('enough');
    expect(await readdir(join(home, 'repositories'))).toEqual([]);
  },
  60_000,
);
