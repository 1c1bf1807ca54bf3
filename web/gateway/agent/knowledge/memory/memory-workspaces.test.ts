import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { WORKSPACE_LIMITS } from '#shared/rpc/workspace-file.ts';
import { folderWorkspace } from '../../../../../bridge/library/folder-workspace.ts';
import { memoryWorkspace, type Workspace } from '../../../knowledge/memory/workspace.ts';
import { createVaultWorkspace } from '../../workspace/vault-workspace.ts';
import { createTestVault } from '../../../storage/fixture.ts';
import { databaseWorkspace } from '../../../../library/database-workspace.ts';
import { verifies } from '../../../../../tests/requirements.ts';

let databaseCount = 0;

/** Each kind of workspace, and something that writes one of its files past it. */
async function* createWorkspaces(): AsyncGenerator<[name: string, at: Workspace, past: (path: string, text: string) => Promise<void>]> {
  const memory = memoryWorkspace();
  yield ['memory', memory, (path, text) => memory.write(path, text)];

  const folder = mkdtempSync(join(tmpdir(), 'perch-workspace-'));
  yield ['folder', folderWorkspace(folder), async (path, text) => writeFileSync(join(folder, path), text)];
  rmSync(folder, { recursive: true });

  const database = databaseWorkspace(`workspaces-${++databaseCount}`);
  yield ['database', database, (path, text) => database.write(path, text)];

  await using at = await createTestVault();
  // Another writer of the same workspace, like the mirror: its first change is stored.
  const other = createVaultWorkspace(at, 'notes');
  const { files } = at.vault;
  let writing: Promise<void> | undefined;
  const replace: typeof files.replace = async (...given) => {
    await writing;
    return files.replace(...given);
  };
  const deps = { clock: at.clock, vault: { files: { ...files, replace } } };
  yield ['vault', createVaultWorkspace(deps, 'notes'), (path, text) => (writing = other.write(path, text))];
}

verifies('memory/workspaces', 'all kinds of workspaces do the same', async () => {
  const seen: string[] = [];
  for await (const [name, at] of createWorkspaces()) {
    seen.push(name);
    expect(await at.list(), name).toEqual([]);
    expect(await at.read('MEMORY.md')).toBeUndefined();
    expect(await at.stat('MEMORY.md')).toBeUndefined();
    await at.write('MEMORY.md', 'Käse\n');
    await at.append('MEMORY.md', 'Brot\n');
    await at.append('memory/2026-11-22.md', 'A day.\n');
    await at.write('memory-old.md', '');
    expect(await at.read('MEMORY.md'), name).toBe('Käse\nBrot\n');
    expect(await at.stat('MEMORY.md')).toMatchObject({ path: 'MEMORY.md', size: 11 });
    expect((await at.list()).map(({ path }) => path)).toEqual(['MEMORY.md', 'memory-old.md', 'memory/2026-11-22.md']);
    expect((await at.list('memory')).map(({ path }) => path)).toEqual(['memory/2026-11-22.md']);
    const before = await at.stat('MEMORY.md');
    await at.write('MEMORY.md', 'Käse\nWein\n');
    // A disk's clock may not advance between two writes.
    if (name !== 'folder') expect((await at.stat('MEMORY.md'))?.modifiedAt, name).not.toBe(before?.modifiedAt);
    expect(await at.remove('memory-old.md')).toBe(true);
    expect(await at.remove('memory-old.md')).toBe(false);
  }
  expect(seen).toEqual(['memory', 'folder', 'database', 'vault']);
});

verifies('memory/updates', 'concurrent read-modify-write changes of a file are all kept', async () => {
  for await (const [name, at, past] of createWorkspaces()) {
    await Promise.all(Array.from({ length: 20 }, (_, nth) => at.update('MEMORY.md', (text = '') => `${text}${nth}\n`)));
    const lines = (await at.read('MEMORY.md'))?.trim().split('\n') ?? [];
    expect(new Set(lines).size, name).toBe(20);

    // Somebody saves the file between the look and the change.
    let meanwhile: Promise<void> | undefined;
    const edit = (text = ''): string => {
      meanwhile ??= past('MEMORY.md', 'Theirs, whole\n'.repeat(20));
      return `${text}Ours\n`;
    };
    // An update in a single step has no intermediate state.
    if (name !== 'memory' && name !== 'database') {
      await at.update('MEMORY.md', edit);
      expect(await at.read('MEMORY.md'), name).toBe(`${'Theirs, whole\n'.repeat(20)}Ours\n`);
    }
    expect(await at.update('MEMORY.md', () => undefined), name).toBe(await at.read('MEMORY.md'));
    await expect(
      at.update('MEMORY.md', () => {
        throw new Error('Not this');
      }),
    ).rejects.toThrow('Not this');
    expect(await at.update('new.md', (text) => `${text ?? 'none'}!`), name).toBe('none!');
  }
});

verifies('memory/workspace-refusals', 'paths that are none, texts that are too long or none, a workspace that is full', async () => {
  await using at = await createTestVault();
  const workspace = createVaultWorkspace(at, 'notes');
  for (const path of ['', '../x', 'a//b', '/etc/passwd', 'a\\b', 'a\u0000b'])
    await expect(workspace.write(path, 'x'), path).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await expect(workspace.write('big.md', 'x'.repeat(WORKSPACE_LIMITS.fileBytes + 1))).rejects.toThrow('big.md is too large');
  await expect(workspace.write('half.md', '\ud800')).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  const picture = { key: 'notes/p.md', workspace: 'notes', path: 'p.md', mimeType: 'image/png', encoding: 'base64' as const };
  await at.vault.files.put({ ...picture, content: '/////w==', size: 4, modifiedAt: 1 }, () => {});
  await expect(workspace.append('p.md', 'x')).rejects.toThrow('p.md is not a text file');
  expect((await at.vault.files.get('notes', 'p.md'))?.content).toBe('/////w==');
  expect(await workspace.list()).toHaveLength(1);
});
