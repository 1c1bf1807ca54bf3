// Runs before each test file. Files share a process: this resets global state between them.
import fc from 'fast-check';
import { IDBFactory } from 'fake-indexeddb';
import { afterEach } from 'vitest';
import { afterEachTest } from './support/after-each-test.ts';
import { SEED } from './support/seed.ts';

fc.configureGlobal({ seed: SEED });
// `fake-indexeddb/auto` sets these once a process.
if (globalThis.indexedDB !== undefined) globalThis.indexedDB = new IDBFactory();
afterEach(() => {
  for (const check of afterEachTest) check();
});
