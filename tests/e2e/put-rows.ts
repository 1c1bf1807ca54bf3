import type { Page } from 'playwright';

/** Puts rows into a store of this browser's own copy, as if they had been there for long: the gateway reads them where it looks the next time. */
export const putRows = (page: Page, store: string, rows: readonly object[]): Promise<void> =>
  page.evaluate(
    async ([name, values]) => {
      const done = <T>(request: IDBRequest<T>): Promise<T> =>
        new Promise((resolve, reject) => {
          request.onsuccess = () => resolve(request.result);
          request.onerror = () => reject(request.error ?? new Error('the database refused'));
        });
      for (const { name: database = '' } of await indexedDB.databases()) {
        const db = await done(indexedDB.open(database));
        if (db.objectStoreNames.contains(name)) {
          const tx = db.transaction(name, 'readwrite');
          const committed = new Promise((resolve) => (tx.oncomplete = resolve));
          for (const value of values) tx.objectStore(name).put(value);
          await committed;
          return db.close();
        }
        db.close();
      }
      throw new Error(`no database has ${name}`);
    },
    [store, rows] as const,
  );
