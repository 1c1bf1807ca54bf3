import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { sha256 } from '#shared/sha256.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { MemoryIndexStore } from '../../../../../tests/support/memory-index-store.ts';
import {
  applyStep,
  toDayFileDate,
  toMemoryLine,
  LONG_TERM,
  NOW_MS,
  arbitraryStep,
  type MemoryStep,
  createTexts,
  WORDS,
} from '../../../../../tests/support/memory-changes.ts';
import { toDialogPath } from '../layout.ts';
import { memoryWorkspace, type Workspace } from '../workspace.ts';
import { FileIndex } from './file-index.ts';

const QUERIES = ['Where is the blue kayak?', 'Ana married', 'barn photographs', 'last June', 'How much did she pay?', 'lamp'];

/** A workspace whose clock advances with each change, and which records reads. */
function files(): { workspace: Workspace; read: string[] } {
  let time = NOW_MS;
  const read: string[] = [];
  const workspace = memoryWorkspace(() => time++);
  return { workspace: { ...workspace, read: (path) => (read.push(path), workspace.read(path)) }, read };
}

const indexOf = (workspace: Workspace, store?: MemoryIndexStore): FileIndex => new FileIndex({ workspace, longTerm: LONG_TERM, store });

/** The complete state of an index. Passages of equal score are in order of addition; sums may differ by 32-bit rounding. */
async function told(index: FileIndex) {
  await index.follow();
  const found = QUERIES.map((query) =>
    index
      .search(query, { limit: 1000, now: NOW_MS })
      .map(({ entry, score, ...rest }) => ({ ...rest, score: Number(score.toPrecision(5)), entry, beside: index.beside(entry) }))
      .sort((a, b) => (a.entry.id < b.entry.id ? -1 : 1)),
  );
  const all = [...index.files()].map(({ file, entries }) => ({ file: { ...file, hash: null }, entries }));
  return { found, size: index.size, files: all.sort((a, b) => (a.file.path < b.file.path ? -1 : 1)) };
}

/** Asserts that an index equals one rebuilt from the files. */
async function isAsAnew(index: FileIndex, workspace: Workspace): Promise<void> {
  const anew = await told(indexOf(workspace));
  const { found, size, files } = await told(index);
  expect([size, files]).toEqual([anew.size, anew.files]);
  expect(found).toEqual(anew.found);
}

describe('FileIndex', () => {
  verifies('memory.index/snapshot', 'finds the same as one made anew, after any changes, restarts and crashes', () =>
    fc.assert(
      fc.asyncProperty(fc.array(arbitraryStep, { maxLength: 40 }), async (steps) => {
        const { workspace } = files();
        const [store, text] = [new MemoryIndexStore(), createTexts()];
        let index = indexOf(workspace, store);
        for (const each of steps) {
          await applyStep(each, index, workspace, text);
          if (each.does !== 'close' && each.does !== 'crash') continue;
          if (each.does === 'close') await index.close();
          index = indexOf(workspace, store);
          await isAsAnew(index, workspace);
        }
        await isAsAnew(index, workspace);
        await index.close();
        await isAsAnew(indexOf(workspace, store), workspace);
      }),
      { numRuns: 150 },
    ),
  );

  verifies(
    'memory.index/crash',
    'whichever write does not come about, or is the last one, a start finds the same as one made anew',
    async () => {
      for (const behind of [false, true]) {
        let nth = 0;
        for (let isOver = false; !isOver; nth++) {
          const { workspace } = files();
          const [store, text] = [new MemoryIndexStore(), createTexts()];
          let left = nth;
          store.write = (work) => {
            if (left-- > 0) return Promise.resolve(work());
            if (left === -1 && behind) work();
            return Promise.reject(new Error('The process is gone'));
          };
          for (const steps of [
            ['remember', 'say', 'note', 'remember'],
            ['say', 'turn', 'edit', 'look'],
            ['forget', 'remove', 'otherwise', 'look'],
          ] as const) {
            const index = indexOf(workspace, store);
            try {
              for (const [at, does] of steps.entries()) {
                await applyStep({ does, words: ['kayak', WORDS[at] ?? ''], nth: 2 } as MemoryStep, index, workspace, text);
                await index.follow();
              }
            } catch (error) {
              expect(String(error)).toContain('The process is gone');
            }
            await index.close();
          }
          isOver = left >= 0;
          store.write = (work) => Promise.resolve(work());
          await isAsAnew(indexOf(workspace, store), workspace);
        }
        // 3 snapshots, and further writes of files.
        expect(nth).toBeGreaterThan(12);
      }
    },
  );

  verifies('memory.index/crash', 'a file that was half indexed at the end counts as not read', async () => {
    const { workspace } = files();
    const store = new MemoryIndexStore();
    const text = Array.from({ length: 3000 }, (_, nth) => toMemoryLine(`Number ${nth} of the boats`, nth));
    await workspace.write(toDialogPath(toDayFileDate(1)), text.join(''));
    await workspace.write(LONG_TERM, '- 2026-01-01 [fact] The heron nests at Loch Awe\n');
    const index = indexOf(workspace, store);
    const following = index.follow();
    await new Promise<void>((resolve) => {
      const look = (): void => (index.size > 1 ? resolve() : void setImmediate(look));
      look();
    });
    const closing = index.close();
    await expect(following).rejects.toThrow('The memory was closed');
    await closing;
    expect([index.size, store.bytes !== undefined]).toEqual([1, true]);
    await workspace.write(toDialogPath(toDayFileDate(1)), text.slice(0, 2).join(''));
    await isAsAnew(indexOf(workspace, store), workspace);
  });

  verifies('memory.index/crash', 'a store that has lost what it noted of files gets it again', async () => {
    const { workspace } = files();
    const [store, text] = [new MemoryIndexStore(), createTexts()];
    const first = indexOf(workspace, store);
    for (const does of ['remember', 'say', 'note'] as const)
      await applyStep({ does, words: ['blue', 'kayak'], nth: 1 }, first, workspace, text);
    await first.follow();
    await first.close();
    const without = new MemoryIndexStore();
    without.bytes = store.bytes;
    await isAsAnew(indexOf(workspace, without), workspace);
    const noted = async (of: MemoryIndexStore): Promise<unknown> =>
      Promise.all(
        (await of.files())
          .map(({ path }) => path)
          .sort()
          .map((path) => of.entries(path)),
      );
    expect(await noted(without)).toEqual(await noted(store));
  });

  verifies(
    'memory.index/damaged',
    'a snapshot that is cut off, changed, or of another version is made anew, and nothing is lost',
    async () => {
      const { workspace } = files();
      const [store, text] = [new MemoryIndexStore(), createTexts()];
      const first = indexOf(workspace, store);
      for (const does of ['remember', 'say', 'note'] as const)
        await applyStep({ does, words: ['blue', 'kayak'], nth: 1 }, first, workspace, text);
      await first.follow();
      await first.close();
      const whole = store.bytes ?? new Uint8Array();
      expect(whole.length).toBeGreaterThan(1000);
      const changed = (at: number, by: (byte: number) => number): Uint8Array<ArrayBuffer> =>
        whole.map((byte, place) => (place === at ? by(byte) : byte));
      const other = new TextDecoder('latin1').decode(whole).indexOf('memory index 1');
      const damages = [
        new Uint8Array(),
        whole.slice(0, 10),
        whole.slice(0, -1),
        whole.map(() => 0),
        changed(0, (byte) => byte ^ 1),
        changed(whole.length - 1, (byte) => byte ^ 128),
        changed(whole.length >> 1, (byte) => byte ^ 4),
        await ofAnotherVersion(whole, other),
      ];
      for (const [nth, damaged] of damages.entries()) {
        store.bytes = damaged;
        const index = indexOf(workspace, store);
        await isAsAnew(index, workspace);
        await index.close();
        expect(store.bytes.length, `damage ${nth}`).toBeGreaterThan(1000);
        expect(store.bytes).not.toEqual(damaged);
        await isAsAnew(indexOf(workspace, store), workspace);
      }
    },
  );

  verifies('memory.index/kept', 'what a snapshot has is not read again, and it is written again in the background', async () => {
    const { workspace, read } = files();
    const store = new MemoryIndexStore();
    const written = async (work: () => Promise<unknown>): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<null>();
      store.write = (write) => {
        const before = store.bytes;
        write();
        if (store.bytes !== before) resolve(null);
        return Promise.resolve();
      };
      await work();
      await promise;
    };
    const talk = (from: number, end: number): string =>
      Array.from({ length: end - from }, (_, nth) => toMemoryLine(`Number ${from + nth} is the ${WORDS[nth % 5] ?? ''}`, nth)).join('');
    const index = indexOf(workspace, store);
    // 499 passages are not yet enough for a snapshot.
    await index.append(toDialogPath(toDayFileDate(1)), talk(0, 499));
    expect(store.bytes).toBeUndefined();
    await written(() => index.append(toDialogPath(toDayFileDate(2)), talk(499, 1000)));
    await workspace.write(LONG_TERM, '- 2026-01-01 [fact] The heron nests at Loch Awe\n');
    await index.follow();
    // At the end, one changed passage of a thousand is not worth a snapshot, but ten are.
    const background = store.bytes;
    await index.close();
    expect(store.bytes).toBe(background);
    // The next process: only the new file is read. The others are recognized from the store's records alone.
    read.length = store.readPaths.length = 0;
    const next = indexOf(workspace, store);
    await next.follow();
    expect([next.size, read, store.readPaths]).toEqual([1001, [], [LONG_TERM]]);
    expect(next.search('heron', { now: NOW_MS })[0]?.entry).toMatchObject({ text: 'The heron nests at Loch Awe', kind: 'memory' });
    const [kayak] = next.search('number 640', { now: NOW_MS, limit: 1 });
    expect(kayak?.entry).toMatchObject({
      text: 'Number 640 is the kayak',
      kind: 'message',
      speaker: 'Ana',
      path: toDialogPath(toDayFileDate(2)),
      line: 142,
    });
    expect([next.hasMessage(kayak?.entry.key ?? ''), next.hasMessage('none'), next.hasMessage('')]).toEqual([true, false, false]);
    // A message that was removed by hand may be written again.
    const dialog = (await workspace.read(toDialogPath(toDayFileDate(2)))) ?? '';
    await workspace.write(toDialogPath(toDayFileDate(2)), dialog.replace(/^.*Number 640 .*\n/m, ''));
    await next.follow();
    expect([next.size, next.hasMessage(kayak?.entry.key ?? '')]).toEqual([1000, false]);
    await workspace.write(toDialogPath(toDayFileDate(2)), dialog);
    await next.follow();
    await next.close();
    const last = indexOf(workspace, store);
    await written(async () => {
      await last.follow();
      await last.append(toDialogPath(toDayFileDate(0)), talk(1000, 1010));
      await last.close();
    });
    read.length = store.readPaths.length = 0;
    await isAsAnew(indexOf(workspace, store), workspace);
    expect(store.readPaths).toEqual([]);
  });

  verifies('memory.index/kept', 'a failed write is reported, and searching continues', async () => {
    const { workspace } = files();
    const store = new MemoryIndexStore();
    const warnings: string[] = [];
    store.putSnapshot = () => Promise.reject(new Error('The disk is full'));
    const index = new FileIndex({ workspace, longTerm: LONG_TERM, store, warn: (message) => warnings.push(message) });
    await index.append(toDialogPath(toDayFileDate(1)), toMemoryLine('The heron nests at Loch Awe', 1));
    await index.close();
    expect(warnings).toEqual(['Could not save the memory index; the next start takes longer: The disk is full']);
    await isAsAnew(indexOf(workspace, store), workspace);
  });

  verifies(
    'memory.index/slices',
    'others have their turn while a snapshot is written, and while the index is brought up to date',
    async () => {
      const { workspace } = files();
      const store = new MemoryIndexStore();
      const lines = (count: number): string =>
        Array.from({ length: count }, (_, nth) => toMemoryLine(`Number ${nth} of the boats`, nth)).join('');
      await workspace.write(toDialogPath(toDayFileDate(1)), lines(5000));
      const index = indexOf(workspace, store);
      await index.follow();
      const turnsIn = async (work: () => Promise<unknown>): Promise<number> => {
        let [turns, isOver] = [0, false];
        const tick = (): void => {
          turns++;
          if (!isOver) setImmediate(tick);
        };
        setImmediate(tick);
        await work();
        isOver = true;
        return turns;
      };
      expect(await turnsIn(() => index.close())).toBeGreaterThan(10);
      await workspace.append(toDialogPath(toDayFileDate(1)), lines(5000));
      const next = indexOf(workspace, store);
      expect(await turnsIn(() => next.follow())).toBeGreaterThan(10);
      expect(next.size).toBe(10_000);
    },
  );
});

/** Replaces the version and recomputes the checksum. */
async function ofAnotherVersion(bytes: Uint8Array<ArrayBuffer>, at: number): Promise<Uint8Array<ArrayBuffer>> {
  const other = bytes.slice();
  other.set(new TextEncoder().encode('memory index 9'), at);
  other.set(new TextEncoder().encode(await sha256(other.subarray(64))));
  return other;
}
