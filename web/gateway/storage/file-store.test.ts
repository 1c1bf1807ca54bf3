import fc from 'fast-check';
import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import type { FileRecord } from '#shared/rpc/workspace-file.ts';
import { readChangeLog, createTestVault } from './fixture.ts';

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
  await using vault = await createTestVault();
  const { files } = vault.vault;
  const events: unknown[] = [];
  const check = (others: unknown): void => void events.push(others);
  for (const path of ['b.txt', 'a/2', 'a/1', 'ab/1', 'a/ÿ\u{1F426}', 'a']) await files.put(file('w', path), check);
  await files.put(file('w-2', 'a/1'), check);
  await files.put(file('w', 'b.txt', { size: 9, modifiedAt: 8 }), check);
  expect(events.at(-2)).toEqual({ files: 0, bytes: 0 });
  expect(events.at(-1)).toEqual({ files: 5, bytes: 20 });
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
  expect((await readChangeLog(vault.name)).slice(-2)).toEqual(['files w/b.txt', '-files w/a/1']);
});

verifies('workspace/totals', 'are right after whatever is written here, refused, or comes from other hosts', async () => {
  const step = fc.record({ what: fc.constantFrom('put', 'remove', 'replace', 'refuse', 'foreign', 'gone'), n: fc.nat(5), size: fc.nat(9) });
  let readings = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15 }), fc.boolean(), async (steps, atOnce) => {
      await using vault = await createTestVault();
      const { files, sync } = vault.vault;
      const limits = { files: 5, bytes: 30 };
      const check = ({ files: count, bytes }: { files: number; bytes: number }): void => {
        if (count >= limits.files || bytes > limits.bytes) throw new Error('full');
      };
      const act = async ({ what, n, size }: (typeof steps)[number]): Promise<void> => {
        const one = file('w', `${n}`, { size });
        if (what === 'put') await files.put(one, check);
        else if (what === 'remove') await files.remove('w', one.path);
        else if (what === 'replace') {
          const [seen] = await files.list('w', one.path);
          await files.replace('w', [{ path: one.path, base: seen ?? null, file: one }], limits);
        } else if (what === 'refuse') await files.put(one, () => check({ files: 9, bytes: 0 }));
        else {
          const clock = `9999999999${String(++readings).padStart(5, '0')}-0000-there`;
          const payload = what === 'gone' ? null : JSON.stringify(one);
          await sync.apply(
            [{ store: 'files', key: one.key, clock, seal: 'none', payload, ...(payload ? {} : { deleted: true }), seq: 1 }],
            null,
            false,
          );
        }
      };
      if (atOnce) await Promise.allSettled(steps.map(act));
      else for (const each of steps) await act(each).catch((error: unknown) => expect(error).toMatchObject({ message: 'full' }));
      let refusal: unknown;
      await files.put(file('w', 'last', { size: 1 }), (others) => void (refusal = others));
      const listed = (await files.list('w', '')).filter(({ path }) => path !== 'last');
      expect(refusal).toEqual({ files: listed.length, bytes: listed.reduce((sum, { size }) => sum + size, 0) });
    }),
    { numRuns: 60 },
  );
});
