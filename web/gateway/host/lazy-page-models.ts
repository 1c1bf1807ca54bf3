import { lazy } from '#shared/async/lazy.ts';
import type { BrowserModels } from '../providers/local-models/browser-models.ts';
import type { PageModels, PageModelsOptions } from './page-models.ts';

const loadPageModels = lazy(() => import('./page-models.ts'));

/** The models in this browser's storage; their code is loaded on first use. */
export class LazyPageModels implements BrowserModels {
  readonly unsupported = ['tools', 'parallelToolCalls', 'responseFormat', 'seed', 'presencePenalty', 'frequencyPenalty'] as const;
  readonly #options: PageModelsOptions;
  #models: PageModels | undefined;

  constructor(options: PageModelsOptions) {
    this.#options = options;
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
    return (this.#models ??= new PageModels(this.#options));
  }
}
