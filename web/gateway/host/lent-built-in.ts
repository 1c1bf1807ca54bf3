import type { WorkerLender } from '#shared/ports/host.ts';
import { lazy } from '../core/lazy.ts';
import type { LocalRunner, Runnable } from '../core/providers/local-runner.ts';
import type { AskedPages } from './ask-built-in.ts';

const part = lazy(() => import('./ask-built-in.ts'));

/** The browser's built-in model, which runs in pages: available while one of them has it. */
export class LentBuiltIn implements LocalRunner<Runnable> {
  readonly cannot = ['tools', 'parallelToolCalls', 'seed', 'presencePenalty', 'frequencyPenalty', 'temperature', 'topP'] as const;
  readonly #lenders = new Map<string, WorkerLender>();
  #asked: AskedPages | undefined;

  /** Adds a page that has the model, until it closes. */
  lend(page: string, lender: WorkerLender): void {
    this.#lenders.delete(page);
    this.#lenders.set(page, lender);
    this.#asked?.came();
  }

  gone(page: string): void {
    this.#lenders.delete(page);
    this.#asked?.gone(page);
  }

  async list(): Promise<Runnable[]> {
    if (this.#lenders.size === 0) return [];
    return [{ id: 'language-model', name: 'Built-in model', contextWindow: this.#asked?.contextWindow ?? null, problem: null }];
  }

  readonly generate: LocalRunner['generate'] = async (...asked) => (await this.#load()).generate(...asked);
  readonly embed = async (): Promise<never> => (await this.#load()).embed();

  async #load(): Promise<AskedPages> {
    const { AskedPages } = await part();
    return (this.#asked ??= new AskedPages(this.#lenders));
  }
}
