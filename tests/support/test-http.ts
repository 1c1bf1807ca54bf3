import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { SseScanner, type SseEvent } from '#shared/http/sse.ts';
import { type Scope, SCOPES } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { z } from '#shared/rpc/zod.ts';
import { DEFAULT_UPSTREAM_LIMITS } from '#shared/upstream-limits.ts';
import { type Clock, systemClock } from '../../shared/async/clock.ts';
import { GuideProvider } from '../../web/gateway/agent/guide/guide.ts';
import type { HttpDeps } from '../../web/gateway/server/http/http-deps.ts';
import type { HttpAgentRun } from '../../web/gateway/agent/runs/http-agent-run.ts';
import { createHttpHandler } from '../../web/gateway/server/http/http-handler.ts';
import type { ConversationRecord } from '../../web/gateway/storage/records/conversation-record.ts';
import type { ApiFileRecord } from '../../web/gateway/storage/records/api-file-record.ts';
import type { ResponseRecord } from '../../web/gateway/storage/records/response-record.ts';
import type { ModelEvent } from '../../web/gateway/providers/provider.ts';
import type { ProviderConfig } from '../../web/gateway/providers/provider-factory.ts';
import { Providers, type ProvidersOptions } from '../../web/gateway/providers/providers.ts';
import { startUpstream, type Upstream } from '../test-upstream.ts';
import { createMemoryCollection } from './memory-collection.ts';
import { createCheckedHandler } from './openai-shapes/checked-fetch.ts';
import { errorResponse } from './openai-shapes/error-shapes.ts';
import type { response } from './openai-shapes/response-shapes.ts';

export const HTTP_BASE = 'http://127.0.0.1:7333';
/** Back-off without delays. */
const INSTANT_CLOCK: Clock = { ...systemClock, after: (ms, callback) => systemClock.after(ms >= 2000 ? ms : 0, callback) };

/** Retries requests to servers that fail on purpose. */
const RETRY_LIMITS = () => ({ ...DEFAULT_UPSTREAM_LIMITS, failures: 0 });

export async function* toEvents(...list: (ModelEvent | Error)[]): AsyncGenerator<ModelEvent> {
  for (const event of list) {
    if (event instanceof Error) throw event;
    yield event;
  }
}

/** The handler of `/v1` with the agents `main` and `helper`, the guide, and these providers, which go by `clock`. `checked`: its answers are held against the public reference. */
export function createTestHttp(
  configured: ProviderConfig[],
  fetchFrom: typeof fetch = (url, init) => fetch(url, init),
  { clock = INSTANT_CLOCK, checked = true, runners }: { clock?: Clock; checked?: boolean; runners?: ProvidersOptions['runners'] } = {},
) {
  const runs: HttpAgentRun[] = [];
  const faults: unknown[] = [];
  const recorded: Parameters<NonNullable<HttpDeps['record']>>[0][] = [];
  const admitted: string[] = [];
  const noted: Record<string, unknown>[] = [];
  const responses = createMemoryCollection<ResponseRecord>();
  const conversations = createMemoryCollection<ConversationRecord>();
  const apiFiles = createMemoryCollection<ApiFileRecord>();
  const sources = () => ({ memories: () => Promise.resolve([]), messages: () => Promise.resolve([]) });
  const guide = new GuideProvider({ clock: systemClock, sources, paceMs: 0 });
  const providers = new Providers({
    guide,
    fetch: (url, { bytes, body = bytes, ...init }) => fetchFrom(url, body === undefined ? init : { ...init, body }),
    clock,
    localServers: [],
    limits: RETRY_LIMITS,
    runners,
  });
  providers.configure(configured);
  const test = {
    ...{ runs, faults, recorded, admitted, noted, responses, conversations, apiFiles },
    clock: { ...INSTANT_CLOCK },
    /** Perch's own voices. */
    speak: ((_params, _signal) => Promise.reject(new Error('no voice in this test'))) as HttpDeps['speak'],
    /** Converts audio in the browser. */
    convertAudio: (() => Promise.reject(new Error('no browser in this test'))) as HttpDeps['convertAudio'],
    /** Next run of the agent. */
    agent: (_run: HttpAgentRun): AsyncIterable<ModelEvent> =>
      toEvents({ type: 'text', text: 'Hel' }, { type: 'text', text: 'lo' }, { type: 'finish', reason: 'stop' }),
    ask: async (request: Request, principal = 'owner', scopes: Scope[] = [...SCOPES]) => {
      const answer = await http(request, { id: principal, scopes });
      return checked ? createCheckedHandler(request, answer) : answer;
    },
    post: (path: string, body: unknown, { principal, scopes, headers, ...init }: TestRequestInit = {}) =>
      test.ask(
        new Request(HTTP_BASE + path, {
          method: 'POST',
          body: typeof body === 'string' ? body : JSON.stringify(body),
          headers: { 'content-type': 'application/json', ...headers },
          ...init,
        }),
        principal,
        scopes,
      ),
    chat: (body: unknown, asking?: TestRequestInit) => test.post('/v1/chat/completions', body, asking),
    openai: (principal?: string) =>
      new OpenAI({
        baseURL: `${HTTP_BASE}/v1`,
        apiKey: 'token',
        maxRetries: 0,
        fetch: (url, init) => test.ask(new Request(url, init), principal),
      }),
  };
  const http = createHttpHandler({
    agents: {
      list: () => [{ id: 'main' }, { id: 'helper' }],
      run(run) {
        runs.push(run);
        return test.agent(run);
      },
    },
    mcp: () => Promise.reject(new Error('no tools are served here')),
    ...{ providers, responses, conversations, apiFiles, version: '1.2.3' },
    speak: (params, signal) => test.speak(params, signal),
    convertAudio: (audio, format, signal) => test.convertAudio(audio, format, signal),
    clock: {
      now: () => test.clock.now(),
      monotonic: () => test.clock.monotonic(),
      after: (ms, callback) => INSTANT_CLOCK.after(ms, callback),
    },
    fault(error) {
      faults.push(error);
      return new RpcError('INTERNAL_ERROR', 'Something went wrong (id)', { details: { id: 'id' } });
    },
    admit: async (principal) => void admitted.push(principal),
    usageSince: (at) => Promise.resolve(recorded.filter((call) => call.at >= at)),
    record: (call) => recorded.push(call),
    note: (level, message, fields) => noted.push({ level, message, ...fields }),
  });
  return test;
}

type CompletedResponse = z.infer<typeof response>;
type TestRequestInit = Omit<RequestInit, 'headers'> & { headers?: Record<string, string>; principal?: string; scopes?: Scope[] };

/** `/v1` for each test, in front of a local model server, which is the provider `up`. */
export function createUpstreamHttp() {
  let upstream: Upstream;
  let http: ReturnType<typeof createTestHttp>;
  beforeAll(async () => {
    upstream = await startUpstream();
  });
  afterAll(() => upstream.close());
  const createUpstreamHandler = (options?: { clock?: Clock }) =>
    createTestHttp([{ id: 'up', name: 'Upstream', baseUrl: upstream.url }], undefined, options);
  beforeEach(() => {
    http = createUpstreamHandler();
  });
  return {
    /** Returns the response; fails if there is none. */
    async respond(body: Record<string, unknown>, principal?: string): Promise<CompletedResponse> {
      const answer = await http.post('/v1/responses', body, principal === undefined ? {} : { principal });
      const value = (await answer.json()) as CompletedResponse;
      if (value.object !== 'response') throw new Error(JSON.stringify(value));
      return value;
    },
    get upstream() {
      return upstream;
    },
    get http() {
      return http;
    },
    /** Creates another gateway whose providers use this clock. */
    at: (clock: Clock) => createUpstreamHandler({ clock }),
  };
}

export const readError = async (response: Response) => errorResponse.parse(await response.json()).error;

async function readSse(response: Response): Promise<SseEvent[]> {
  const scanner = new SseScanner();
  const bytes = new Uint8Array(await response.arrayBuffer());
  return [...scanner.push(bytes), ...scanner.end()];
}

/** Returns the data of a stream's events. */
export const readData = async (response: Response): Promise<string[]> => (await readSse(response)).map(({ data }) => data);

const streamEvent = z.looseObject({ type: z.string(), sequence_number: z.number() });

/** Returns the events of a stream of `/v1/responses`. */
export const readEvents = async (response: Response): Promise<z.infer<typeof streamEvent>[]> =>
  (await readData(response)).map((data) => streamEvent.parse(JSON.parse(data)));
