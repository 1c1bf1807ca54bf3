import { SSE_HEADERS } from '#shared/http/sse.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import { estimateForFamily } from '#shared/tokens/estimate-for-family.ts';
import { getTokenFamily } from '#shared/tokens/token-family.ts';
import { guessUsage } from '../../../providers/estimate-usage.ts';
import type { ModelEvent, ModelMessage } from '../../../providers/provider.ts';
import type { Route } from '../../../providers/providers.ts';
import { canRelay, type RelayedResponse } from '../../../providers/relaying-provider.ts';
import { readJson } from '../request-body.ts';
import { toBodyStream, type Caller, runForCaller, toStreamResponse } from '../caller.ts';
import { readEnvelope, readChatOptions } from '../chat-request.ts';
import type { ChatDeps } from '../chat-endpoint.ts';
import { badRequest, toChatParam } from '../http-error.ts';
import { IgnoredFields, retryWithoutUnsupported } from '../ignored-fields.ts';
import { isMissingEndpoint } from '../media/media-routes.ts';
import { isEventStream, relayEvents, readRelayedJson, readMediaUsage } from '../media/relayed-response.ts';
import { parseHttpParams } from '../parse-http-params.ts';
import { findAgentId, resolveAgentSession, readSessionHeader, resolveRoute } from '../request-target.ts';
import { createChoices } from '../model-choices.ts';
import { buildCompletion, streamCompletion, type TextSource } from './text-completion-writer.ts';
import { type CompletionRequest, completionRequest } from './completion-request.ts';

/** Maximum number of choices of one request, which chat models generate in parallel. */
const MAX_CHOICES = 8;

interface CompletionCall {
  body: CompletionRequest;
  principal: string;
  caller: Caller;
  ignored: IgnoredFields;
  sessionHeader: string | undefined;
}

/**
 * `POST /v1/completions`. Servers of OpenAI's format that have the endpoint receive the request unchanged; for other models, and for
 * agents, the prompt becomes a chat message. Throws errors that `toHttpError` explains.
 */
export function handleCompletions(request: Request, principal: string, deps: ChatDeps): Promise<Response> {
  return runForCaller(request, async (caller) => {
    const body = parseHttpParams(completionRequest, await readJson(request));
    const call: CompletionCall = { body, principal, caller, ignored: new IgnoredFields(), sessionHeader: readSessionHeader(request) };
    const agentId = findAgentId(body.model, deps);
    if (agentId !== undefined) return respondFromChat(call, createAgentSource(call, agentId, deps), deps);
    const route = await resolveRoute(body.model, caller.abort.signal, deps);
    const relayed = await tryRelay(call, route);
    return relayed ? forwardRelayed(call, route, relayed, deps) : respondFromChat(call, createModelSource(call, route, deps), deps);
  });
}

/** Undefined if the server lacks the endpoint, or does not support it for this model. */
async function tryRelay({ body, caller }: CompletionCall, { provider, model }: Route): Promise<RelayedResponse | undefined> {
  if (!canRelay(provider)) return undefined;
  try {
    return await provider.relay('/completions', { ...body, model }, caller.abort.signal, { streamed: body.stream === true });
  } catch (error) {
    if (isMissingEndpoint(error)) return undefined;
    throw error;
  }
}

async function forwardRelayed(
  { body, principal, caller }: CompletionCall,
  { provider, key }: Route,
  relayed: RelayedResponse,
  deps: ChatDeps,
): Promise<Response> {
  const record = (reported: Usage | undefined, text: string): void =>
    deps.record?.({
      ...{ at: deps.clock.now(), provider: provider.id, model: key, principal },
      usage: reported ?? guessUsage(estimateForFamily(JSON.stringify(body.prompt), getTokenFamily(key)), text.length),
    });
  if (isEventStream(relayed)) {
    const { signal } = caller.abort;
    const events = relayEvents(relayed, { provider: provider.name, record, explain: deps.explain, signal, getText: toText, done: true });
    return new Response(toBodyStream(events, caller, await events.next()), { headers: SSE_HEADERS });
  }
  const { text, value } = await readRelayedJson(provider.name, relayed);
  caller.release();
  record(readMediaUsage(value), toText(value));
  return new Response(text, { headers: { 'content-type': 'application/json' } });
}

const toText = (answer: object): string =>
  'choices' in answer && Array.isArray(answer.choices)
    ? answer.choices.map((choice: unknown) => String((choice as { text?: unknown } | null)?.text ?? '')).join('')
    : '';

async function respondFromChat(
  { body, caller, ignored }: CompletionCall,
  source: TextSource,
  { explain, note }: ChatDeps,
): Promise<Response> {
  const { signal } = caller.abort;
  if (body.stream) {
    const withUsage = body.stream_options?.include_usage === true;
    return ignored.report(await toStreamResponse(streamCompletion(source, { withUsage, signal, explain }), caller), note);
  }
  const completion = await buildCompletion(source);
  caller.release();
  return ignored.report(Response.json(completion), note);
}

/** The prompts as texts. Throws a 400 for options that only OpenAI's own endpoint supports. */
function readPrompts({ body, ignored }: CompletionCall): string[] {
  const { prompt, suffix, logprobs, best_of: bestOf, max_tokens: maxTokens, n } = body;
  const prompts = typeof prompt === 'string' ? [prompt] : prompt;
  const texts = prompts.filter((prompt) => typeof prompt === 'string');
  if (texts.length < prompts.length) throw badRequest('`prompt` must be text for this model or agent, not tokens.', 'prompt');
  if (texts.some((text) => text === '')) throw badRequest('`prompt` has no text.', 'prompt');
  if (suffix) throw badRequest('`suffix` is not supported by this model or agent.', 'suffix');
  if (bestOf != null && bestOf > (n ?? 1)) throw badRequest('`best_of` above `n` is not supported by this model or agent.', 'best_of');
  if (maxTokens === 0) throw badRequest('`max_tokens` must be at least 1 for this model or agent.', 'max_tokens');
  if (logprobs != null) ignored.add('logprobs');
  if (texts.length * (n ?? 1) > MAX_CHOICES)
    throw badRequest(
      `Prompts times \`n\` must be at most ${MAX_CHOICES} for this model or agent.`,
      typeof prompt === 'string' ? 'n' : 'prompt',
    );
  return texts;
}

/** Converts a prompt to a chat request. */
function toChatRequest({ body }: CompletionCall, prompt: string): ReturnType<typeof readEnvelope> {
  const { prompt: _prompt, suffix: _suffix, echo: _echo, logprobs: _logprobs, best_of: _best, ...rest } = body;
  return readEnvelope({ ...rest, messages: [{ role: 'user', content: prompt }] });
}

const createHead = ({ body }: CompletionCall, { clock }: ChatDeps): TextSource['head'] => ({
  id: `cmpl-${crypto.randomUUID().replaceAll('-', '')}`,
  created: Math.floor(clock.now() / 1000),
  model: body.model,
});

function createModelSource(call: CompletionCall, route: Route, deps: ChatDeps): TextSource {
  const { body, principal, caller, ignored } = call;
  const prompts = readPrompts(call);
  const translations = prompts.map((prompt) =>
    createChoices({ body: toChatRequest(call, prompt), principal, abort: caller.abort, ignored }, route, deps),
  );
  return {
    choices: translations.flatMap(({ choices }) => choices),
    messages: translations.flatMap(({ choices, messages }) => choices.map(() => messages)),
    echoes: prompts.flatMap((prompt) => Array.from({ length: body.n ?? 1 }, () => (body.echo ? prompt : ''))),
    head: createHead(call, deps),
    record: (usage) => deps.record?.({ at: deps.clock.now(), provider: route.provider.id, model: route.key, principal, usage }),
  };
}

function createAgentSource(call: CompletionCall, agentId: string, deps: ChatDeps): TextSource {
  const { body, principal, caller, ignored } = call;
  const prompts = readPrompts(call);
  const [prompt = '', ...others] = prompts;
  if (others.length > 0) throw badRequest('`prompt` must be one text for agents.', 'prompt');
  if ((body.n ?? 1) > 1) throw badRequest('`n` must be 1 for agents.', 'n');
  const { messages, generationOptions, user } = readChatOptions(toChatRequest(call, prompt), ignored);
  const sessionId = resolveAgentSession({ header: call.sessionHeader, user, tools: [] }, ignored);
  const run = (remaining: typeof generationOptions): AsyncIterable<ModelEvent> =>
    deps.agents.run({ agentId, messages, sessionId, principal, generationOptions: remaining, signal: caller.abort.signal });
  const inputMessages: readonly ModelMessage[] = messages;
  return {
    choices: [retryWithoutUnsupported(generationOptions, run, { ignored, toParamName: toChatParam })],
    messages: [inputMessages],
    echoes: [body.echo ? prompt : ''],
    head: createHead(call, deps),
    // The run records its usage.
    record: () => {},
  };
}
