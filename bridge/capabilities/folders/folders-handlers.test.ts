import { execFile } from 'node:child_process';
import { appendFile, chmod, lstat, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { createTestFolders, createTestHandlers, scanRoot, type TestHandlers, writeFiles } from './fixture.ts';

const run = promisify(execFile);

let base: string;
let home: string;
let root: string;
beforeEach(async () => {
  ({ base, home, root } = await createTestFolders());
});
afterEach(() => rm(base, { recursive: true, force: true }));

const createHandlers = (): TestHandlers => createTestHandlers(home);
const write = (files: Record<string, string> | readonly string[], folder = root): Promise<void> => writeFiles(folder, files);
type ScanOptions = Parameters<typeof scanRoot>[2] & { at?: string };
const scanAll = (call: TestHandlers, { at = root, ...options }: ScanOptions = {}) => scanRoot(call, at, options);
const getPaths = async (call: TestHandlers, options?: ScanOptions): Promise<string[]> =>
  (await scanAll(call, options)).entries.map(({ path }) => path);

describe('approval of folders', () => {
  verifies('sources/approved', 'is needed on this computer, survives a restart, and can be revoked', async () => {
    await write(['a.md']);
    const call = createHandlers();
    await expect(call('folders.scan', { root, kind: 'folder' })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      extra: { details: { reason: 'not-approved' } },
    });
    await expect(call('folders.read', { root, path: 'a.md' })).rejects.toThrow('was not approved');
    await expect(call('folders.watch', { roots: [root] })).rejects.toThrow('was not approved');
    await symlink(root, join(base, 'link'));
    expect(await call('folders.approve', { path: join(base, 'link') })).toEqual({ root, isFolder: true, isRepository: false });
    expect((await lstat(join(home, 'folders-approved.json'))).mode & 0o777).toBe(0o600);
    const later = createHandlers();
    expect(await getPaths(later)).toEqual(['a.md']);
    // A folder below an approved one is a root of its own.
    await write(['sub/b.md']);
    await expect(later('folders.scan', { root: join(root, 'sub'), kind: 'folder' })).rejects.toThrow('was not approved');
    expect(await later('folders.revoke', { root })).toEqual({ revoked: true });
    expect(await later('folders.revoke', { root })).toEqual({ revoked: false });
    await expect(getPaths(later)).rejects.toThrow('was not approved');
    await writeFile(join(home, 'folders-approved.json'), '{ damaged');
    await expect(getPaths(later)).rejects.toThrow('was not approved');
  });

  verifies('sources/approved', 'is refused for Perch’s own data, the whole disk, the system, and what is missing', async () => {
    const call = createHandlers();
    await write(['token', 'vaults/work/token'], home);
    for (const [path, message] of [
      [home, 'Perch’s own data'],
      [join(home, 'vaults'), 'Perch’s own data'],
      ['/', 'The whole disk'],
      ['/proc/self', 'belongs to the system'],
      ['docs', 'Enter a full path'],
      [join(base, 'none'), 'doesn’t exist'],
    ] as const)
      await expect(call('folders.approve', { path })).rejects.toThrow(message);
    await run('mkfifo', [join(base, 'fifo')]);
    await expect(call('folders.approve', { path: join(base, 'fifo') })).rejects.toThrow('neither a folder nor a file');
    // A folder around the home is allowed, but the home is not read.
    await write(['a.md']);
    await writeFile(join(home, 'notes.md'), 'secret');
    await call('folders.approve', { path: base });
    expect(await getPaths(call, { at: base })).toEqual(['docs/a.md']);
    await expect(call('folders.read', { root: base, path: 'home/notes.md' })).rejects.toThrow('Perch’s own');
  });

  verifies('sources/scan', 'starts with a list of folders', async () => {
    await write(['Work 10/a', 'work 2/a', '.hidden/a', 'mail.mbox', 'b.txt']);
    const call = createHandlers();
    expect(await call('folders.list', { path: root })).toEqual({
      path: root,
      parent: base,
      folders: ['work 2', 'Work 10'],
      files: ['mail.mbox'],
      truncated: false,
    });
    expect((await call('folders.list', {})).folders).toBeInstanceOf(Array);
    await expect(call('folders.list', { path: join(root, 'none') })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('scanning a folder', () => {
  verifies('sources/scan', 'lists readable files in order, without hidden ones, links, packages and other types', async () => {
    const call = createHandlers();
    await write([
      'b.md',
      'a/c.pdf',
      'a/b/c.ts',
      'A.TXT',
      '.env',
      '.git/config',
      'node_modules/x/readme.md',
      'movie.mp4',
      'README',
      'Ünï.md',
    ]);
    await write(['secret.md'], base);
    await symlink(join(base, 'secret.md'), join(root, 'link.md'));
    await symlink(base, join(root, 'up'));
    await symlink(root, join(root, 'loop'));
    await run('mkfifo', [join(root, 'pipe.md')]);
    await call('folders.approve', { path: root });
    const { entries, skipped } = await scanAll(call);
    expect(entries.map(({ path }) => path)).toEqual(['A.TXT', 'README', 'a/b/c.ts', 'a/c.pdf', 'b.md', 'Ünï.md']);
    expect(entries[4]).toEqual({ path: 'b.md', size: 4, modifiedAt: Math.round((await lstat(join(root, 'b.md'))).mtimeMs) });
    expect(skipped).toBe(1);
    expect(await getPaths(call, { include: ['*.md', '/a/'], exclude: ['b/'] })).toEqual(['a/c.pdf', 'b.md', 'Ünï.md']);
  });

  verifies('sources/scan', 'obeys .gitignore files, each for its folder, in repositories only', async () => {
    const call = createHandlers();
    await write({
      'note.log': '',
      '.gitignore': '*.log',
      'repo/.git/HEAD': '',
      'repo/.gitignore': 'build/\n*.log\n!keep.log\n/top.md\n*a*a*a*a*a*a*a*b.md\n',
      'repo/build/out.md': '',
      'repo/x.log': '',
      'repo/keep.log': '',
      'repo/top.md': '',
      'repo/sub/top.md': '',
      'repo/sub/.gitignore': '!x.log\nlocal.md\n',
      'repo/sub/x.log': '',
      'repo/sub/local.md': '',
      [`repo/${'a'.repeat(200)}.md`]: '',
    });
    await call('folders.approve', { path: root });
    expect(await getPaths(call)).toEqual(['note.log', `repo/${'a'.repeat(200)}.md`, 'repo/keep.log', 'repo/sub/top.md', 'repo/sub/x.log']);
    expect(await call('folders.approve', { path: join(root, 'repo') })).toMatchObject({ isRepository: true });
  });

  verifies(
    'sources/scan',
    'reads 10,000 files page by page',
    async () => {
      const call = createHandlers();
      const paths = Array.from({ length: 10_000 }, (_, index) =>
        `${index % 7}/${'x'.repeat(index % 3)}/f${index}.md`.replaceAll('//', '/'),
      );
      for (const folder of new Set(paths.map(dirname))) await mkdir(join(root, folder), { recursive: true });
      for (let from = 0; from < paths.length; from += 500)
        await Promise.all(paths.slice(from, from + 500).map((path) => writeFile(join(root, path), '')));
      await call('folders.approve', { path: root });
      const { entries, pages } = await scanAll(call, { limit: 999 });
      expect(pages).toBe(11);
      expect(entries.length).toBe(10_000);
      expect(new Set(entries.map(({ path }) => path))).toEqual(new Set(paths));
    },
    30_000,
  );

  verifies('sources/scan', 'survives folders that can’t be read, vanish, or change between pages', async () => {
    const call = createHandlers();
    await write(['a/1.md', 'b/1.md', 'b/2.md', 'c/1.md']);
    await call('folders.approve', { path: root });
    const first = await call('folders.scan', { root, kind: 'folder', limit: 2 });
    expect(first.entries.map(({ path }) => path)).toEqual(['a/1.md', 'b/1.md']);
    await rm(join(root, 'b'), { recursive: true });
    const { entries, next } = await call('folders.scan', {
      root,
      kind: 'folder',
      ...(first.next === undefined ? {} : { cursor: first.next }),
    });
    expect([entries.map(({ path }) => path), next]).toEqual([['c/1.md'], undefined]);
    await expect(call('folders.scan', { root, kind: 'folder', cursor: 'x' })).rejects.toThrow('The cursor is invalid');
    if (process.getuid?.() !== 0) {
      await chmod(join(root, 'c'), 0);
      expect((await scanAll(call)).problems).toEqual(['c']);
      await chmod(join(root, 'c'), 0o700);
    }
    await rm(root, { recursive: true });
    await expect(getPaths(call)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const stop = new AbortController();
    stop.abort(new Error('enough'));
    await mkdir(root);
    await write(['a.md']);
    await expect(call('folders.scan', { root, kind: 'folder' }, { signal: stop.signal })).rejects.toThrow('enough');
  });
});

describe('reading a file', () => {
  verifies('sources/outside', 'refuses paths that leave the root, hidden files and anything but regular files', async () => {
    const call = createHandlers();
    await write(['a.md', '.env', 'sub/b.md', '.ssh/cur/key']);
    await write(['secret.md'], base);
    await symlink(join(base, 'secret.md'), join(root, 'link.md'));
    await symlink(base, join(root, 'up'));
    await run('mkfifo', [join(root, 'pipe')]);
    await call('folders.approve', { path: root });
    const read = async (path: string): Promise<string> =>
      Buffer.from((await call('folders.read', { root, path })).content, 'base64').toString();
    expect(await read('sub/b.md')).toBe('sub/b.md');
    for (const path of ['../secret.md', 'sub/../../secret.md', './a.md', '/etc/passwd', 'sub//b.md', 'a\0.md'])
      await expect(read(path)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    await expect(read('link.md')).rejects.toThrow('is a link that leaves the folder');
    await expect(read('up/secret.md')).rejects.toThrow('is a link that leaves the folder');
    await expect(read('.env')).rejects.toThrow('is hidden');
    await expect(read('.ssh/cur/key')).rejects.toThrow('is hidden');
    await expect(read('pipe')).rejects.toThrow('is not a regular file');
    await expect(read('sub')).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    await expect(read('none.md')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  verifies('sources/outside', 'returns a part, and says whether there is more', async () => {
    const call = createHandlers();
    await write({ 'a.txt': '0123456789' });
    await call('folders.approve', { path: join(root, 'a.txt') });
    const at = join(root, 'a.txt');
    const { content, ...rest } = await call('folders.read', { root: at, path: 'a.txt', offset: 2, maxBytes: 3 });
    expect(Buffer.from(content, 'base64').toString()).toBe('234');
    expect(rest).toMatchObject({ size: 10, truncated: true });
    expect(await call('folders.read', { root: at, path: 'a.txt', offset: 20 })).toMatchObject({ content: '', truncated: false });
    await expect(call('folders.read', { root: at, path: 'b.txt' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await getPaths(call, { at })).toEqual(['a.txt']);
  });
});

describe('mail', () => {
  const message = (number: number, extra = ''): string =>
    `From ada@example.com Mon Jan  5 10:0${number}:00 2026\nSubject: ${number}\n\nBody ${number}\n>From quoted\nFrom here on, nothing.\n${extra}\n`;

  verifies('sources/mail', 'is split into the messages of mbox files, page by page', async () => {
    const call = createHandlers();
    await write({
      Inbox: message(1) + message(2) + message(3),
      'old/Sent.mbox': message(4).replaceAll('\n', '\r\n'),
      'one.eml': 'Subject: x\n\nBody',
      'Inbox.msf': 'index',
      'notes.md': 'not mail',
    });
    await call('folders.approve', { path: root });
    const { entries, skipped } = await scanAll(call, { kind: 'mail', limit: 2 });
    expect(entries.map(({ path, offset }) => [path, offset === undefined])).toEqual([
      ['Inbox', false],
      ['Inbox', false],
      ['Inbox', false],
      ['old/Sent.mbox', false],
      ['one.eml', true],
    ]);
    expect(entries[1]).toMatchObject({ size: message(2).length, modifiedAt: Date.UTC(2026, 0, 5, 10, 2) });
    expect(skipped).toBe(2);
    const [, second] = entries;
    const read = await call('folders.read', { root, path: 'Inbox', offset: second?.offset ?? 0, maxBytes: second?.size ?? 1 });
    expect(Buffer.from(read.content, 'base64').toString()).toBe(message(2));
    // An appended message changes none of the others.
    await appendFile(join(root, 'Inbox'), message(5));
    expect((await scanAll(call, { kind: 'mail' })).entries.slice(0, 3)).toEqual(entries.slice(0, 3));
  });

  verifies(
    'sources/mail',
    'is found in an archive of many chunks as in one',
    async () => {
      const call = createHandlers();
      // The messages start at and around the ends of chunks of 1 MB.
      let total = 0;
      const messages = Array.from({ length: 24 }, (_, index) => {
        const text = message(index % 10);
        const missing = (index + 1) * 1024 * 1024 + index - 12 - total - text.length;
        total += text.length + missing;
        return `${text.slice(0, -1)}${'y\n'.repeat(Math.floor(missing / 2))}${missing % 2 === 1 ? 'z' : ''}${text.slice(-1)}`.replace(
          /z\n$/,
          '\n\n',
        );
      });
      await writeFile(join(root, 'big.mbox'), messages.join(''));
      await call('folders.approve', { path: join(root, 'big.mbox') });
      let offset = 0;
      const expected = messages.map((text) => {
        offset += text.length;
        return [offset - text.length, text.length];
      });
      for (const limit of [7, 2000]) {
        const { entries } = await scanAll(call, { kind: 'mail', at: join(root, 'big.mbox'), limit });
        expect(entries.map((entry) => [entry.offset, entry.size])).toEqual(expected);
      }
    },
    30_000,
  );

  verifies('sources/mail', 'is found in maildirs with their folders, without trashed messages', async () => {
    const call = createHandlers();
    await write(['cur/1.host:2,S', 'cur/2.host:2,ST', 'new/3.host', 'tmp/4.host', '.Sent/cur/5.host:2,S', '.Sent/new/.keep', '.ssh/cur/6']);
    await call('folders.approve', { path: root });
    expect(await getPaths(call, { kind: 'mail' })).toEqual(['.Sent/cur/5.host:2,S', 'cur/1.host:2,S', 'new/3.host']);
    const { content } = await call('folders.read', { root, path: '.Sent/cur/5.host:2,S' });
    expect(Buffer.from(content, 'base64').toString()).toBe('.Sent/cur/5.host:2,S');
  });
});
