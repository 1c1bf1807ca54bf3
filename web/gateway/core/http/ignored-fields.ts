import { RpcError } from '#shared/rpc/errors.ts';
import { type ModelEvent, type ModelRequest, Unsupported, type Wishes } from '../providers/provider.ts';
import type { HttpDeps } from './deps.ts';

/** Response header with the request's fields without effect, separated by commas. */
export const IGNORED_HEADER = 'x-perch-ignored';
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
const OPTIONAL: ReadonlySet<keyof ModelRequest> = new Set<keyof Wishes>([
  ...(['temperature', 'topP', 'seed', 'presencePenalty', 'frequencyPenalty', 'parallelToolCalls', 'reasoningEffort'] as const),
]);

/**
 * Yields the events of `make`, called again without each optional field that the model does not support. `nameOf` returns the field's name
 * in the caller's API.
 */
export async function* withoutUnsupported(
  wishes: Wishes,
  make: (wishes: Wishes) => AsyncIterable<ModelEvent>,
  { ignored, nameOf }: { ignored: IgnoredFields; nameOf: (field: keyof ModelRequest) => string },
): AsyncGenerator<ModelEvent> {
  let left = wishes;
  for (;;) {
    try {
      return yield* make(left);
    } catch (error) {
      const unsupported = error instanceof RpcError ? error.cause : error;
      // Thrown before the request is sent, so nothing has been answered yet.
      if (!(unsupported instanceof Unsupported) || !OPTIONAL.has(unsupported.field) || !(unsupported.field in left)) throw error;
      ignored.add(nameOf(unsupported.field));
      left = Object.fromEntries(Object.entries(left).filter(([field]) => field !== unsupported.field));
    }
  }
}
