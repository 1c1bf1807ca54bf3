import 'fake-indexeddb/auto';
import { IDBFactory } from 'fake-indexeddb';
import { openDB } from 'idb';
import { expect, it } from 'vitest';
import { toResetMarker } from '#shared/demo-suffix.ts';
import { createDemoDeps } from './demo-deps.ts';

const SUFFIX = ' demo /';
const listNames = async (): Promise<string[]> => (await indexedDB.databases()).map(({ name = '' }) => name).sort();

it('a marked demo starts without its data, and leaves pages and other demos alone', async () => {
  globalThis.indexedDB = new IDBFactory();
  const names = [`perch${SUFFIX}`, `perch-memory main${SUFFIX}`, `perch-page${SUFFIX}`, 'perch', 'perch demo /elsewhere/'];
  for (const name of names) (await openDB(name)).close();
  await createDemoDeps(SUFFIX);
  expect(await listNames()).toEqual(names.sort());
  (await openDB(toResetMarker(SUFFIX))).close();
  await createDemoDeps(SUFFIX);
  expect(await listNames()).toEqual(['perch', 'perch demo /elsewhere/', `perch-page${SUFFIX}`]);
});
