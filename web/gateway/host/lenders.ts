import type { LentWork, WorkerLender } from '#shared/ports/host.ts';
import { LentBuiltIn } from './lent-built-in.ts';
import { LentDocuments } from './lent-documents.ts';
import { LentModelsLater } from './lent-models-later.ts';

/** The pages that lend workers, and the model of their browser, each until it is gone. */
export class Lenders {
  readonly documents = new LentDocuments();
  readonly models: LentModelsLater;
  readonly builtIn = new LentBuiltIn();
  /** Lenders whose end is awaited. */
  readonly #waited = new Set<string>();

  /** `origin`: the app's own. */
  constructor(origin: string) {
    this.models = new LentModelsLater({ storage: globalThis.caches, origin });
  }

  /** `tabLock`: the Web Lock that the page holds for its life, and its name here. */
  lend(tabLock: string, work: LentWork, lender: WorkerLender): void {
    this.#of(work).lend(tabLock, lender);
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
    this.builtIn.gone(tabLock);
  }

  #of(work: LentWork): Pick<LentBuiltIn, 'lend'> {
    if (work === 'models') return this.models;
    return work === 'documents' ? this.documents : this.builtIn;
  }
}
