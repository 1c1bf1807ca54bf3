import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import type { FileRecord } from '#shared/rpc/methods/workspace.ts';
import { changesOf, testVault } from './fixture.ts';

const file = (workspace: string, path: string, change: Partial<FileRecord> = {}): FileRecord => ({
  key: `${workspace}/${path}`,
  workspace,
  path,
  mimeType: 'text/plain',
  encoding: 'utf8',
  content: 'text',
  size: 4,
  modifiedAt: 7,
  ...change,
});

verifies(['workspace/files', 'workspace/limits'], 'listed by path, within a prefix, from the index alone', async () => {
  await using vault = await testVault();
  const { files } = vault.vault;
  const seen: unknown[] = [];
  const check = (others: unknown): void => void seen.push(others);
  for (const path of ['b.txt', 'a/2', 'a/1', 'ab/1', 'a/ÿ\u{1F426}', 'a']) await files.put(file('w', path), check);
  await files.put(file('w-2', 'a/1'), check);
  await files.put(file('w', 'b.txt', { size: 9, modifiedAt: 8 }), check);
  expect(seen.at(-2)).toEqual({ files: 0, bytes: 0 });
  expect(seen.at(-1)).toEqual({ files: 5, bytes: 20 });
  expect((await files.list('w', '')).map(({ path }) => path)).toEqual(['a', 'a/1', 'a/2', 'a/ÿ\u{1F426}', 'ab/1', 'b.txt']);
  expect((await files.list('w', 'a/')).map(({ path }) => path)).toEqual(['a/1', 'a/2', 'a/ÿ\u{1F426}']);
  expect(await files.list('w', 'b')).toEqual([{ workspace: 'w', path: 'b.txt', mimeType: 'text/plain', size: 9, modifiedAt: 8 }]);
  expect(await files.get('w', 'a/1')).toEqual(file('w', 'a/1'));
  expect(await files.get('w', 'nope')).toBeUndefined();
  const refused = files.put(file('w', 'new'), () => {
    throw new Error('full');
  });
  await expect(refused).rejects.toThrow('full');
  expect([await files.remove('w', 'a/1'), await files.remove('w', 'a/1'), await files.get('w', 'new')]).toEqual([true, false, undefined]);
  expect((await changesOf(vault.name)).slice(-2)).toEqual(['files w/b.txt', '-files w/a/1']);
});
