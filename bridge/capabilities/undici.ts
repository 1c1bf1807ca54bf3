import type { Dispatcher } from 'undici';
import askThrough from 'undici/lib/api/api-request.js';
import Agent from 'undici/lib/dispatcher/agent.js';

// Of undici what is used here: by its main file it loads caches, mocks, and a second `fetch` as well, which is four times as much (tests/bench/NOTES.md).
export { Agent };

export interface RequestOptions extends Omit<Dispatcher.RequestOptions, 'origin' | 'path' | 'method'> {
  /** `GET` by default. */
  method?: Dispatcher.HttpMethod;
  dispatcher: Dispatcher;
}

/** undici's `request`: sends one HTTP request to an absolute address, and resolves with the head of its answer and a body that comes. */
export function request(
  address: string | URL,
  { dispatcher, method = 'GET', ...options }: RequestOptions,
): Promise<Dispatcher.ResponseData> {
  const { origin, pathname, search } = new URL(address);
  return askThrough.call(dispatcher, { ...options, method, origin, path: pathname + search });
}
