import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { waitFor } from '../../../../tests/support/test-gateway.ts';
import { createMirroredWorkspace } from '../../../../tests/support/mirrored-workspace.ts';

const isPosix = process.platform !== 'win32';
const getMode = (path: string): number => statSync(path).mode & 0o777;

verifies('mirror/both-ways', 'bytes for bytes, text and others, in folders, for the owner alone', async () => {
  await using at = await createMirroredWorkspace();
  const bytes = Uint8Array.from([0xff, 0, 1, 2]);
  await at.write('MEMORY.md', '# Grüße\r\n');
  await at.workspaces.write('main', { path: 'memory/2026-11-22.bin', content: Buffer.from(bytes).toString('base64'), encoding: 'base64' });
  expect(await at.settle()).toMatchObject({ state: 'synced', folder: at.root, problem: null, skippedCount: 0 });
  expect(at.read('MEMORY.md').toString()).toBe('# Grüße\r\n');
  expect([...at.read('memory/2026-11-22.bin')]).toEqual([...bytes]);
  if (isPosix) {
    expect(getMode(join(at.root, 'MEMORY.md'))).toBe(0o600);
    for (const folder of [at.root, join(at.root, 'memory')]) expect(getMode(folder)).toBe(0o700);
  }
  at.writeToDisk('skills/note/SKILL.md', '---\nname: note\n---\n');
  at.writeToDisk('MEMORY.md', '\uFEFF# New');
  at.writeToDisk('picture.txt', Buffer.from('GIF89a\x01\0\x01\0\0', 'latin1'));
  expect(await at.settle()).toMatchObject({ state: 'synced' });
  expect(await at.readVault()).toEqual(at.readDisk());
  expect(await at.vault.files.get('main', 'picture.txt')).toMatchObject({ mimeType: 'image/gif', encoding: 'base64' });
  expect(await at.vault.files.get('main', 'MEMORY.md')).toMatchObject({
    content: '\uFEFF# New',
    encoding: 'utf8',
    mimeType: 'text/markdown',
  });
  await at.workspaces.write('other', { path: 'a.md', content: 'of another', encoding: 'utf8' });
  await at.settle();
  expect(readFileSync(join(at.home, 'workspaces', 'other', 'a.md'), 'utf8')).toBe('of another');
  expect(at.mirror.states.map(({ workspace }) => workspace)).toEqual(['main', 'other']);
  expect(at.faults).toEqual([]);
});

verifies('mirror/both-ways', 'a program in the folder stays one, and nobody gains a right', async () => {
  if (!isPosix) return;
  await using at = await createMirroredWorkspace();
  at.writeToDisk('run.sh', '#!/bin/sh\n');
  chmodSync(join(at.root, 'run.sh'), 0o755);
  await at.settle();
  await at.write('run.sh', '#!/bin/sh\necho\n');
  await at.settle();
  expect(at.read('run.sh').toString()).toContain('echo');
  expect(getMode(join(at.root, 'run.sh'))).toBe(0o700);
});

verifies('mirror/deletes', 'either way; folders go with their last file; a change wins over a delete', async () => {
  await using at = await createMirroredWorkspace();
  for (const path of ['a', 'b', 'deep/er/c', 'd', 'e', 'f', 'g']) await at.write(path, path);
  await at.settle();
  rmSync(join(at.root, 'a'));
  await at.workspaces.remove('main', 'b');
  await at.workspaces.remove('main', 'deep/er/c');
  rmSync(join(at.root, 'd'));
  await at.write('d', 'changed');
  await at.workspaces.remove('main', 'e');
  at.writeToDisk('e', 'changed too');
  await at.settle();
  expect(at.readDisk()).toEqual({ d: 'changed', e: 'changed too', f: 'f', g: 'g' });
  expect(await at.readVault()).toEqual(at.readDisk());
  expect(existsSync(join(at.root, 'deep'))).toBe(false);
  // A name that was a file's becomes a folder's, and the other way round.
  await at.workspaces.remove('main', 'f');
  await at.write('f/inner', 'x');
  rmSync(join(at.root, 'g'));
  at.writeToDisk('g/inner', 'y');
  await at.settle();
  expect(at.readDisk()).toEqual({ d: 'changed', e: 'changed too', 'f/inner': 'x', 'g/inner': 'y' });
  expect(await at.readVault()).toEqual(at.readDisk());
});

verifies('mirror/conflict', 'the folder’s version wins, the other is kept on both sides; identical changes do not conflict', async () => {
  await using at = await createMirroredWorkspace();
  for (const path of ['notes/plan.md', 'same', 'other', 'more']) await at.write(path, 'first');
  await at.settle();
  await at.write('notes/plan.md', 'of the agent');
  at.writeToDisk('notes/plan.md', 'of the person');
  await at.write('same', 'alike');
  at.writeToDisk('same', 'alike');
  await at.settle();
  const copy = 'notes/plan (conflict 2026-11-20 1200).md';
  expect(at.readDisk()).toEqual({ 'notes/plan.md': 'of the person', [copy]: 'of the agent', same: 'alike', other: 'first', more: 'first' });
  expect(await at.readVault()).toEqual(at.readDisk());
  await at.write('notes/plan.md', 'again of the agent');
  at.writeToDisk('notes/plan.md', 'again of the person');
  await at.settle();
  expect(at.readDisk()).toMatchObject({ [copy]: 'of the agent', 'notes/plan (conflict 2026-11-20 1200 2).md': 'again of the agent' });
  expect(await at.readVault()).toEqual(at.readDisk());
});

verifies('mirror/conflict', 'without a known sync baseline nothing is deleted or overwritten unseen', async () => {
  await using at = await createMirroredWorkspace();
  for (const path of ['a', 'b', 'c']) await at.write(path, 'first');
  await at.settle();
  for (const damaged of ['{"version":1,', '']) {
    writeFileSync(join(at.home, 'workspaces', 'main.synced.json'), damaged);
    at.writeToDisk('a', `disk ${damaged}`);
    await at.write('a', `vault ${damaged}`);
    at.restart();
    expect(await at.settle()).toMatchObject({ state: 'synced' });
    expect(Object.values(at.readDisk())).toEqual(expect.arrayContaining([`disk ${damaged}`, `vault ${damaged}`]));
    expect(await at.readVault()).toEqual(at.readDisk());
  }
});

verifies('mirror/notices', 'what is saved is noticed, also in new folders', async () => {
  await using at = await createMirroredWorkspace();
  await at.write('a', 'first');
  await at.settle();
  at.writeToDisk('a', 'second');
  await waitFor(async () => (await at.readVault())['a'] === 'second', 'a change is noticed');
  at.writeToDisk('new/folder/b', 'deep');
  await waitFor(async () => (await at.readVault())['new/folder/b'] === 'deep', 'a new folder is noticed');
  at.writeToDisk('new/folder/b', 'deeper');
  await waitFor(async () => (await at.readVault())['new/folder/b'] === 'deeper', 'a change in it is noticed');
  await at.write('c', 'of the agent');
  await waitFor(() => at.readDisk()['c'] === 'of the agent', 'the vault’s are written at once');
});

verifies(
  'mirror/gone',
  'a folder that is away, empty, or half as full deletes nothing, and goes on by itself when it is back',
  async () => {
    await using at = await createMirroredWorkspace();
    const files = Object.fromEntries(['a', 'b', 'c', 'd', 'e/f'].map((path) => [path, path]));
    for (const path of Object.keys(files)) await at.write(path, path);
    await at.settle();
    const away = join(at.home, 'away');
    renameSync(at.root, away);
    for (const empty of [false, true]) {
      if (empty) mkdirSync(at.root);
      at.restart();
      expect(await at.settle()).toMatchObject({
        state: 'stopped',
        gone: { from: 'folder', count: 5 },
        problem: expect.stringContaining(at.root),
      });
      expect(await at.readVault()).toEqual(files);
      expect(existsSync(at.root)).toBe(empty);
    }
    await at.write('new', 'meanwhile');
    await at.settle();
    expect(at.readDisk()).toEqual({});
    rmSync(at.root, { recursive: true, maxRetries: 20, retryDelay: 50 });
    renameSync(away, at.root);
    expect(await at.settle()).toMatchObject({ state: 'synced', problem: null, gone: null });
    expect(at.readDisk()).toEqual({ ...files, new: 'meanwhile' });
    expect(at.log.filter((line) => line.includes('disappeared'))).toHaveLength(2);
    // Three of six may be deleted, four may not; a move is not a deletion.
    for (const path of ['a', 'b', 'c']) renameSync(join(at.root, path), join(at.root, `${path}.moved`));
    renameSync(join(at.root, 'd'), join(at.root, 'd.moved'));
    expect(await at.settle()).toMatchObject({ state: 'synced' });
    for (const path of ['a', 'b', 'c', 'd']) rmSync(join(at.root, `${path}.moved`));
    expect(await at.settle()).toMatchObject({ state: 'stopped', gone: { count: 4 } });
    expect(Object.keys(await at.readVault())).toHaveLength(6);
  },
);

verifies('workspace.resume/goes-on', 'deleted files are restored or dropped, as the person decides', async () => {
  await using at = await createMirroredWorkspace();
  for (const path of ['a', 'b', 'c']) await at.write(path, path);
  await at.settle();
  expect(await at.mirror.resume('main', 'remove')).toMatchObject({ state: 'synced' });
  expect(await at.mirror.resume('none', 'remove')).toBeUndefined();
  rmSync(at.root, { recursive: true, maxRetries: 20, retryDelay: 50 });
  expect(await at.settle()).toMatchObject({ state: 'stopped' });
  expect(await at.mirror.resume('main', 'restore')).toMatchObject({ state: 'synced', gone: null });
  expect(at.readDisk()).toEqual({ a: 'a', b: 'b', c: 'c' });
  for (const path of ['a', 'b']) rmSync(join(at.root, path));
  expect(await at.settle()).toMatchObject({ state: 'stopped' });
  expect(await at.mirror.resume('main', 'remove')).toMatchObject({ state: 'synced' });
  expect(await at.readVault()).toEqual({ c: 'c' });
});

verifies('workspace.resume/goes-on', 'a vault that has begun anew does not empty the folder', async () => {
  await using at = await createMirroredWorkspace();
  for (const path of ['a', 'b', 'c']) await at.write(path, path);
  await at.settle();
  at.mirror.stop();
  await at.mirror.whenSettled();
  for (const path of ['a', 'b', 'c']) await at.workspaces.remove('main', path);
  at.restart();
  expect(await at.settle()).toMatchObject({ state: 'stopped', gone: { from: 'vault', count: 3 } });
  expect(at.readDisk()).toEqual({ a: 'a', b: 'b', c: 'c' });
  expect(await at.mirror.resume('main', 'restore')).toMatchObject({ state: 'synced' });
  expect(await at.readVault()).toEqual({ a: 'a', b: 'b', c: 'c' });
  // Seen to be removed: then it is meant.
  for (const path of ['a', 'b', 'c']) await at.workspaces.remove('main', path);
  expect(await at.settle()).toMatchObject({ state: 'synced' });
  expect(at.readDisk()).toEqual({});
});

verifies('mirror/outside', 'links, pipes and devices, in the place of files and of folders', async () => {
  if (!isPosix) return;
  await using at = await createMirroredWorkspace();
  for (const path of ['a', 'b', 'c/d', 'e', 'f', 'g', 'h']) await at.write(path, path);
  await at.settle();
  const outside = join(at.home, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'd'), 'secret');
  for (const path of ['a', 'b', 'c']) rmSync(join(at.root, path), { recursive: true, maxRetries: 20, retryDelay: 50 });
  symlinkSync(join(outside, 'd'), join(at.root, 'a'));
  execFileSync('mkfifo', [join(at.root, 'b')]);
  symlinkSync(outside, join(at.root, 'c'));
  symlinkSync(outside, join(at.root, 'new'));
  const state = await at.settle();
  expect(state?.skipped.map(({ path, why }) => `${path}: ${why}`)).toEqual([
    'a: it is a symbolic link',
    'b: it is not a regular file',
    'c: it is a symbolic link',
    'c/d: it is a symbolic link',
    'new: it is a symbolic link',
  ]);
  for (const path of ['a', 'b', 'c/d', 'c/x', 'new/y']) await at.write(path, 'of the agent');
  expect(await at.settle()).toMatchObject({ state: 'synced' });
  expect(Object.keys(await at.readVault())).toEqual(['a', 'b', 'c/d', 'c/x', 'e', 'f', 'g', 'h', 'new/y']);
  expect(readFileSync(join(outside, 'd'), 'utf8')).toBe('secret');
  expect(existsSync(join(outside, 'x')) || existsSync(join(outside, 'y'))).toBe(false);
  expect(at.log.filter((line) => line.includes('Skipped a:'))).toHaveLength(1);
});

verifies('mirror/limits', 'files that are too large or have an invalid name are reported once; the others sync', async () => {
  await using at = await createMirroredWorkspace();
  await at.settle();
  at.writeToDisk('large.bin', Buffer.alloc(8 * 1024 * 1024 + 1));
  at.writeToDisk(`${'x'.repeat(200)}/${'y'.repeat(201)}`, 'too long');
  at.writeToDisk('small', 'fits');
  if (isPosix) at.writeToDisk('back\\slash', 'no name there');
  for (let times = 0; times < 3; times++) await at.settle();
  expect(await at.readVault()).toEqual({ small: 'fits' });
  expect(at.log.filter((line) => line.includes('Skipped large.bin: it is larger than 8 MiB'))).toHaveLength(1);
  expect(at.mirror.states[0]).toMatchObject({ state: 'synced', skippedCount: isPosix ? 3 : 2 });
  // As large as the vault has room for.
  at.writeToDisk('large.bin', 'small again');
  await at.settle();
  expect(Object.keys(await at.readVault())).toContain('large.bin');
});

verifies('mirror/ignored', 'neither side’s own things go over', async () => {
  await using at = await createMirroredWorkspace();
  for (const path of [
    'memory.db',
    'memory.db-wal',
    '.perch.lock',
    '.git/hooks/post-commit',
    'x/node_modules/a',
    '.DS_Store',
    '.perch-0123456789ab.tmp',
  ])
    at.writeToDisk(path, 'disk');
  at.writeToDisk('notes.md', 'disk');
  await at.settle();
  expect(await at.readVault()).toEqual({ 'notes.md': 'disk' });
  await at.write('.git/hooks/post-checkout', 'vault');
  await at.write('memory.db', 'vault');
  expect(await at.settle()).toMatchObject({ state: 'synced', skippedCount: 0 });
  expect(at.read('memory.db').toString()).toBe('disk');
  expect(existsSync(join(at.root, '.git/hooks/post-checkout'))).toBe(false);
});

verifies('mirror/one', 'an inactive host, or a disabled mirror, leaves the folder alone', async () => {
  let serves = false;
  let mirror = true;
  await using at = await createMirroredWorkspace({ isActive: () => serves, settings: () => ({ workspaces: { mirror } }) });
  await at.write('a', 'first');
  expect(await at.settle()).toBeUndefined();
  expect(existsSync(at.root)).toBe(false);
  serves = true;
  expect(await at.settle()).toMatchObject({ state: 'synced' });
  mirror = false;
  at.writeToDisk('a', 'second');
  expect(await at.settle()).toBeUndefined();
  expect(await at.readVault()).toEqual({ a: 'first' });
});

verifies('mirror/notices', 'without file watching, polling finds changes', async () => {
  await using at = await createMirroredWorkspace({ isWatched: false });
  await at.settle();
  at.writeToDisk('a', 'second');
  at.clock.advance(29_000);
  await at.mirror.whenSettled();
  expect(await at.readVault()).toEqual({});
  at.clock.advance(1_000);
  await at.mirror.whenSettled();
  expect(await at.readVault()).toEqual({ a: 'second' });
});
