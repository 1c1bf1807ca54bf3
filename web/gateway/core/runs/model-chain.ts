import { RpcError } from '#shared/rpc/errors.ts';
import type { Chosen, Models } from './deps.ts';

/** The model of a run and its fallbacks. */
export class ModelChain {
  readonly #left: string[];
  readonly #models: Pick<Models, 'resolve'>;
  readonly #failures: RpcError[] = [];
  #current: Chosen;

  constructor(first: Chosen, fallbacks: readonly string[], models: Pick<Models, 'resolve'>) {
    this.#current = first;
    this.#left = [...new Set(fallbacks)].filter((key) => key !== first.key);
    this.#models = models;
  }

  get current(): Chosen {
    return this.#current;
  }

  /** Switches to the next available model after a failure. Throws the failures of all models if none is left. */
  async next(failure: RpcError): Promise<void> {
    this.#failures.push(failure);
    for (let key = this.#left.shift(); key !== undefined; key = this.#left.shift()) {
      try {
        this.#current = await this.#models.resolve(key);
        return;
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        this.#failures.push(error);
      }
    }
    throw this.#all();
  }

  #all(): RpcError {
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
