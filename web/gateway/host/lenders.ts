import type { LentWork, WorkerLender } from '#shared/ports/host.ts';
import { LentDocuments } from './lent-documents.ts';
import { LentModels } from './lent-models.ts';

/** The pages that lend workers, each until it is gone. */
export class Lenders {
  readonly documents = new LentDocuments();
  readonly models: LentModels;
  /** Those whose end is waited for. */
  readonly #waited = new Set<string>();

  /** `origin`: the app's own. */
  constructor(origin: string) {
    this.models = new LentModels({ storage: globalThis.caches, origin });
  }

  /** `tabLock`: the Web Lock that the page holds for its life, and its name here. */
  lend(tabLock: string, work: LentWork, lender: WorkerLender): void {
    (work === 'models' ? this.models : this.documents).lend(tabLock, lender);
    if (this.#waited.has(tabLock)) return;
    this.#waited.add(tabLock);
    void navigator.locks.request(tabLock, () => {
      this.#waited.delete(tabLock);
      this.gone(tabLock);
    });
  }

  gone(tabLock: string): void {
    this.documents.gone(tabLock);
    this.models.gone(tabLock);
  }
}
