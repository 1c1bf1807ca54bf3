import type { PageTask, PageWorkerProvider } from '#shared/ports/host-api.ts';
import { PageAudioConverter } from './page-audio-converter.ts';
import { PageBuiltInModel } from './page-built-in-model.ts';
import { PageDocumentReader } from './page-document-reader.ts';
import { LazyPageModels } from './lazy-page-models.ts';

/** Pages that start workers for the gateway or run their browser's model, each until it closes. */
export class CapabilityRegistry {
  readonly documents = new PageDocumentReader();
  readonly models: LazyPageModels;
  readonly audio = new PageAudioConverter();
  readonly builtIn = new PageBuiltInModel();
  /** Pages whose end is awaited. */
  readonly #watchedPages = new Set<string>();

  /** `origin`: origin of the app. */
  constructor(origin: string) {
    this.models = new LazyPageModels({ storage: globalThis.caches, origin });
  }

  /** `tabLock`: the Web Lock that the page holds for its lifetime, which also identifies it here. */
  register(tabLock: string, work: PageTask, factory: PageWorkerProvider): void {
    this.#getRunner(work).addPage(tabLock, factory);
    if (this.#watchedPages.has(tabLock)) return;
    this.#watchedPages.add(tabLock);
    void navigator.locks.request(tabLock, () => {
      this.#watchedPages.delete(tabLock);
      this.unregisterPage(tabLock);
    });
  }

  unregisterPage(tabLock: string): void {
    this.documents.removePage(tabLock);
    this.models.removePage(tabLock);
    this.audio.removePage(tabLock);
    this.builtIn.removePage(tabLock);
  }

  #getRunner(work: PageTask): Pick<PageBuiltInModel, 'addPage'> {
    if (work === 'models') return this.models;
    if (work === 'audio') return this.audio;
    return work === 'documents' ? this.documents : this.builtIn;
  }
}
