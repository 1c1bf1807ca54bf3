import './local-storage-shim.ts';
import { getResponse } from 'msw';
import { type Fetch, FetchRefusedError } from '../ports/fetch.ts';
import { providerHandlers } from './demo-provider.ts';
import { telegramHandlers } from './demo-telegram.ts';

/** Milliseconds between two words of a reply. */
const WORD_DELAY_MS = 18;

/** The demo's `fetch`: refuses every request without a handler, so that nothing reaches a network. */
export function createDemoFetch(wordDelayMs = WORD_DELAY_MS): Fetch {
  const handlers = [...providerHandlers(wordDelayMs), ...telegramHandlers()];
  return async (url, { method = 'GET', headers = {}, bytes, body = bytes, signal }) => {
    signal.throwIfAborted();
    const response = await getResponse(handlers, new Request(url, { method, headers, signal, ...(body === undefined ? {} : { body }) }));
    if (!response) throw new FetchRefusedError('The demo has no network access');
    return response;
  };
}
