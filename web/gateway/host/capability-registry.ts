import type { PageTask, PageWorkerProvider } from '#shared/ports/host-api.ts';
import { PageDocumentReader } from './page-document-reader.ts';
import { LazyPageModels } from './lazy-page-models.ts';
import { lazy } from '#shared/async/lazy.ts';
import { Mutex } from '#shared/async/mutex.ts';
import type { AudioConverter } from '../audio/audio-converter.ts';
import type { LocalRunner, RunnableModel } from '../providers/local-runner.ts';
import type { BuiltInModelRunner } from './built-in-model-runner.ts';

const loadRunner = lazy(() => import('./built-in-model-runner.ts'));

/** The browser's built-in model, which runs in pages: available while one of them has it. */
class PageBuiltInModel implements LocalRunner<RunnableModel> {
  readonly unsupported = ['tools', 'parallelToolCalls', 'seed', 'presencePenalty', 'frequencyPenalty', 'temperature', 'topP'] as const;
  readonly #factories = new Map<string, PageWorkerProvider>();
  #runner: BuiltInModelRunner | undefined;

  /** Adds a page that has the model, until it closes. */
  addPage(page: string, factory: PageWorkerProvider): void {
    this.#factories.delete(page);
    this.#factories.set(page, factory);
    this.#runner?.onPageAdded();
  }

  removePage(page: string): void {
    this.#factories.delete(page);
    this.#runner?.onPageGone(page);
  }

  async list(): Promise<RunnableModel[]> {
    if (this.#factories.size === 0) return [];
    return [{ id: 'language-model', name: 'Built-in model', contextWindow: this.#runner?.contextWindow ?? null, problem: null }];
  }

  readonly generate: LocalRunner['generate'] = async (...args) => (await this.#load()).generate(...args);
  readonly embed = async (): Promise<never> => (await this.#load()).embed();

  async #load(): Promise<BuiltInModelRunner> {
    const { BuiltInModelRunner } = await loadRunner();
    return (this.#runner ??= new BuiltInModelRunner(this.#factories));
  }
}

const loadConvertInPage = lazy(() => import('./convert-in-page.ts'));

/** Converts audio in workers of pages, one file at a time: the codecs of browsers are not available in a SharedWorker. */
class PageAudioConverter implements AudioConverter {
  readonly #factories = new Map<string, PageWorkerProvider>();
  readonly #mutex = new Mutex();

  /** Adds a page that starts workers, until it closes. */
  addPage(page: string, factory: PageWorkerProvider): void {
    this.#factories.delete(page);
    this.#factories.set(page, factory);
  }

  removePage(page: string): void {
    this.#factories.delete(page);
  }

  convert(...[audio, format, signal]: Parameters<AudioConverter['convert']>): Promise<string> {
    return this.#mutex.take(signal, async () => {
      const { convertInPage } = await loadConvertInPage();
      // The newest page first: it is most likely in the foreground.
      return convertInPage([...this.#factories.values()].reverse(), { audio, format }, signal);
    });
  }
}

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
