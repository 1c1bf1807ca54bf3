import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { SelectedModel, Models } from './run-types.ts';

/** The model of a run and its fallbacks. */
export class ModelChain {
  readonly #remaining: string[];
  readonly #models: Pick<Models, 'resolve'>;
  readonly #failures: RpcError[] = [];
  #current: SelectedModel;

  constructor(first: SelectedModel, fallbacks: readonly string[], models: Pick<Models, 'resolve'>) {
    this.#current = first;
    this.#remaining = [...new Set(fallbacks)].filter((key) => key !== first.key);
    this.#models = models;
  }

  get current(): SelectedModel {
    return this.#current;
  }

  /** Switches to the next available model after a failure. Throws the failures of all models if none is left. */
  async next(failure: RpcError): Promise<void> {
    this.#failures.push(failure);
    for (let key = this.#remaining.shift(); key !== undefined; key = this.#remaining.shift()) {
      try {
        this.#current = await this.#models.resolve(key);
        return;
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        this.#failures.push(error);
      }
    }
    throw this.#createError();
  }

  #createError(): RpcError {
    const [first, ...more] = this.#failures;
    if (first && more.length === 0) return first;
    const reasons = this.#failures.map(({ message }) => message.replace(/\.$/, '')).join('; ');
    const limited = this.#failures.every(({ code }) => code === 'RATE_LIMITED');
    const waits = this.#failures.flatMap(({ extra }) => extra.retryAfterMs ?? []);
    return new RpcError(
      limited ? 'RATE_LIMITED' : 'INTERNAL_ERROR',
      `All models failed: ${reasons}.`,
      {
        ...(this.#failures.some(({ extra }) => extra.retryable) ? { retryable: true } : {}),
        ...(waits.length > 0 ? { retryAfterMs: Math.min(...waits) } : {}),
      },
      { cause: first?.cause },
    );
  }
}
