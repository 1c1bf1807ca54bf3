import type { WorkerLender } from '#shared/ports/host.ts';
import { lazy } from '../core/lazy.ts';
import type { BrowserModels } from '../core/local-models/browser-models.ts';
import type { LentModels, LentModelsOptions } from './lent-models.ts';

const part = lazy(() => import('./lent-models.ts'));

/** The models in this browser's storage; their code is loaded on first use. */
export class LentModelsLater implements BrowserModels {
  readonly cannot = ['tools', 'parallelToolCalls', 'responseFormat', 'seed', 'presencePenalty', 'frequencyPenalty'] as const;
  readonly #options: LentModelsOptions;
  readonly #lenders = new Map<string, WorkerLender>();
  #models: LentModels | undefined;

  constructor(options: LentModelsOptions) {
    this.#options = options;
  }

  lend(page: string, lender: WorkerLender): void {
    this.#lenders.delete(page);
    this.#lenders.set(page, lender);
    this.#models?.lend(page, lender);
  }

  gone(page: string): void {
    this.#lenders.delete(page);
    this.#models?.gone(page);
  }

  readonly list: BrowserModels['list'] = async () => (await this.#load()).list();
  readonly unfinished: BrowserModels['unfinished'] = async () => (await this.#load()).unfinished();
  readonly download: BrowserModels['download'] = async (wish) => (await this.#load()).download(wish);
  readonly remove: BrowserModels['remove'] = async (id) => (await this.#load()).remove(id);
  readonly generate: BrowserModels['generate'] = async (...asked) => (await this.#load()).generate(...asked);
  readonly embed: BrowserModels['embed'] = async (...asked) => (await this.#load()).embed(...asked);

  async #load(): Promise<LentModels> {
    const { LentModels } = await part();
    if (!this.#models) {
      this.#models = new LentModels(this.#options);
      for (const [page, lender] of this.#lenders) this.#models.lend(page, lender);
    }
    return this.#models;
  }
}
