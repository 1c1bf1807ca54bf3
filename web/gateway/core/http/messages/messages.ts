import { IGNORED_HEADER, toIgnoredHeader } from '#shared/http/ignored.ts';
import { BETA_HEADER, toVariant, VERSION_HEADER, writeEvent } from '#shared/http/messages-api.ts';
import { KEPT_BODY, splicedResponse } from '#shared/link/splice.ts';
import type { Usage } from '#shared/rpc/records.ts';
import { sha256 } from '#shared/sha256.ts';
import { estimateFor } from '#shared/tokens/estimate.ts';
import { familyOf } from '#shared/tokens/family.ts';
import { countedStream } from '../../providers/counted-stream.ts';
import { countMessage, guessed } from '../../providers/estimate.ts';
import { canForward, type PastHost } from '../../providers/forwarding.ts';
import { canForwardMessages, type MessagesHeaders, type MessagesProvider } from '../../providers/messages-forwarding.ts';
import { type ModelEvent, type ModelMessage, ProviderError, type ToolSpec, type Wishes } from '../../providers/provider.ts';
import type { Route } from '../../providers/providers.ts';
import { retriedStream } from '../../providers/retry.ts';
import { readWritten } from '../body.ts';
import { bodyOf, type Caller, forCaller, streamed } from '../caller.ts';
import type { ChatDeps as Deps } from '../chat.ts';
import { badRequest } from '../errors.ts';
import { withoutRefusedEffort } from '../refused-effort.ts';
import { agentOf, headerSession, routeOf } from '../target.ts';
import { toErrorEvent } from './errors.ts';
import { streamMessage, type MessageSource, wholeMessage } from './from-events.ts';
import { readMessages } from './input.ts';
import { messageHead } from './output.ts';
import { passMessageStream, passWholeMessage } from './passing.ts';
import { type Envelope, readEnvelope, readParams } from './request.ts';

interface Call {
  body: Envelope;
  /** The body as the bridge has it; undefined if that is unknown. */
  text: string | undefined;
  principal: string;
  caller: Caller;
  request: Request;
  /** Parameters without effect. */
  ignored: Set<string>;
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** `POST /v1/messages`: Anthropic's Messages API for models of every provider and for agents. Throws errors that `toHttpError` explains. */
export function answerMessages(request: Request, principal: string, deps: Deps): Promise<Response> {
  return forCaller(request, async (caller) => {
    const { value, text, size } = await readWritten(request);
    const body = readEnvelope(value);
    const isKept = size <= KEPT_BODY && new TextEncoder().encode(text).byteLength === size;
    const call: Call = { body, text: isKept ? text : undefined, principal, caller, request, ignored: new Set() };
    const agentId = agentOf(body.model, deps);
    if (agentId !== undefined) return answerEvents(agentSource(call, agentId, deps), call, deps);
    const route = await routeOf(body.model, caller.abort.signal, deps);
    if (canForwardMessages(route.provider)) return passOn(call, route, route.provider, deps);
    return answerEvents(modelSource(call, route, deps), call, deps);
  });
}

/**
 * `POST /v1/messages/count_tokens`. Anthropic counts for its own models; for others, Perch counts the request, without additions of an
 * agent.
 */
export function countMessageTokens(request: Request, deps: Deps): Promise<Response> {
  return forCaller(request, async ({ abort, settled }) => {
    const { value } = await readWritten(request);
    const body = readEnvelope(value);
    const ignored = new Set<string>();
    const agentId = agentOf(body.model, deps);
    const route = agentId === undefined ? await routeOf(body.model, abort.signal, deps) : undefined;
    const theirs =
      route && canForwardMessages(route.provider) ? await upstreamCount(body, route, route.provider, request, abort.signal) : undefined;
    const answer = theirs ?? { input_tokens: await ownCount(body, route?.key ?? body.model, ignored, abort.signal) };
    settled();
    return Response.json(answer, { headers: ignoredHeaders(theirs ? new Set() : ignored) });
  });
}

/** Undefined if the server does not support counting. */
async function upstreamCount(
  body: Envelope,
  { model }: Route,
  provider: MessagesProvider,
  request: Request,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    const counted = await provider.countTokens({ ...body, model }, signal, readHeaders(request));
    return typeof counted === 'object' && counted !== null && 'input_tokens' in counted ? counted : undefined;
  } catch (error) {
    if (error instanceof ProviderError && (error.status === 404 || error.status === 405 || error.status === 501)) return undefined;
    throw error;
  }
}

async function ownCount(body: Envelope, key: string, ignored: Set<string>, signal: AbortSignal): Promise<number> {
  const { params, tools } = readParams(body, ignored);
  const declared: ModelMessage[] = tools.length > 0 ? [{ role: 'system', content: JSON.stringify(tools) }] : [];
  let tokens = 0;
  for (const message of [...readMessages(params, ignored), ...declared]) tokens += await countMessage(message, key, signal);
  return tokens;
}

const readHeaders = (request: Request): MessagesHeaders => ({
  version: request.headers.get(VERSION_HEADER),
  beta: request.headers.get(BETA_HEADER),
  betaPath: new URL(request.url).searchParams.get('beta') === 'true',
});

function ignoredHeaders(ignored: ReadonlySet<string>): Record<string, string> {
  const named = toIgnoredHeader(ignored);
  return named === undefined ? {} : { [IGNORED_HEADER]: named };
}

async function answerEvents(source: MessageSource, { body, caller, ignored }: Call, deps: Deps): Promise<Response> {
  let response: Response;
  if (body.stream) {
    const told = (error: unknown): string => writeEvent(toErrorEvent(error, deps.explain(error), deps.requestId));
    response = await streamed(streamMessage(source, { signal: caller.abort.signal, told, clock: deps.clock }), caller);
  } else {
    const whole = JSON.stringify(await wholeMessage(source));
    caller.settled();
    response = new Response(whole, { headers: JSON_TYPE });
  }
  for (const [name, value] of Object.entries(ignoredHeaders(ignored))) response.headers.set(name, value);
  return response;
}

function agentSource({ body, principal, caller, request, ignored }: Call, agentId: string, deps: Deps): MessageSource {
  const { params, tools, wishes } = readParams(body, ignored);
  const messages = readMessages(params, ignored);
  if (!messages.some(({ role }) => role !== 'system')) throw badRequest('`messages` has no content for the agent.', 'messages');
  const sessionId = headerSession(request);
  if (sessionId !== undefined && tools.length > 0)
    throw badRequest('`tools` is not supported in a session of an agent. Leave out the header x-perch-session to pass tools.', 'tools');
  const run = (given: Wishes): AsyncIterable<ModelEvent> =>
    deps.agents.run({ agentId, messages, sessionId, principal, wishes: given, tools, signal: caller.abort.signal });
  return {
    events: callerCalls(
      withoutRefusedEffort(run, wishes, () => ignored.add('thinking')),
      tools,
    ),
    head: messageHead(body.model),
    messages,
    // The run records its own usage.
    record: () => {},
  };
}

/** Calls of the agent's own tools are not for the client: the agent has already run them. */
async function* callerCalls(events: AsyncIterable<ModelEvent>, tools: readonly ToolSpec[]): AsyncGenerator<ModelEvent> {
  let called = false;
  for await (const event of events) {
    if (event.type === 'tool_call' && !tools.some(({ name }) => name === event.call.tool)) continue;
    called ||= event.type === 'tool_call';
    yield event.type === 'finish' && event.reason === 'tool_calls' && !called ? { type: 'finish', reason: 'stop' } : event;
  }
}

/** Maximum length of a user's ID that OpenAI accepts. */
const MAX_USER_CHARS = 64;

function modelSource({ body, principal, caller, ignored }: Call, { provider, model, key }: Route, deps: Deps): MessageSource {
  const { clock, thoughts } = deps;
  const { params, tools, wishes } = readParams(body, ignored);
  const messages = readMessages(params, ignored);
  const { signal } = caller.abort;
  const userId = params.metadata?.user_id;
  const run = async function* (given: Wishes): AsyncGenerator<ModelEvent> {
    const passed = userId && canForward(provider) ? { user: userId.length > MAX_USER_CHARS ? await sha256(userId) : userId } : undefined;
    const request = { ...given, model, messages: thoughts.restored(principal, messages), tools, exact: true, passed };
    yield* retriedStream(() => provider.stream(request, signal), { clock, signal });
  };
  return {
    events: thoughts.noting(
      principal,
      countedStream(
        withoutRefusedEffort(run, wishes, () => ignored.add('thinking')),
        messages,
        key,
      ),
    ),
    head: messageHead(body.model),
    messages,
    record: (usage) => deps.record?.({ at: clock.now(), provider: provider.id, model: key, principal, usage }),
  };
}

/** Forwards the client's request to Anthropic, and the answer back. */
async function passOn(call: Call, { model, key }: Route, provider: MessagesProvider, deps: Deps): Promise<Response> {
  const { body, text, principal, caller, request } = call;
  const { signal } = caller.abort;
  const headers = readHeaders(request);
  const { pathname, search } = new URL(request.url);
  const inputTokens = estimateFor(JSON.stringify(body.messages), familyOf(key));
  const to = deps.exchange && {
    exchange: deps.exchange,
    own: text === undefined ? undefined : { body, text },
    // The limits of a key are checked for each request.
    stands: !principal.startsWith('key:'),
    variant: toVariant(pathname + search, headers.version, headers.beta),
    call: { id: crypto.randomUUID(), provider: provider.id, model: key, principal, inputTokens },
  };
  const forwarded = await provider.forwardMessages({ ...body, model }, signal, { headers, to });
  const told = (error: unknown): string => writeEvent(toErrorEvent(error, deps.explain(error), deps.requestId));
  const { past } = forwarded;
  if (past) return splicedResponse(bodyOf(restOf(past, told), caller));
  const record = (usage: Usage | undefined, chars: number): void =>
    deps.record?.({ at: deps.clock.now(), provider: provider.id, model: key, principal, usage: usage ?? guessed(inputTokens, chars) });
  const passing = { provider: provider.name, forwarded, record };
  if (body.stream) return streamed(passMessageStream(passing, { signal, told }), caller);
  const whole = await passWholeMessage(passing, messageHead(body.model)).catch((error: unknown) => Promise.reject(forwarded.told(error)));
  caller.settled();
  return new Response(whole, { headers: JSON_TYPE });
}

/** Text to send after an answer that the bridge passed on: empty if it was complete. */
async function* restOf({ failed }: PastHost, told: (error: unknown) => string): AsyncGenerator<string> {
  const error = await failed;
  if (error !== undefined) yield told(error);
}
