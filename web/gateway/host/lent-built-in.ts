import { RpcError } from '#shared/rpc/errors.ts';
import type { WorkerLender } from '#shared/ports/host.ts';
import { lazy } from '../core/lazy.ts';
import type { LocalRunner, Runnable } from '../core/providers/local-runner.ts';

const MODEL = 'language-model';
const asking = lazy(() => import('./ask-built-in.ts'));

/** The model that the browser itself brings, which pages run: it is there while one of them has it. */
export class LentBuiltIn implements LocalRunner<Runnable> {
  readonly cannot = ['tools', 'parallelToolCalls', 'seed', 'presencePenalty', 'frequencyPenalty', 'temperature', 'topP'] as const;
  readonly #lenders = new Map<string, WorkerLender>();
  /** Ends what a page is asked. */
  readonly #running = new Map<() => void, string>();
  /** Those who wait for a page that has it. */
  readonly #waiting = new Set<() => void>();
  /** Known once it has answered. */
  #contextWindow: number | null = null;

  /** A page has it, by its name, until it is gone. */
  lend(page: string, lender: WorkerLender): void {
    this.#lenders.delete(page);
    this.#lenders.set(page, lender);
    for (const go of this.#waiting) go();
  }

  gone(page: string): void {
    this.#lenders.delete(page);
    for (const [end, by] of this.#running) if (by === page) end();
  }

  async list(): Promise<Runnable[]> {
    if (this.#lenders.size === 0) return [];
    return [{ id: MODEL, name: 'Built-in model', contextWindow: this.#contextWindow, problem: null }];
  }

  async generate(...[id, request, options]: Parameters<LocalRunner['generate']>): ReturnType<LocalRunner['generate']> {
    if (id !== MODEL) throw new RpcError('NOT_FOUND', `The browser has no model "${id}"`);
    const { askPages, pageComes } = await asking();
    if (this.#lenders.size === 0) await pageComes(this.#waiting, options.signal);
    const { contextWindow, ...answer } = await askPages(this.#lenders, this.#running, request, options);
    this.#contextWindow = contextWindow;
    return answer;
  }

  embed(): Promise<never> {
    return Promise.reject(new RpcError('INVALID_PARAMS', 'The browser’s own model makes no vectors', { details: { field: 'model' } }));
  }
}
