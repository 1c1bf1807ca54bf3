import type { LentWork, WorkerLender } from '#shared/ports/host.ts';
import { LentBuiltIn } from './lent-built-in.ts';
import { LentDocuments } from './lent-documents.ts';
import { LentModelsLater } from './lent-models-later.ts';

/** Pages that start workers for the gateway or run their browser's model, each until it closes. */
export class Lenders {
  readonly documents = new LentDocuments();
  readonly models: LentModelsLater;
  readonly builtIn = new LentBuiltIn();
  /** Pages whose end is awaited. */
  readonly #waited = new Set<string>();

  /** `origin`: origin of the app. */
  constructor(origin: string) {
    this.models = new LentModelsLater({ storage: globalThis.caches, origin });
  }

  /** `tabLock`: the Web Lock that the page holds for its lifetime, which also identifies it here. */
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
