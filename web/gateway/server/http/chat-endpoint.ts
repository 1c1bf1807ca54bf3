import { type Envelope } from '#shared/http/envelope.ts';
import { writeSse } from '#shared/http/sse.ts';
import { MAX_STORED_BODY_BYTES, createSplicedResponse } from '#shared/link/splice.ts';
import type { Stream } from '#shared/link/stream.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import { estimateForFamily } from '#shared/tokens/estimate-for-family.ts';
import { getTokenFamily } from '#shared/tokens/token-family.ts';
import { guessUsage } from '../../providers/estimate-usage.ts';
import { canForward, type PassthroughResult } from '../../providers/forwarding-provider.ts';
import { readJsonBody } from './request-body.ts';
import { toBodyStream, type Caller, runForCaller, toStreamResponse } from './caller.ts';
import { readEnvelope, readChatOptions } from './chat-request.ts';
import { createCompletionHead, DONE_EVENT } from './completion-objects.ts';
import { badRequest, toChatParam, type HttpError } from './http-error.ts';
import { withUploadedFiles } from './files/file-references.ts';
import type { ApiFiles } from './files/api-files.ts';
import { forwardChatStream, forwardBufferedChat } from './chat-passthrough.ts';
import { type CompletionSource, streamChatCompletion, buildChatCompletion } from './completion-from-events.ts';
import type { HttpDeps } from './http-deps.ts';
import { IgnoredFields, retryWithoutUnsupported } from './ignored-fields.ts';
import { findAgentId, resolveAgentSession, readSessionHeader, resolveRoute } from './request-target.ts';
import type { SocketTurn } from './responses/local-responses.ts';
import type { ProviderStateCache } from './provider-state-cache.ts';
import { createChoices } from './model-choices.ts';

export interface ChatDeps extends HttpDeps {
  providerStates: ProviderStateCache;
  /** Files that API clients have uploaded. */
  uploads: () => Promise<ApiFiles>;
  /** The request's ID in the log. */
  requestId: string;
  /** Converts a failure of this request to a displayable error, and logs it under the request's ID. */
  explain(error: unknown): HttpError;
  /** Stream of the request if the bridge can answer it without the host. */
  exchange?: Stream | undefined;
  /** Set for a request that came over a WebSocket. */
  turn?: SocketTurn | undefined;
}

interface Call {
  body: Envelope;
  /** As the bridge has it; undefined if that is unknown. */
  text: string | undefined;
  principal: string;
  /** Aborted when the client disconnects. */
  abort: AbortController;
  sessionId: string | undefined;
  ignored: IgnoredFields;
}

/** `POST /v1/chat/completions`. Throws errors that `toHttpError` explains. */
export function handleChatCompletions(request: Request, principal: string, deps: ChatDeps): Promise<Response> {
  return runForCaller(request, async (caller) => {
    const { value, text, size } = await readJsonBody(request);
    const fullBody = await withUploadedFiles(value, principal, deps.uploads);
    const body = readEnvelope(fullBody);
    const ignored = new IgnoredFields();
    // The bridge has the body as sent, without the uploaded files.
    const unchangedText = fullBody === value && isUnchanged(text, size) ? text : undefined;
    const call = { body, text: unchangedText, principal, abort: caller.abort, sessionId: readSessionHeader(request), ignored };
    const agentId = findAgentId(body.model, deps);
    const source = agentId === undefined ? await createModelSource(call, deps) : createAgentSource(call, agentId, deps);
    if (source.spliced) return source.spliced(caller);
    if (body.stream) return ignored.report(await toStreamResponse(source.stream(), caller), deps.note);
    const completion = await source.buffer();
    caller.release();
    return ignored.report(new Response(completion, { headers: { 'content-type': 'application/json' } }), deps.note);
  });
}

/** An answer in the format that the client wants. */
interface AnswerSource {
  /** Server-sent events; throws only before the first. */
  stream(): AsyncGenerator<string>;
  /** JSON text. */
  buffer(): Promise<string>;
  /** Set if the bridge sends the answer; then neither of the others is called. */
  spliced?: (caller: Caller) => Response;
}

function toAnswerSource(source: CompletionSource, call: Call, { explain }: ChatDeps): AnswerSource {
  const withUsage = call.body.stream_options?.include_usage === true;
  return {
    stream: () => streamChatCompletion(source, { withUsage, signal: call.abort.signal, explain }),
    buffer: async () => JSON.stringify(await buildChatCompletion(source)),
  };
}

function createAgentSource(call: Call, agentId: string, deps: ChatDeps): AnswerSource {
  const { body, principal, abort, ignored } = call;
  const { messages, generationOptions, user, tools } = readChatOptions(body, ignored);
  if ((body.n ?? 1) > 1) throw badRequest('`n` must be 1 for agents.', 'n');
  const sessionId = resolveAgentSession({ header: call.sessionId, user, tools }, ignored);
  const events = retryWithoutUnsupported(
    generationOptions,
    (remaining) => deps.agents.run({ agentId, messages, sessionId, principal, tools, generationOptions: remaining, signal: abort.signal }),
    { ignored, toParamName: toChatParam },
  );
  const head = createCompletionHead(body.model, deps.clock.now());
  // The run records its own usage.
  return toAnswerSource({ choices: [events], head, messages, record: () => {} }, call, deps);
}

async function createModelSource(call: Call, deps: ChatDeps): Promise<AnswerSource> {
  const { body, abort, principal } = call;
  const { signal } = abort;
  const route = await resolveRoute(body.model, signal, deps);
  const { provider, model, key } = route;
  const record = (usage: Usage): void => deps.record?.({ at: deps.clock.now(), provider: provider.id, model: key, principal, usage });
  const head = createCompletionHead(body.model, deps.clock.now());
  if (!canForward(provider)) {
    const { messages, choices } = createChoices(call, route, deps);
    return toAnswerSource({ choices, head, messages, record }, call, deps);
  }
  const addUsage = body.stream === true && body.stream_options?.include_usage !== true;
  const { exchange } = deps;
  const spliceTarget = exchange && {
    exchange,
    receivedBody: call.text === undefined ? undefined : { body, text: call.text },
    // A key may have limits, which are checked for each request.
    isCacheable: !principal.startsWith('key:') && deps.hasVaultBudget?.() !== true,
    call: { id: crypto.randomUUID(), provider: provider.id, model: key, principal, inputTokens: estimateInput(body, key) },
  };
  const forwarded = await provider.forward({ ...body, model }, signal, { addUsage, to: spliceTarget });
  const recordUsage = (reported: Usage | undefined, chars: number): Usage => {
    const usage = reported ?? guessUsage(estimateInput(body, key), chars);
    record(usage);
    return usage;
  };
  const passthroughOptions = { provider: provider.name, forwarded, record: recordUsage };
  const { past } = forwarded;
  return {
    ...(past && { spliced: (caller) => createSplicedResponse(toBodyStream(writeClosingError(past, deps.explain), caller)) }),
    stream: () => forwardChatStream(passthroughOptions, { choices: body.n ?? 1, stripUsage: addUsage, signal, explain: deps.explain }),
    buffer: () => forwardBufferedChat(passthroughOptions, head).catch((error: unknown) => Promise.reject(forwarded.normalizeError(error))),
  };
}

/** Whether the bridge has the same bytes: a byte order mark is not part of the text. */
const isUnchanged = (text: string, size: number): boolean =>
  size <= MAX_STORED_BODY_BYTES && new TextEncoder().encode(text).byteLength === size;

/** Only an estimate: every call includes it, but few need it, as most providers report usage. */
const estimateInput = (body: Envelope, model: string): number => estimateForFamily(JSON.stringify(body.messages), getTokenFamily(model));

/** Text to send after an answer that the bridge passed on: empty if it was complete. */
async function* writeClosingError({ failed }: PassthroughResult, explain: (error: unknown) => HttpError): AsyncGenerator<string> {
  const error = await failed;
  if (error !== undefined) yield writeSse(JSON.stringify(explain(error).body())) + DONE_EVENT;
}
