import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { SYNC_STORES } from '#shared/sync/record.ts';
import { launchBrowser } from '../e2e/test-browser.ts';
import type { Perch } from '../e2e/perch-process.ts';
import { openJournal } from '../../bridge/journal/open-journal.ts';
import { loadVaultKey } from '../../bridge/journal/vault-key.ts';

/** One copy of the vault: each record as JSON with its keys in order, by `store/key`. */
export interface VaultCopy {
  records: Map<string, unknown>;
  /** `store/key` → the version that it has there; a tombstone's ends in ` gone`. */
  versions: Map<string, string>;
}

/** Stores that are equal in all copies: secrets are sealed under a key of each, and the others are local to a database. */
const isSharedStore = (store: string): boolean => store in SYNC_STORES && store !== 'secrets';

/** Every row of the page's database `perch`; null if it does not exist. */
export async function readPageCopy(page: Page): Promise<VaultCopy | null> {
  const stores = await page.evaluate(async () => {
    // Opening a missing database would create it.
    if (!(await indexedDB.databases()).some(({ name }) => name === 'perch')) return null;
    const done = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const db = await done(indexedDB.open('perch'));
    try {
      const names = [...db.objectStoreNames].filter((name) => !['keys', 'secrets', 'blobs', 'local'].includes(name));
      const tx = db.transaction(names);
      return await Promise.all(
        names.map(async (name) => {
          const store = tx.objectStore(name);
          const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
          return { name, rows: values.map((value: unknown, at) => [String(keys[at]), value] as const) };
        }),
      );
    } finally {
      db.close();
    }
  });
  if (!stores) return null;
  const copy: VaultCopy = { records: new Map(), versions: new Map() };
  for (const { name, rows } of stores) {
    for (const [key, value] of rows) {
      if (isSharedStore(name)) copy.records.set(`${name}/${key}`, sortKeys(value));
      if (name !== 'changes') continue;
      const row = value as { store: string; key: string; clock: string; deleted?: true };
      copy.versions.set(`${row.store}/${row.key}`, row.clock + (row.deleted ? ' gone' : ''));
    }
  }
  return copy;
}

/** Data of the managed Chromium, whose page no test can reach: the gateway is stopped, and its profile is opened by another browser. */
export async function readManagedCopy(perch: Perch): Promise<VaultCopy | null> {
  await perch.kill('SIGTERM');
  await using browser = await launchBrowser({ profile: join(perch.home, 'profiles', 'gateway') });
  // A page of the app's origin, without the app.
  await browser.context.route(`${perch.url}/**`, (route) => route.fulfill({ contentType: 'text/html', body: '' }));
  return await readPageCopy(await browser.page(perch.url));
}

/** Content of the journal under this PERCH_HOME. */
export async function readJournalCopy(home: string): Promise<VaultCopy> {
  await using journal = await openJournal({ dir: home, vaultKey: await loadVaultKey(home) });
  const copy: VaultCopy = { records: new Map(), versions: new Map() };
  for await (const { store, key, clock, deleted, payload } of journal.snapshot()) {
    copy.versions.set(`${store}/${key}`, clock + (deleted ? ' gone' : ''));
    if (isSharedStore(store) && payload !== null) copy.records.set(`${store}/${key}`, sortKeys(JSON.parse(payload)));
  }
  return copy;
}

/** The versions of all that is in it. */
export const readJournalVersions = async (home: string): Promise<Map<string, string>> => (await readJournalCopy(home)).versions;

/** Differences between two copies, up to a limit. Empty if they are equal. */
export function findDifferences<T>(one: ReadonlyMap<string, T>, two: ReadonlyMap<string, T>): string[] {
  const keys = new Set([...one.keys(), ...two.keys()]);
  const unlike = [...keys].filter((key) => JSON.stringify(one.get(key)) !== JSON.stringify(two.get(key)));
  return unlike.slice(0, 10).map((key) => `${key}: ${JSON.stringify(one.get(key))} / ${JSON.stringify(two.get(key))}`);
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sortKeys(inner)]),
  );
}

/** Files of this PERCH_HOME, except browser profiles, that contain these bytes. */
export function findFilesContaining(home: string, text: string): string[] {
  const files = readdirSync(home, { withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ name }) => name).filter((name) => readFileSync(join(home, name)).includes(text));
}
