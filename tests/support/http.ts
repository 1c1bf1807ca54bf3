import { SseScanner } from '#shared/http/sse.ts';
import { type Scope, SCOPES } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { z } from '#shared/rpc/zod.ts';
import { type Clock, systemClock } from '../../web/gateway/core/clock.ts';
import { GuideProvider } from '../../web/gateway/core/guide/guide.ts';
import type { HttpAgentRun, HttpDeps } from '../../web/gateway/core/http/deps.ts';
import { createHttp } from '../../web/gateway/core/http/http.ts';
import type { ResponseRecord } from '../../web/gateway/core/http/responses/record.ts';
import type { ModelEvent } from '../../web/gateway/core/providers/provider.ts';
import type { ProviderConfig } from '../../web/gateway/core/providers/made-provider.ts';
import { Providers } from '../../web/gateway/core/providers/providers.ts';
import { UPSTREAM_LIMITS } from '../../web/gateway/core/providers/upstream-limits.ts';
import { memoryCollection } from './memory-collection.ts';

export const HTTP_BASE = 'http://127.0.0.1:7333';
/** Back-off without its waiting. */
const hasty: Clock = { ...systemClock, after: (ms, callback) => systemClock.after(ms >= 2000 ? ms : 0, callback) };

/** Servers that fail on purpose are asked again. */
const limits = () => ({ ...UPSTREAM_LIMITS, failures: 0 });

export async function* events(...list: (ModelEvent | Error)[]): AsyncGenerator<ModelEvent> {
  for (const event of list) {
    if (event instanceof Error) throw event;
    yield event;
  }
}

/** The handler of `/v1` with the agents `main` and `helper`, the guide, and these providers. */
export function testHttp(configured: ProviderConfig[], fetchFrom: typeof fetch = (url, init) => fetch(url, init)) {
  const runs: HttpAgentRun[] = [];
  const faults: unknown[] = [];
  const recorded: Parameters<NonNullable<HttpDeps['record']>>[0][] = [];
  const admitted: string[] = [];
  const responses = memoryCollection<ResponseRecord>();
  const sources = { memories: () => Promise.resolve([]), messages: () => Promise.resolve([]) };
  const guide = new GuideProvider({ clock: systemClock, sources, paceMs: 0 });
  const providers = new Providers({ guide, fetch: (url, init) => fetchFrom(url, init), clock: hasty, localServers: [], limits });
  providers.configure(configured);
  const test = {
    ...{ runs, faults, recorded, admitted, responses },
    clock: { ...hasty },
    /** What the agent does next. */
    agent: (_run: HttpAgentRun): AsyncIterable<ModelEvent> =>
      events({ type: 'text', text: 'Hel' }, { type: 'text', text: 'lo' }, { type: 'finish', reason: 'stop' }),
    ask: (request: Request, principal = 'owner', scopes: Scope[] = [...SCOPES]) => http(request, { id: principal, scopes }),
    post: (path: string, body: unknown, { principal, ...init }: RequestInit & { principal?: string } = {}) =>
      test.ask(
        new Request(HTTP_BASE + path, {
          method: 'POST',
          body: typeof body === 'string' ? body : JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
          ...init,
        }),
        principal,
      ),
  };
  const http = createHttp({
    agents: {
      list: () => [{ id: 'main' }, { id: 'helper' }],
      run(run) {
        runs.push(run);
        return test.agent(run);
      },
    },
    ...{ providers, responses },
    clock: { now: () => test.clock.now(), monotonic: () => test.clock.monotonic(), after: (ms, callback) => hasty.after(ms, callback) },
    fault(error) {
      faults.push(error);
      return new RpcError('INTERNAL_ERROR', 'Something went wrong (id)', { details: { id: 'id' } });
    },
    admit: async (principal) => void admitted.push(principal),
    record: (call) => recorded.push(call),
  });
  return test;
}

const errorBody = z.object({
  error: z.object({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string().nullable() }),
});
export const readError = async (response: Response) => errorBody.parse(await response.json()).error;

const streamEvent = z.looseObject({ type: z.string(), sequence_number: z.number() });

/** The events of a stream, each checked to be called on its `event:` line as in its data. */
export async function readEvents(response: Response): Promise<z.infer<typeof streamEvent>[]> {
  const scanner = new SseScanner();
  const bytes = new Uint8Array(await response.arrayBuffer());
  return [...scanner.push(bytes), ...scanner.end()].map(({ event, data }) => {
    const parsed = streamEvent.parse(JSON.parse(data));
    if (event !== parsed.type) throw new Error(`The event ${parsed.type} is called ${event}`);
    return parsed;
  });
}
