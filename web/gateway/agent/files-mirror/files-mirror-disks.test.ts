import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { type Disk, nodeDisk } from '../../../../bridge/capabilities/files/disk.ts';
import { WORKSPACE_LIMITS } from '#shared/rpc/workspace-file.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createMemoryFiles } from '../../../../tests/support/memory-files.ts';
import { createMirroredWorkspace } from '../../../../tests/support/mirrored-workspace.ts';

/** A case-insensitive disk, as on macOS and Windows. */
function createCaseInsensitiveDisk(): Disk {
  const real = async (path: string): Promise<string> => {
    const parent = dirname(path);
    if (parent === path) return path;
    const folder = await real(parent);
    const name = path.slice(parent.length).replace(/^\//, '').normalize('NFC').toLowerCase();
    const entries = await nodeDisk.readdir(folder).catch(() => []);
    return join(folder, entries.find((entry) => entry.name.normalize('NFC').toLowerCase() === name)?.name ?? path.slice(parent.length));
  };
  return {
    ...nodeDisk,
    lstat: async (path) => nodeDisk.lstat(await real(path)),
    readdir: async (path) => nodeDisk.readdir(await real(path)),
  };
}

verifies('mirror/names', 'one name in two Unicode forms is one file, which keeps its name on disk', async () => {
  await using at = await createMirroredWorkspace();
  await at.settle();
  const [composed, decomposed] = ['\u00c4.md', 'A\u0308.md'];
  at.writeToDisk(decomposed, 'from the disk');
  at.writeToDisk(`${decomposed}.d/x`, 'below');
  await at.settle();
  expect(await at.readVault()).toEqual({ [composed]: 'from the disk', [`${composed}.d/x`]: 'below' });
  await at.write(composed, 'from the vault');
  await at.write(`${composed}.d/y`, 'beside');
  await at.settle();
  // A disk that normalizes names itself has composed ones.
  expect(
    readdirSync(at.root)
      .map((name) => name.normalize('NFC'))
      .sort(),
  ).toEqual([composed, `${composed}.d`]);
  expect(at.read(decomposed).toString()).toBe('from the vault');
  if (process.platform !== 'linux') return;
  at.writeToDisk(composed, 'another one');
  await at.settle();
  expect(at.mirror.states[0]?.skipped).toEqual([{ path: composed, why: 'another file has the same name in a different Unicode form' }]);
  expect((await at.readVault())[composed]).toBe('from the vault');
});

verifies('mirror/names', 'if the disk ignores case, the second of two names stays in the vault; a change of case is a rename', async () => {
  await using at = await createMirroredWorkspace({ disk: createCaseInsensitiveDisk() });
  await at.write('Notes.md', 'large');
  await at.settle();
  await at.write('notes.md', 'small');
  await at.write('NOTES.md/inner', 'no place');
  for (let times = 0; times < 2; times++) await at.settle();
  expect(at.readDisk()).toEqual({ 'Notes.md': 'large' });
  expect(Object.keys(await at.readVault())).toEqual(['NOTES.md/inner', 'Notes.md', 'notes.md']);
  expect(at.mirror.states[0]?.skipped.map(({ path }) => path).sort()).toEqual(['NOTES.md/inner', 'notes.md']);
  await at.workspaces.remove('main', 'NOTES.md/inner');
  await at.workspaces.remove('main', 'notes.md');
  renameSync(join(at.root, 'Notes.md'), join(at.root, 'notes.md'));
  expect(await at.settle()).toMatchObject({ state: 'synced', skippedCount: 0 });
  expect(await at.readVault()).toEqual({ 'notes.md': 'large' });
  await at.write('NOTES.md', 'large');
  await at.workspaces.remove('main', 'notes.md');
  await at.settle();
  expect(at.readDisk()).toEqual({ 'NOTES.md': 'large' });
  expect(await at.readVault()).toEqual(at.readDisk());
  // Nor are two workspaces one.
  await at.workspaces.write('MAIN', { path: 'a', content: 'of another', encoding: 'utf8' });
  await at.settle();
  expect(at.readDisk()).toEqual({ 'NOTES.md': 'large' });
});

/** A disk that fails permanently at its `count`th change, before or after applying it; the mirror cannot clean up. */
function createFailingDisk(count: number, isDone: boolean): { disk: Disk; failed(): boolean; mend(): void } {
  let left = count;
  let isMended = false;
  const crash = (): never => {
    throw new Error('the machine is off');
  };
  const change =
    <A extends unknown[]>(work: (...args: A) => Promise<void>) =>
    async (...args: A): Promise<void> => {
      if (isMended) return work(...args);
      left--;
      if (left < 0 || (left === 0 && !isDone)) crash();
      await work(...args);
      if (left === 0) crash();
    };
  const disk = { ...nodeDisk, rename: change(nodeDisk.rename), link: change(nodeDisk.link), rm: change(nodeDisk.rm) };
  return { disk, failed: () => left <= 0, mend: () => void (isMended = true) };
}

verifies(
  'mirror/crash',
  'at each change of the disk, before and after it',
  async () => {
    for (const isDone of [false, true]) {
      for (let count = 1; ; count++) {
        const { disk, failed, mend } = createFailingDisk(count, isDone);
        await using at = await createMirroredWorkspace({ disk });
        mkdirSync(at.root, { recursive: true });
        for (const path of ['from/disk', 'both']) at.writeToDisk(path, `disk ${path}`);
        for (const path of ['from/vault', 'both', 'gone', 'stays']) await at.write(path, `vault ${path}`);
        await at.settle();
        if (!failed()) {
          await at.workspaces.remove('main', 'gone');
          await at.write('from/disk', 'changed by the vault');
          at.writeToDisk('stays', 'changed on disk');
          await at.settle();
        }
        const isOver = !failed();
        for (const [path, content] of Object.entries(at.readDisk()))
          if (!path.includes('.perch-')) expect(content, `${path} at ${count}`).toMatch(/^(disk|vault|changed) [\w ]+(\/\w+)?$/);
        mend();
        at.restart();
        expect(await at.settle(), `at ${count}`).toMatchObject({ state: 'synced', skippedCount: 0 });
        const disk_ = at.readDisk();
        expect(await at.readVault(), `at ${count}`).toEqual(disk_);
        expect(Object.keys(disk_).filter((path) => path.includes('conflict'))).toHaveLength(1);
        expect(Object.values(disk_)).toEqual(expect.arrayContaining(['disk both', 'vault both', 'vault from/vault']));
        if (isOver) break;
      }
    }
  },
  100_000,
);

verifies(
  'mirror/many',
  'ten thousand files, one way and the other, and one more that does not fit',
  async () => {
    await using at = await createMirroredWorkspace({ files: createMemoryFiles() });
    const count = WORKSPACE_LIMITS.files;
    for (let folder = 0; folder < 100; folder++) {
      mkdirSync(join(at.root, String(folder)), { recursive: true });
      for (let file = 0; file < count / 100; file++) writeFileSync(join(at.root, String(folder), `${file}.md`), `${folder} ${file}`);
    }
    expect(await at.settle()).toMatchObject({ state: 'synced', skippedCount: 0 });
    const held = await at.vault.files.list('main', '');
    expect(held).toHaveLength(count);
    at.writeToDisk('one-more', 'no room');
    expect(await at.settle()).toMatchObject({
      state: 'synced',
      skippedCount: 1,
      skipped: [{ path: 'one-more', why: expect.stringContaining('is full') }],
    });
    rmSync(join(at.root, 'one-more'));
    // Far fewer: a disk takes its time to make each durable.
    for (let file = 0; file < 100; file++) await at.write(`7/${file}.md`, `changed ${file}`);
    for (let file = 0; file < 100; file++) await at.vault.files.remove('main', `8/${file}.md`);
    expect(await at.settle()).toMatchObject({ state: 'synced', skippedCount: 0 });
    const disk = at.readDisk();
    expect(Object.keys(disk)).toHaveLength(count - 100);
    expect(disk['7/99.md']).toBe('changed 99');
  },
  120_000,
);
