import { expect, it } from 'vitest';
import type { ListedFile } from './list-files.ts';
import { compareFolder, sendFiles, toBatches } from './send-files.ts';

type Gateway = Parameters<typeof sendFiles>[0];

/** A gateway that gives these answers in turn, or fails with them. */
function createGateway(...answers: unknown[]): { gateway: Gateway; calls: { method: string; params: unknown }[] } {
  const calls: { method: string; params: unknown }[] = [];
  const call = (method: string, params: unknown): Promise<unknown> => {
    calls.push({ method, params });
    const answer = answers.shift();
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  return { gateway: { call: call as Gateway['call'] }, calls };
}

const listed = (path: string, content = 'words', lastModified = 1): ListedFile => ({
  path,
  file: new File([content], path, { lastModified }),
});
const lost = (): Error => Object.assign(new Error('closed'), { name: 'ConnectionClosed' });

it('divides files by their number and size', () => {
  const small = Array.from({ length: 150 }, (_, at) => listed(`${at}.txt`));
  expect(toBatches(small).map((batch) => batch.length)).toEqual([100, 50]);
  const big = listed('big.bin', 'x'.repeat(5 * 1024 * 1024));
  expect(toBatches([listed('a'), big, listed('b'), listed('c')]).map((batch) => batch.length)).toEqual([1, 1, 2]);
});

it('sends again after a lost connection, counts files that are gone, and stops when cancelled', async () => {
  const { gateway, calls } = createGateway(lost(), {}, lost(), lost(), lost());
  const gone = listed('gone.txt');
  Object.defineProperty(gone.file, 'arrayBuffer', { value: () => Promise.reject(new Error('gone')) });
  const sent: [number, number][] = [];
  const { signal } = new AbortController();
  await sendFiles(gateway, 'c', [listed('a.txt', 'hi'), gone], { signal, onsent: (...counts) => sent.push(counts) });
  const params = { collectionId: 'c', files: [{ path: 'a.txt', mimeType: '', data: 'aGk=', modifiedAt: 1 }] };
  expect(calls).toEqual([
    { method: 'collections.addFiles', params },
    { method: 'collections.addFiles', params },
  ]);
  expect(sent).toEqual([[1, 1]]);

  await expect(sendFiles(gateway, 'c', [listed('a.txt')], { signal, onsent: () => {} })).rejects.toThrow('closed');
  const count = calls.length;
  await expect(sendFiles(gateway, 'c', [listed('a.txt')], { signal: AbortSignal.abort(), onsent: () => {} })).rejects.toMatchObject({
    name: 'AbortError',
  });
  expect(calls).toHaveLength(count);
});

it('finds what has changed in a folder since it was added', async () => {
  const document = (path: string, size: number, modifiedAt: number) => ({ id: `id:${path}`, path, size, modifiedAt });
  const { gateway } = createGateway(
    { documents: [document('notes/same.txt', 5, 1), document('notes/old.txt', 5, 0)], total: 4, cursor: '2' },
    { documents: [document('notes/gone.txt', 5, 1), document('other/x.txt', 5, 1)], total: 4, cursor: null },
  );
  const files = ['same', 'old', 'new'].map((name) => listed(`notes/${name}.txt`));
  const { changed, goneIds } = await compareFolder(gateway, 'c', 'notes', files);
  expect(changed.map(({ path }) => path)).toEqual(['notes/old.txt', 'notes/new.txt']);
  expect(goneIds).toEqual(['id:notes/gone.txt']);
});
