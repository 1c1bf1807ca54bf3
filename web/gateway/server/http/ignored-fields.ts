import { RpcError } from '#shared/rpc/rpc-error.ts';
import { type ModelEvent, type ModelRequest, UnsupportedOptionError, type GenerationOptions } from '../../providers/provider.ts';
import type { HttpDeps } from './http-deps.ts';

/** Response header with the request's fields without effect, separated by commas. */
const IGNORED_HEADER = 'x-perch-ignored';
const MAX_NAMES = 50;
const MAX_NAME_CHARS = 100;

/** Fields of a request that had no effect on its answer. */
export class IgnoredFields {
  readonly #names = new Set<string>();

  add(name: string): void {
    // Names are untrusted, and a header must be ASCII.
    if (this.#names.size < MAX_NAMES) this.#names.add(name.slice(0, MAX_NAME_CHARS).replaceAll(/[^\w.[\]$-]/g, '_'));
  }

  /** Names the fields in the response and in the log. */
  report(response: Response, note: HttpDeps['note']): Response {
    if (this.#names.size === 0) return response;
    const fields = [...this.#names];
    note?.('info', 'Request fields without effect', { fields });
    response.headers.set(IGNORED_HEADER, fields.join(', '));
    return response;
  }
}

/** Options that can be omitted without changing the meaning of an answer. */
const OMITTABLE: ReadonlySet<keyof ModelRequest> = new Set<keyof GenerationOptions>([
  ...(['temperature', 'topP', 'seed', 'presencePenalty', 'frequencyPenalty', 'parallelToolCalls', 'reasoningEffort'] as const),
]);

/**
 * Yields the events of `run`, called again without each optional field that the model does not support. `toParamName` returns the field's name
 * in the caller's API.
 */
export async function* retryWithoutUnsupported(
  generationOptions: GenerationOptions,
  run: (wishes: GenerationOptions) => AsyncIterable<ModelEvent>,
  { ignored, toParamName }: { ignored: IgnoredFields; toParamName: (field: keyof ModelRequest) => string },
): AsyncGenerator<ModelEvent> {
  let remaining = generationOptions;
  for (;;) {
    try {
      return yield* run(remaining);
    } catch (error) {
      const unsupported = error instanceof RpcError ? error.cause : error;
      // Thrown before the request is sent, so nothing has been answered yet.
      if (!(unsupported instanceof UnsupportedOptionError) || !OMITTABLE.has(unsupported.field) || !(unsupported.field in remaining))
        throw error;
      ignored.add(toParamName(unsupported.field));
      remaining = Object.fromEntries(Object.entries(remaining).filter(([field]) => field !== unsupported.field));
    }
  }
}
