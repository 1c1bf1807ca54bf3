import type { PageWorkerProvider } from '#shared/ports/host-api.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { LocalRunner, RunnableModel } from '../providers/local-runner.ts';
import type { BuiltInModelRunner } from './built-in-model-runner.ts';

const loadRunner = lazy(() => import('./built-in-model-runner.ts'));

/** The browser's built-in model, which runs in pages: available while one of them has it. */
export class PageBuiltInModel implements LocalRunner<RunnableModel> {
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
