import { id as sessionIdShape } from '#shared/rpc/frames.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { Usage } from '#shared/rpc/records.ts';
import { estimateTokens } from '../providers/estimate.ts';
import { canForward } from '../providers/forwarding.ts';
import type { ModelEvent } from '../providers/provider.ts';
import type { Route } from '../providers/providers.ts';
import { readJson } from './body.ts';
import { type Envelope, readEnvelope, readKnown } from './chat-request.ts';
import { completionHead } from './completion.ts';
import { badRequest, type HttpError, modelNotFound } from './errors.ts';
import { passStream, passWhole } from './forward.ts';
import { type EventSource, streamFromEvents, wholeFromEvents } from './from-events.ts';
import type { HttpDeps } from './deps.ts';
import type { Thoughts } from './thoughts.ts';
import { translated } from './translated.ts';

const AGENT_PREFIX = 'perch/';
const HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };

export interface ChatDeps extends HttpDeps {
  thoughts: Thoughts;
  /** What went wrong with this request, as it is told, and noted in the log under its id. */
  explain(error: unknown): HttpError;
}

interface Call {
  body: Envelope;
  principal: string;
  /** Fires when the caller hangs up. */
  abort: AbortController;
  sessionId: string | undefined;
}

/** `POST /v1/chat/completions` (interface document 1, section 4.3; decisions, "HTTP"). Throws what `toHttpError` explains. */
export async function answerChat(request: Request, principal: string, deps: ChatDeps): Promise<Response> {
  const abort = new AbortController();
  const hangUp = (): void => abort.abort(request.signal.reason);
  if (request.signal.aborted) hangUp();
  else request.signal.addEventListener('abort', hangUp, { once: true });
  const settled = (): void => request.signal.removeEventListener('abort', hangUp);
  try {
    const body = readEnvelope(await readJson(request));
    const call = { body, principal, abort, sessionId: headerSession(request) };
    const agentId = agentOf(body.model, deps);
    const source = agentId === undefined ? await direct(call, deps) : agent(call, agentId, deps);
    if (body.stream) return await streamed(source.stream(), abort, settled);
    const whole = await source.whole();
    settled();
    return new Response(whole, { headers: { 'content-type': 'application/json' } });
  } catch (error) {
    settled();
    // Whoever asked is gone; 499 is what proxies log then.
    if (abort.signal.aborted) return new Response(null, { status: 499 });
    throw error;
  }
}

/** An answer that has been asked for, in the form that the caller wants. */
interface Source {
  /** Server-sent events; throws only before the first. */
  stream(): AsyncGenerator<string>;
  /** JSON text. */
  whole(): Promise<string>;
}

function headerSession(request: Request): string | undefined {
  const header = request.headers.get('x-perch-session');
  if (header === null) return undefined;
  if (!sessionIdShape.safeParse(header).success) throw badRequest('x-perch-session: must match [A-Za-z0-9_-]{1,128}', 'x-perch-session');
  return header;
}

function agentOf(model: string, { agents }: HttpDeps): string | undefined {
  const named = model.startsWith(AGENT_PREFIX) ? model.slice(AGENT_PREFIX.length) : undefined;
  const id = named ?? model;
  if (agents.list().some((agent) => agent.id === id)) return id;
  if (named !== undefined) throw modelNotFound(`There is no agent "${named}"; GET /v1/models lists those that there are`);
  return undefined;
}

function eventSource(source: EventSource, call: Call, { explain }: ChatDeps): Source {
  const withUsage = call.body.stream_options?.include_usage === true;
  return {
    stream: () => streamFromEvents(source, { withUsage, signal: call.abort.signal, explain }),
    whole: async () => JSON.stringify(await wholeFromEvents(source)),
  };
}

function agent(call: Call, agentId: string, deps: ChatDeps): Source {
  const { body, principal, abort } = call;
  const { messages, wishes, user, tools } = readKnown(body);
  if (tools.length > 0) throw badRequest('tools: an agent has its own; ask a model directly to bring yours', 'tools');
  if ((body.n ?? 1) > 1) throw badRequest('n: an agent gives one choice', 'n');
  const sessionId = call.sessionId ?? (user === undefined ? undefined : sessionOf(user));
  const events = deps.agents.run({ agentId, messages, sessionId, principal, wishes, signal: abort.signal });
  const head = completionHead(body.model, deps.clock.now());
  // The run itself records its usage.
  return eventSource({ choices: [ownCalls(events)], head, messages, record: () => {} }, call, deps);
}

/** An agent's tool calls are its own business: it has run them already, and the caller could not answer them. */
async function* ownCalls(events: AsyncIterable<ModelEvent>): AsyncGenerator<ModelEvent> {
  for await (const event of events) {
    if (event.type === 'tool_call') continue;
    yield event.type === 'finish' && event.reason === 'tool_calls' ? { type: 'finish', reason: 'stop' } : event;
  }
}

async function direct(call: Call, deps: ChatDeps): Promise<Source> {
  const { body, abort, principal } = call;
  const { signal } = abort;
  const route = await find(body.model, signal, deps);
  const { provider, model, key } = route;
  const record = (usage: Usage): void => deps.record?.({ at: deps.clock.now(), provider: provider.id, model: key, principal, usage });
  const head = completionHead(body.model, deps.clock.now());
  if (!canForward(provider)) {
    const { messages, choices } = translated(call, { provider, model }, deps);
    return eventSource({ choices, head, messages, record }, call, deps);
  }
  const forwarded = await provider.forward({ ...body, model }, signal);
  const counted = (usage: Usage | undefined, chars: number): void => record(usage ?? guess(body, chars));
  const passing = { provider: provider.name, forwarded, record: counted };
  return {
    stream: () => passStream(passing, { choices: body.n ?? 1, signal, explain: deps.explain }),
    whole: () => passWhole(passing, head).catch((error: unknown) => Promise.reject(forwarded.told(error))),
  };
}

async function find(model: string, signal: AbortSignal, { providers }: HttpDeps): Promise<Route> {
  try {
    return await providers.resolve(model, undefined, signal);
  } catch (error) {
    throw error instanceof RpcError && error.code === 'NOT_FOUND'
      ? modelNotFound(`There is no model "${model}"; GET /v1/models lists those that there are`)
      : error;
  }
}

function guess(body: Envelope, outputChars: number): Usage {
  const inputTokens = estimateTokens(JSON.stringify(body.messages));
  const outputTokens = Math.ceil(outputChars / 4);
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, estimated: true };
}

/** The response to a stream whose first part has come, so that a failure before it has a status of its own. */
async function streamed(source: AsyncGenerator<string>, abort: AbortController, settled: () => void): Promise<Response> {
  const encoder = new TextEncoder();
  let next: IteratorResult<string> | undefined = await source.next();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = next ?? (await source.next());
      next = undefined;
      if (!done) return controller.enqueue(encoder.encode(value));
      settled();
      controller.close();
    },
    cancel(reason) {
      settled();
      abort.abort(reason);
      // Queued behind a read under way, which the signal ends.
      void source.return(undefined).catch(() => {});
    },
  });
  return new Response(body, { headers: HEADERS });
}

/** `user` is free text in this format: what is no session id becomes one, by its readable part and a hash. */
export function sessionOf(user: string): string {
  if (sessionIdShape.safeParse(user).success) return user;
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(user)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return `${user.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, 100)}-${hash.toString(16).padStart(8, '0')}`;
}
