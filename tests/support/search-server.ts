import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A page that the simulated services find. */
export interface IndexedPage {
  title: string;
  url: string;
  text: string;
  published?: string;
}

export interface SearchServerRequest {
  path: string;
  params: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
}

export type Fault = { status: number; headers?: Record<string, string>; body?: string } | 'hang' | 'break';

/** The key that the simulated services accept. */
export const SEARCH_KEY = 'search-key-1234567890';

const DEFAULT_PAGES: readonly IndexedPage[] = [
  {
    title: 'Tulips &amp; roses',
    url: 'https://flowers.test/tulips',
    text: 'A <strong>tulip</strong> blooms in April. Bulbs are planted in October.',
    published: '2026-04-02T08:00:00',
  },
  { title: 'Tulip mania', url: 'https://history.test/mania?year=1637', text: 'Tulip prices collapsed in February 1637.' },
  { title: 'No page', url: 'javascript:alert(1)', text: 'tulip' },
  { title: 'The same page', url: 'https://flowers.test/tulips', text: 'tulip' },
];

/**
 * Search services on one local server, each with its own paths, authentication, parameters, responses and errors: Brave, Tavily, Exa,
 * SearXNG, and the hosted search of OpenAI, Anthropic and Google.
 */
export async function startSearchServer(pages: readonly IndexedPage[] = DEFAULT_PAGES) {
  const requests: SearchServerRequest[] = [];
  /** Faults of the next requests. */
  const faults: Fault[] = [];
  const state = { isJsonAllowed: true, silentEngines: [] as string[][] };
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://search.test');
    const raw = await text(request);
    const body = raw === '' ? {} : (JSON.parse(raw) as Record<string, unknown>);
    const seen = { path: pathname, params: searchParams, headers: request.headers, body };
    requests.push(seen);
    const fault = faults.shift();
    if (fault === 'hang') return;
    if (fault === 'break') return void response.destroy();
    if (fault) return void response.writeHead(fault.status, fault.headers).end(fault.body ?? '');
    const { status, value } = SERVICES[pathname.replace(/\/models\/.*/, '/models')]?.(seen, pages, state) ?? { status: 404, value: {} };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...{ url, requests, faults, state },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface ServiceState {
  isJsonAllowed: boolean;
  silentEngines: string[][];
}
type Answer = { status: number; value: unknown };
type Service = (request: SearchServerRequest, pages: readonly IndexedPage[], state: ServiceState) => Answer;

const find = (pages: readonly IndexedPage[], query: string): IndexedPage[] => {
  const [terms = '', site] = query.split(/ site:/);
  const words = terms.toLowerCase().split(/\W+/).filter(Boolean);
  return pages.filter(
    (page) =>
      (site === undefined || URL.parse(page.url)?.host === site) &&
      words.some((word) => `${page.title} ${page.text}`.toLowerCase().includes(word)),
  );
};

const withDomains = (query: unknown, domains: unknown): string =>
  `${String(query)}${Array.isArray(domains) ? ` site:${domains.join()}` : ''}`;

const getPrompt = (value: unknown): string => /Query: "(.*)"/.exec(JSON.stringify(value).replaceAll('\\"', '"'))?.[1] ?? '';

const SERVICES: Record<string, Service> = {
  '/web/search': ({ params, headers }, pages) =>
    headers['x-subscription-token'] === SEARCH_KEY
      ? {
          status: 200,
          value: {
            type: 'search',
            web: {
              type: 'search',
              results: find(pages, params.get('q') ?? '')
                .slice(0, Number(params.get('count')))
                .map(({ title, url, text: description, published }) => ({ title, url, description, page_age: published, language: 'en' })),
            },
          },
        }
      : {
          status: 422,
          value: { type: 'ErrorResponse', error: { code: 'SUBSCRIPTION_TOKEN_INVALID', detail: 'The token is invalid', status: 422 } },
        },
  // Tavily and Exa by POST, SearXNG by GET.
  '/search': ({ params, headers, body }, pages, state) => {
    const { query, max_results: limit, include_domains: domains, numResults, includeDomains } = body;
    if (params.has('q')) {
      if (!state.isJsonAllowed || params.get('format') !== 'json')
        return { status: 403, value: '<!doctype html><title>403 Forbidden</title>' };
      const results = find(pages, params.get('q') ?? '').map(({ title, url, text: content, published }) => ({
        ...{ title, url, content, engine: 'test', score: 1, category: 'general', publishedDate: published ?? null },
      }));
      return {
        status: 200,
        value: { query: params.get('q'), number_of_results: 0, results, answers: [], unresponsive_engines: state.silentEngines },
      };
    }
    if (numResults !== undefined) {
      if (headers['x-api-key'] !== SEARCH_KEY) return { status: 401, value: { error: 'Invalid API key', tag: 'INVALID_API_KEY' } };
      const results = find(pages, withDomains(query, includeDomains)).slice(0, Number(numResults));
      return {
        status: 200,
        value: {
          requestId: 'r',
          results: results.map(({ title, url, text: whole, published }) => ({
            id: url,
            title,
            url,
            publishedDate: published,
            highlights: [whole],
          })),
        },
      };
    }
    if (headers['x-tavily-access-mode'] !== 'keyless' && headers.authorization !== `Bearer ${SEARCH_KEY}`)
      return { status: 401, value: { detail: { error: 'Unauthorized: missing or invalid API key.' } } };
    const results = find(pages, withDomains(query, domains)).slice(0, Number(limit));
    return {
      status: 200,
      value: {
        query,
        images: [],
        response_time: 0.1,
        results: results.map(({ title, url, text: content }) => ({ title, url, content, score: 0.9 })),
      },
    };
  },
  '/responses': ({ headers, body }, pages) => {
    if (headers.authorization !== `Bearer ${SEARCH_KEY}`)
      return {
        status: 401,
        value: { error: { message: 'Incorrect API key provided', type: 'invalid_request_error', code: 'invalid_api_key' } },
      };
    const [tool] = body['tools'] as { type: string; filters?: { allowed_domains: string[] } }[];
    const found = find(pages, withDomains(getPrompt(body['input']), tool?.filters?.allowed_domains));
    let answer = '';
    const annotations = found.map(({ title, url, text: about }) => {
      answer += `${about} `;
      const start = answer.length;
      answer += `([${title}](${url}))\n`;
      return { type: 'url_citation', start_index: start, end_index: answer.length - 1, url, title };
    });
    return {
      status: 200,
      value: {
        ...{ id: 'resp_1', object: 'response', status: 'completed' },
        output: [
          {
            type: 'web_search_call',
            id: 'ws_1',
            status: 'completed',
            action: { type: 'search', sources: found.map(({ url }) => ({ type: 'url', url })) },
          },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: answer, annotations }] },
        ],
        usage: { input_tokens: 100, output_tokens: 20, total_tokens: 120 },
      },
    };
  },
  '/messages': ({ headers, body }, pages) => {
    if (headers['x-api-key'] !== SEARCH_KEY)
      return { status: 401, value: { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } } };
    const [tool] = body['tools'] as { type: string; allowed_domains?: string[] }[];
    const found = find(pages, withDomains(getPrompt(body['messages']), tool?.allowed_domains));
    return {
      status: 200,
      value: {
        ...{ id: 'msg_1', type: 'message', role: 'assistant', stop_reason: 'end_turn' },
        content: [
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'tulip' } },
          {
            type: 'web_search_tool_result',
            tool_use_id: 'srvtoolu_1',
            content: found.map(({ title, url }) => ({
              type: 'web_search_result',
              title,
              url,
              encrypted_content: 'e',
              page_age: '2 days ago',
            })),
          },
          ...found.map(({ title, url, text: cited }) => ({
            type: 'text',
            text: cited,
            citations: [{ type: 'web_search_result_location', url, title, encrypted_index: 'e', cited_text: cited }],
          })),
        ],
        usage: { input_tokens: 100, output_tokens: 20, server_tool_use: { web_search_requests: 1 } },
      },
    };
  },
  '/models': ({ headers, body }, pages) => {
    if (headers['x-goog-api-key'] !== SEARCH_KEY)
      return { status: 400, value: { error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } } };
    const found = find(pages, getPrompt(body['contents']));
    return {
      status: 200,
      value: {
        candidates: [
          {
            content: { role: 'model', parts: [{ text: found.map(({ text: about }) => about).join(' ') }] },
            groundingMetadata: {
              webSearchQueries: ['tulip'],
              groundingChunks: found.map(({ url, title }) => ({ web: { uri: url, title } })),
              groundingSupports: found.map(({ text: about }, index) => ({ segment: { text: about }, groundingChunkIndices: [index] })),
            },
          },
        ],
        usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
      },
    };
  },
};
