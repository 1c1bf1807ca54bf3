import type { PageWorkerProvider } from '#shared/ports/host-api.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { BrowserModels } from '../providers/local-models/browser-models.ts';
import type { PageModels, PageModelsOptions } from './page-models.ts';

const loadPageModels = lazy(() => import('./page-models.ts'));

/** The models in this browser's storage; their code is loaded on first use. */
export class LazyPageModels implements BrowserModels {
  readonly unsupported = ['tools', 'parallelToolCalls', 'responseFormat', 'seed', 'presencePenalty', 'frequencyPenalty'] as const;
  readonly #options: PageModelsOptions;
  readonly #factories = new Map<string, PageWorkerProvider>();
  #models: PageModels | undefined;

  constructor(options: PageModelsOptions) {
    this.#options = options;
  }

  addPage(page: string, factory: PageWorkerProvider): void {
    this.#factories.delete(page);
    this.#factories.set(page, factory);
    this.#models?.addPage(page, factory);
  }

  removePage(page: string): void {
    this.#factories.delete(page);
    this.#models?.removePage(page);
  }

  readonly list: BrowserModels['list'] = async () => (await this.#load()).list();
  readonly listUnfinished: BrowserModels['listUnfinished'] = async () => (await this.#load()).listUnfinished();
  readonly download: BrowserModels['download'] = async (request) => (await this.#load()).download(request);
  readonly remove: BrowserModels['remove'] = async (id) => (await this.#load()).remove(id);
  readonly generate: BrowserModels['generate'] = async (...args) => (await this.#load()).generate(...args);
  readonly transcribe: BrowserModels['transcribe'] = async (...args) => (await this.#load()).transcribe(...args);
  readonly embed: BrowserModels['embed'] = async (...args) => (await this.#load()).embed(...args);

  async #load(): Promise<PageModels> {
    const { PageModels } = await loadPageModels();
    if (!this.#models) {
      this.#models = new PageModels(this.#options);
      for (const [page, factory] of this.#factories) this.#models.addPage(page, factory);
    }
    return this.#models;
  }
}
