import { IGNORED_HEADER, toIgnoredHeader } from '#shared/http/ignored-header.ts';
import { ANTHROPIC_BETA_HEADER, toVariant, ANTHROPIC_VERSION_HEADER, writeEvent } from '#shared/http/messages-api.ts';
import { MAX_STORED_BODY_BYTES, createSplicedResponse } from '#shared/link/splice.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import { sha256 } from '#shared/sha256.ts';
import { estimateForFamily } from '#shared/tokens/estimate-for-family.ts';
import { getTokenFamily } from '#shared/tokens/token-family.ts';
import { withCountedUsage } from '../../../providers/counted-usage.ts';
import { countMessage, guessUsage } from '../../../providers/estimate-usage.ts';
import { canForward, type PassthroughResult } from '../../../providers/forwarding-provider.ts';
import { canForwardMessages, type MessagesHeaders, type MessagesProvider } from '../../../providers/messages-forwarding.ts';
import {
  type GenerationOptions,
  type ModelEvent,
  type ModelMessage,
  type ModelRequest,
  ProviderError,
  type ToolSpec,
} from '../../../providers/provider.ts';
import type { Route } from '../../../providers/providers.ts';
import { retryStream } from '../../../providers/retry.ts';
import { readJsonBody } from '../request-body.ts';
import { toBodyStream, type Caller, runForCaller, toStreamResponse } from '../caller.ts';
import type { ChatDeps as Deps } from '../chat-endpoint.ts';
import { badRequest } from '../http-error.ts';
import { retryWithoutEffort } from '../retry-without-effort.ts';
import { answerWithSearch } from '../search/hosted-search.ts';
import { createHostedWebSearch } from '../search/hosted-web-search.ts';
import { findAgentId, readSessionHeader, resolveRoute } from '../request-target.ts';
import { toErrorEvent } from './messages-error.ts';
import { streamMessage, type MessageSource, buildMessage } from './message-from-events.ts';
import { readMessages } from './messages-input.ts';
import { createMessageHead } from './message-writer.ts';
import { forwardMessageStream, forwardBufferedMessage } from './message-passthrough.ts';
import { type MessagesEnvelope, readMessagesEnvelope, readParams, requestsSearch } from './messages-request.ts';

interface MessagesCall {
  body: MessagesEnvelope;
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
export function handleMessages(request: Request, principal: string, deps: Deps): Promise<Response> {
  return runForCaller(request, async (caller) => {
    const { value, text, size } = await readJsonBody(request);
    const body = readMessagesEnvelope(value);
    const isUnchanged = size <= MAX_STORED_BODY_BYTES && new TextEncoder().encode(text).byteLength === size;
    const call: MessagesCall = { body, text: isUnchanged ? text : undefined, principal, caller, request, ignored: new Set() };
    const agentId = findAgentId(body.model, deps);
    if (agentId !== undefined) return respondWithEvents(await createAgentSource(call, agentId, deps), call, deps);
    const route = await resolveRoute(body.model, caller.abort.signal, deps);
    if (canForwardMessages(route.provider)) return forwardToProvider(call, route, route.provider, deps);
    return respondWithEvents(await createModelSource(call, route, deps), call, deps);
  });
}

/**
 * `POST /v1/messages/count_tokens`. Anthropic counts for its own models; for others, Perch counts the request, without additions of an
 * agent.
 */
export function handleCountTokens(request: Request, deps: Deps): Promise<Response> {
  return runForCaller(request, async ({ abort, release }) => {
    const { value } = await readJsonBody(request);
    const body = readMessagesEnvelope(value);
    const ignored = new Set<string>();
    const agentId = findAgentId(body.model, deps);
    const route = agentId === undefined ? await resolveRoute(body.model, abort.signal, deps) : undefined;
    const upstreamResult =
      route && canForwardMessages(route.provider) ? await countUpstream(body, route, route.provider, request, abort.signal) : undefined;
    const result = upstreamResult ?? { input_tokens: await countLocally(body, route?.key ?? body.model, ignored, abort.signal) };
    release();
    return Response.json(result, { headers: ignoredHeaders(upstreamResult ? new Set() : ignored) });
  });
}

/** Undefined if the server does not support counting. */
async function countUpstream(
  body: MessagesEnvelope,
  { model }: Route,
  provider: MessagesProvider,
  request: Request,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    const tokenCount = await provider.countTokens({ ...body, model }, signal, readHeaders(request));
    return typeof tokenCount === 'object' && tokenCount !== null && 'input_tokens' in tokenCount ? tokenCount : undefined;
  } catch (error) {
    if (error instanceof ProviderError && (error.status === 404 || error.status === 405 || error.status === 501)) return undefined;
    throw error;
  }
}

async function countLocally(body: MessagesEnvelope, key: string, ignored: Set<string>, signal: AbortSignal): Promise<number> {
  const { params, tools } = readParams(body, ignored);
  const toolMessages: ModelMessage[] = tools.length > 0 ? [{ role: 'system', content: JSON.stringify(tools) }] : [];
  let tokens = 0;
  for (const message of [...readMessages(params, ignored), ...toolMessages]) tokens += await countMessage(message, key, signal);
  return tokens;
}

const readHeaders = (request: Request): MessagesHeaders => ({
  version: request.headers.get(ANTHROPIC_VERSION_HEADER),
  beta: request.headers.get(ANTHROPIC_BETA_HEADER),
  betaPath: new URL(request.url).searchParams.get('beta') === 'true',
});

function ignoredHeaders(ignored: ReadonlySet<string>): Record<string, string> {
  const header = toIgnoredHeader(ignored);
  return header === undefined ? {} : { [IGNORED_HEADER]: header };
}

async function respondWithEvents(source: MessageSource, { body, caller, ignored }: MessagesCall, deps: Deps): Promise<Response> {
  let response: Response;
  if (body.stream) {
    const writeError = (error: unknown): string => writeEvent(toErrorEvent(error, deps.explain(error), deps.requestId));
    response = await toStreamResponse(streamMessage(source, { signal: caller.abort.signal, told: writeError, clock: deps.clock }), caller);
  } else {
    const message = JSON.stringify(await buildMessage(source));
    caller.release();
    response = new Response(message, { headers: JSON_TYPE });
  }
  for (const [name, value] of Object.entries(ignoredHeaders(ignored))) response.headers.set(name, value);
  return response;
}

async function createAgentSource(
  { body, principal, caller, request, ignored }: MessagesCall,
  agentId: string,
  deps: Deps,
): Promise<MessageSource> {
  const canSearch = requestsSearch(body) && (await deps.canSearch?.(agentId, principal)) === true;
  const { params, tools, wishes: generationOptions } = readParams(body, ignored, canSearch ? 'agent' : 'none');
  const messages = readMessages(params, ignored);
  if (!messages.some(({ role }) => role !== 'system')) throw badRequest('`messages` has no content for the agent.', 'messages');
  const sessionId = readSessionHeader(request);
  if (sessionId !== undefined && tools.length > 0)
    throw badRequest('`tools` is not supported in a session of an agent. Leave out the header x-perch-session to pass tools.', 'tools');
  const run = (options: GenerationOptions): AsyncIterable<ModelEvent> =>
    deps.agents.run({ agentId, messages, sessionId, principal, generationOptions: options, tools, signal: caller.abort.signal });
  return {
    events: filterCallerCalls(
      retryWithoutEffort(run, generationOptions, () => ignored.add('thinking')),
      tools,
    ),
    head: createMessageHead(body.model),
    messages,
    // The run records its own usage.
    record: () => {},
  };
}

/** Calls of the agent's own tools are not for the client: the agent has already run them. */
async function* filterCallerCalls(events: AsyncIterable<ModelEvent>, tools: readonly ToolSpec[]): AsyncGenerator<ModelEvent> {
  let hasCalls = false;
  for await (const event of events) {
    if (event.type === 'tool_call' && !tools.some(({ name }) => name === event.call.tool)) continue;
    hasCalls ||= event.type === 'tool_call';
    yield event.type === 'finish' && event.reason === 'tool_calls' && !hasCalls ? { type: 'finish', reason: 'stop' } : event;
  }
}

/** Maximum length of a user's ID that OpenAI accepts. */
const MAX_USER_CHARS = 64;

async function createModelSource(
  { body, principal, caller, ignored }: MessagesCall,
  { provider, model, key }: Route,
  deps: Deps,
): Promise<MessageSource> {
  const { clock, providerStates, searches } = deps;
  const canSearch = requestsSearch(body) && (await searches?.web.isAvailable(principal)) === true;
  const { params, tools, search: limits, wishes: generationOptions } = readParams(body, ignored, canSearch ? 'perch' : 'none');
  const messages = readMessages(params, ignored);
  const { signal } = caller.abort;
  const userId = params.metadata?.user_id;
  const passed = userId && canForward(provider) ? { user: userId.length > MAX_USER_CHARS ? await sha256(userId) : userId } : undefined;
  const run = (step: Pick<ModelRequest, 'messages' | 'tools' | 'spentTools'>, wishes: GenerationOptions): AsyncIterable<ModelEvent> =>
    providerStates.recordFrom(
      principal,
      withCountedUsage(
        retryWithoutEffort(
          (options) => retryStream(() => provider.stream({ ...options, ...step, model, exact: true, passed }, signal), { clock, signal }),
          wishes,
          () => ignored.add('thinking'),
        ),
        step.messages,
        key,
      ),
    );
  const restored = providerStates.restoreInto(principal, messages);
  return {
    events:
      limits && searches
        ? answerWithSearch({
            ...{ messages: restored, tools, options: generationOptions, signal, label: searches.label },
            searches: [createHostedWebSearch({ domains: limits.domains, messages: restored, principal, signal, web: searches.web })],
            maxSearches: limits.maxSearches,
            run: ({ options, ...step }) => run(step, options),
          })
        : run({ messages: restored, tools }, generationOptions),
    head: createMessageHead(body.model),
    messages,
    record: (usage) => deps.record?.({ at: clock.now(), provider: provider.id, model: key, principal, usage }),
  };
}

/** Forwards the client's request to Anthropic, and the answer back. */
async function forwardToProvider(call: MessagesCall, { model, key }: Route, provider: MessagesProvider, deps: Deps): Promise<Response> {
  const { body, text, principal, caller, request } = call;
  const { signal } = caller.abort;
  const headers = readHeaders(request);
  const { pathname, search } = new URL(request.url);
  const inputTokens = estimateForFamily(JSON.stringify(body.messages), getTokenFamily(key));
  const spliceTarget = deps.exchange && {
    exchange: deps.exchange,
    receivedBody: text === undefined ? undefined : { body, text },
    // The limits of a key are checked for each request.
    isCacheable: !principal.startsWith('key:') && deps.hasVaultBudget?.() !== true,
    variant: toVariant(pathname + search, headers.version, headers.beta),
    call: { id: crypto.randomUUID(), provider: provider.id, model: key, principal, inputTokens },
  };
  const forwarded = await provider.forwardMessages({ ...body, model }, signal, { headers, to: spliceTarget });
  const writeError = (error: unknown): string => writeEvent(toErrorEvent(error, deps.explain(error), deps.requestId));
  const { past } = forwarded;
  if (past) return createSplicedResponse(toBodyStream(writeClosingError(past, writeError), caller));
  const record = (usage: Usage | undefined, chars: number): void =>
    deps.record?.({ at: deps.clock.now(), provider: provider.id, model: key, principal, usage: usage ?? guessUsage(inputTokens, chars) });
  const passthroughOptions = { provider: provider.name, forwarded, record };
  if (body.stream) return toStreamResponse(forwardMessageStream(passthroughOptions, { signal, told: writeError }), caller);
  const message = await forwardBufferedMessage(passthroughOptions, createMessageHead(body.model)).catch((error: unknown) =>
    Promise.reject(forwarded.normalizeError(error)),
  );
  caller.release();
  return new Response(message, { headers: JSON_TYPE });
}

/** Text to send after an answer that the bridge passed on: empty if it was complete. */
async function* writeClosingError({ failed }: PassthroughResult, writeError: (error: unknown) => string): AsyncGenerator<string> {
  const error = await failed;
  if (error !== undefined) yield writeError(error);
}
