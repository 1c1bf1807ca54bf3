import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { createTestFolders, createTestHandlers, type FolderEvent, type TestHandlers, writeFiles } from './fixture.ts';
import type { WatchLimits } from './root-watch.ts';

let base: string;
let home: string;
let root: string;
beforeEach(async () => {
  ({ base, home, root } = await createTestFolders());
});
afterEach(() => rm(base, { recursive: true, force: true }));

const limits: Partial<WatchLimits> = { debounceMs: 20, maxWaitMs: 500, pollMs: 40 };

/** Watches a root; `next` resolves to the next event that passes. */
async function startWatch(call: TestHandlers) {
  const stop = new AbortController();
  const events: FolderEvent[] = [];
  let wake = (): void => {};
  const watching = call('folders.watch', { roots: [root] }, { signal: stop.signal, onEvent: (event) => void (events.push(event), wake()) });
  const next = async (passes: (event: FolderEvent) => boolean): Promise<FolderEvent> => {
    for (;;) {
      const found = events.findIndex(passes);
      if (found !== -1) return events.splice(0, found + 1).at(-1) ?? { root };
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  return { next, stop: () => (stop.abort(), watching) };
}

verifies('sources/watch', 'reports files that are written, moved and deleted, in new folders too', async () => {
  const call = createTestHandlers(home, { watchLimits: limits });
  await writeFiles(root, ['a.md', 'sub/b.md', '.hidden/c.md']);
  await call('folders.approve', { path: root });
  const { next, stop } = await startWatch(call);
  const has =
    (path: string) =>
    ({ paths }: FolderEvent) =>
      paths?.includes(path) ?? false;
  // The watch may still be starting: the file is written until it is reported.
  const timer = setInterval(() => void writeFile(join(root, 'a.md'), 'new'), 20);
  await next(has('a.md'));
  clearInterval(timer);
  await writeFile(join(root, '.hidden/c.md'), 'x');
  await writeFile(join(root, 'sub/b.md'), 'x');
  const event = await next(has('sub/b.md'));
  expect(event.root).toBe(root);
  expect(event.paths?.some((path) => path.includes('hidden'))).toBe(false);
  await writeFiles(root, ['new/deep/c.md']);
  await next(has('new'));
  const later = setInterval(() => void writeFile(join(root, 'new/deep/c.md'), 'x'), 20);
  await next(has('new/deep/c.md'));
  clearInterval(later);
  await rename(join(root, 'sub'), join(root, 'moved'));
  await next(has('moved'));
  await rm(join(root, 'a.md'));
  await next(has('a.md'));
  await stop();
});

verifies('sources/watch', 'outlives the root, and notices its return', async () => {
  const call = createTestHandlers(home, { watchLimits: limits });
  await writeFiles(root, ['a.md']);
  await call('folders.approve', { path: root });
  const { next, stop } = await startWatch(call);
  const timer = setInterval(() => void writeFile(join(root, 'a.md'), 'new').catch(() => {}), 20);
  await next(() => true);
  clearInterval(timer);
  await rename(root, `${root}.away`);
  await next(({ paths }) => paths === undefined);
  await rename(`${root}.away`, root);
  await next(({ paths }) => paths === undefined);
  const again = setInterval(() => void writeFile(join(root, 'b.md'), 'new'), 20);
  await next(({ paths }) => paths?.includes('b.md') ?? false);
  clearInterval(again);
  await stop();
});

verifies('sources/watch', 'reports at intervals what the system can’t watch', async () => {
  const call = createTestHandlers(home, { watchLimits: { ...limits, maxFolders: 0 } });
  await call('folders.approve', { path: root });
  const { next, stop } = await startWatch(call);
  await next(({ paths }) => paths === undefined);
  await next(({ paths }) => paths === undefined);
  await stop();
});
