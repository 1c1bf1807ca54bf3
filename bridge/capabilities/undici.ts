import type { Dispatcher } from 'undici';
import askThrough from 'undici/lib/api/api-request.js';
import Agent from 'undici/lib/dispatcher/agent.js';

// Imports only the parts of undici used here: its main file also loads caches, mocks and a second `fetch`, four times as much
// (tests/bench/NOTES.md).
export { Agent };

interface RequestOptions extends Omit<Dispatcher.RequestOptions, 'origin' | 'path' | 'method'> {
  /** Default: `GET`. */
  method?: Dispatcher.HttpMethod;
  dispatcher: Dispatcher;
}

/** undici's `request`: sends an HTTP request to an absolute URL. Resolves to the head of the response and a body stream. */
export function request(
  address: string | URL,
  { dispatcher, method = 'GET', ...options }: RequestOptions,
): Promise<Dispatcher.ResponseData> {
  const { origin, pathname, search } = new URL(address);
  return askThrough.call(dispatcher, { ...options, method, origin, path: pathname + search });
}
