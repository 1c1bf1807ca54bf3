import type { Page } from 'playwright';
import type { OutboxRecord } from '../../web/app/state/page-db.ts';

/** The messages that this browser keeps for the gateway. */
export const readOutboxRows = (page: Page): Promise<OutboxRecord[]> =>
  page.evaluate(
    () =>
      new Promise<OutboxRecord[]>((resolve, reject) => {
        const opening = indexedDB.open('perch-page');
        opening.onerror = () => reject(new Error('the store cannot be opened'));
        opening.onsuccess = () => {
          const all = opening.result.transaction('outbox').objectStore('outbox').getAll();
          all.onsuccess = () => {
            opening.result.close();
            resolve(all.result as OutboxRecord[]);
          };
        };
      }),
  );
