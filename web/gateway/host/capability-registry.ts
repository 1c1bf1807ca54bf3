import type { PageTask, PageWorkerProvider } from '#shared/ports/host-api.ts';
import { PageDocumentReader } from './page-document-reader.ts';
import { LazyPageModels } from './lazy-page-models.ts';
import { lazy } from '#shared/async/lazy.ts';
import { Mutex } from '#shared/async/mutex.ts';
import type { AudioConverter } from '../audio/audio-converter.ts';
import type { LocalRunner, RunnableModel } from '../providers/local-runner.ts';
import type { BuiltInModelRunner } from './built-in-model-runner.ts';
import { PageWorkers } from './page-workers.ts';

const loadRunner = lazy(() => import('./built-in-model-runner.ts'));

/** The browser's built-in model, which runs in pages: available while one of them has it. */
class PageBuiltInModel implements LocalRunner<RunnableModel> {
  readonly unsupported = ['tools', 'parallelToolCalls', 'seed', 'presencePenalty', 'frequencyPenalty', 'temperature', 'topP'] as const;
  readonly #pages: PageWorkers;
  #runner: BuiltInModelRunner | undefined;

  constructor(pages: PageWorkers) {
    this.#pages = pages;
  }

  async list(): Promise<RunnableModel[]> {
    if (this.#pages.size === 0) return [];
    return [{ id: 'language-model', name: 'Built-in model', contextWindow: this.#runner?.contextWindow ?? null, problem: null }];
  }

  readonly generate: LocalRunner['generate'] = async (...args) => (await this.#load()).generate(...args);
  readonly embed = async (): Promise<never> => (await this.#load()).embed();

  async #load(): Promise<BuiltInModelRunner> {
    const { BuiltInModelRunner } = await loadRunner();
    return (this.#runner ??= new BuiltInModelRunner(this.#pages));
  }
}

const loadConvertInPage = lazy(() => import('./convert-in-page.ts'));

/** Converts audio in workers of pages, one file at a time: the codecs of browsers are not available in a SharedWorker. */
class PageAudioConverter implements AudioConverter {
  readonly #pages: PageWorkers;
  readonly #mutex = new Mutex();

  constructor(pages: PageWorkers) {
    this.#pages = pages;
  }

  convert(...[audio, format, signal]: Parameters<AudioConverter['convert']>): Promise<string> {
    return this.#mutex.take(signal, async () => {
      const { convertInPage } = await loadConvertInPage();
      const providers = this.#pages.newestFirst().map(([, provider]) => provider);
      return convertInPage(providers, { audio, format }, signal);
    });
  }
}

/** Pages that start workers for the gateway or run their browser's model, each until it closes. */
export class CapabilityRegistry {
  readonly documents: PageDocumentReader;
  readonly models: LazyPageModels;
  readonly audio: PageAudioConverter;
  readonly builtIn: PageBuiltInModel;
  readonly #pages: Readonly<Record<PageTask, PageWorkers>> = {
    documents: new PageWorkers(),
    models: new PageWorkers(),
    audio: new PageWorkers(),
    'built-in': new PageWorkers(),
  };
  /** Pages whose end is awaited. */
  readonly #watchedPages = new Set<string>();

  /** `origin`: origin of the app. */
  constructor(origin: string) {
    this.documents = new PageDocumentReader(this.#pages.documents);
    this.models = new LazyPageModels({ pages: this.#pages.models, storage: globalThis.caches, origin });
    this.audio = new PageAudioConverter(this.#pages.audio);
    this.builtIn = new PageBuiltInModel(this.#pages['built-in']);
  }

  /** `tabLock`: the Web Lock that the page holds for its lifetime, which also identifies it here. */
  register(tabLock: string, work: PageTask, provider: PageWorkerProvider): void {
    this.#pages[work].add(tabLock, provider);
    if (this.#watchedPages.has(tabLock)) return;
    this.#watchedPages.add(tabLock);
    void navigator.locks.request(tabLock, () => {
      this.#watchedPages.delete(tabLock);
      this.unregisterPage(tabLock);
    });
  }

  unregisterPage(tabLock: string): void {
    for (const pages of Object.values(this.#pages)) pages.remove(tabLock);
  }
}
