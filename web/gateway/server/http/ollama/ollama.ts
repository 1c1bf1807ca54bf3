import { NDJSON_HEADERS } from '#shared/http/ollama-api.ts';
import { z } from '#shared/rpc/zod.ts';
import { withCountedUsage } from '../../../providers/counted-usage.ts';
import type { ModelEvent, ModelMessage, ToolSpec, GenerationOptions } from '../../../providers/provider.ts';
import { retryStream } from '../../../providers/retry.ts';
import { readJson } from '../request-body.ts';
import { toBodyStream, type Caller, runForCaller } from '../caller.ts';
import type { ChatDeps } from '../chat-endpoint.ts';
import type { HttpDeps } from '../http-deps.ts';
import { embedTexts } from '../embeddings.ts';
import { badRequest, toChatParam } from '../http-error.ts';
import { IgnoredFields, retryWithoutUnsupported } from '../ignored-fields.ts';
import { parseHttpParams } from '../parse-http-params.ts';
import { retryWithoutEffort } from '../retry-without-effort.ts';
import { findAgentId, resolveAgentSession, readSessionHeader, resolveRoute } from '../request-target.ts';
import { readOllamaMessages, withImages } from './ollama-input.ts';
import { type LoadedModels, toKeepAliveMs } from './loaded-models.ts';
import { withoutDefaultTag } from './model-names.ts';
import { type OllamaForm, type OllamaSource, streamOllama, buildOllamaResponse } from './ollama-writer.ts';
import { chatRequest, generateRequest, readOllamaTools, readOllamaOptions } from './ollama-request.ts';

export * from './ollama-models.ts';

interface OllamaRequest {
  form: OllamaForm;
  model: string;
  messages: ModelMessage[];
  tools: ToolSpec[];
  generationOptions: GenerationOptions;
  stream: boolean;
  keepAliveMs: number;
}

interface OllamaDeps extends ChatDeps {
  loaded: LoadedModels;
}

/** `POST /api/chat`. Throws errors that `toHttpError` explains. */
export function handleOllamaChat(request: Request, principal: string, deps: OllamaDeps): Promise<Response> {
  return handle(request, principal, deps, (value, ignored) => {
    const body = parseHttpParams(chatRequest, value);
    const { model, messages, tools, stream, keep_alive } = body;
    return {
      ...{ form: 'chat', model, stream: stream !== false, keepAliveMs: toKeepAliveMs(keep_alive) },
      messages: readOllamaMessages(messages ?? []),
      tools: readOllamaTools(tools ?? []),
      generationOptions: readOllamaOptions(body, ignored),
    };
  });
}

/** `POST /api/generate`. Throws errors that `toHttpError` explains. */
export function handleOllamaGenerate(request: Request, principal: string, deps: OllamaDeps): Promise<Response> {
  return handle(request, principal, deps, (value, ignored) => {
    const body = parseHttpParams(generateRequest, value);
    const { model, prompt, system, suffix, images, stream, keep_alive } = body;
    if (suffix) throw badRequest('`suffix` is not supported. Put the text before and after the gap into `prompt`.', 'suffix');
    const content = withImages(prompt ?? '', images ?? [], 'images');
    return {
      ...{ form: 'generate', model, stream: stream !== false, keepAliveMs: toKeepAliveMs(keep_alive), tools: [] },
      messages: [
        ...(system ? [{ role: 'system' as const, content: system }] : []),
        ...(content.length > 0 ? [{ role: 'user' as const, content }] : []),
      ],
      generationOptions: readOllamaOptions(body, ignored),
    };
  });
}

function handle(
  request: Request,
  principal: string,
  deps: OllamaDeps,
  read: (body: Record<string, unknown>, ignored: IgnoredFields) => OllamaRequest,
): Promise<Response> {
  return runForCaller(request, async (caller) => {
    const ignored = new IgnoredFields();
    const ollamaRequest = read(await readJson(request), ignored);
    const { signal } = caller.abort;
    const name = await withoutDefaultTag(ollamaRequest.model, signal, deps);
    const agentId = findAgentId(name, deps);
    const begin = (): (() => void) =>
      deps.loaded.begin(principal, agentId === undefined ? name : `perch/${agentId}`, ollamaRequest.keepAliveMs);
    // Clients preload a model this way.
    if (!ollamaRequest.messages.some(({ role }) => role !== 'system')) {
      if (agentId === undefined) await resolveRoute(name, signal, deps);
      caller.release();
      begin()();
      return createLoadedResponse(ollamaRequest, deps);
    }
    const source =
      agentId === undefined
        ? await createModelSource(ollamaRequest, name, { principal, caller, ignored }, deps)
        : createAgentSource(ollamaRequest, agentId, { principal, caller, ignored, request }, deps);
    const end = begin();
    if (!ollamaRequest.stream) {
      const result = await buildOllamaResponse(source).finally(end);
      caller.release();
      return ignored.report(Response.json(result), deps.note);
    }
    const lines = endedBy(streamOllama(source, { signal, explain: deps.explain }), end);
    const response = new Response(toBodyStream(lines, caller, await lines.next()), { headers: NDJSON_HEADERS });
    return ignored.report(response, deps.note);
  });
}

/** The same lines; `end` is called after the last one, or if they are no longer wanted. */
async function* endedBy(lines: AsyncGenerator<string>, end: () => void): AsyncGenerator<string> {
  try {
    yield* lines;
  } finally {
    end();
  }
}

function createLoadedResponse({ form, model, keepAliveMs }: OllamaRequest, { clock }: HttpDeps): Response {
  return Response.json({
    ...{ model, created_at: new Date(clock.now()).toISOString() },
    ...(form === 'generate' ? { response: '' } : { message: { role: 'assistant', content: '' } }),
    ...{ done: true, done_reason: keepAliveMs === 0 ? 'unload' : 'load' },
  });
}

interface OllamaCall {
  principal: string;
  caller: Caller;
  ignored: IgnoredFields;
}

const toSource = (
  { form, model, messages, generationOptions }: OllamaRequest,
  events: AsyncIterable<ModelEvent>,
  record: OllamaSource['record'],
  { clock }: HttpDeps,
): OllamaSource => ({ ...{ form, model, messages, events, clock, record }, showsReasoning: generationOptions.reasoningEffort !== 'none' });

function createAgentSource(
  ollamaRequest: OllamaRequest,
  agentId: string,
  call: OllamaCall & { request: Request },
  deps: ChatDeps,
): OllamaSource {
  const { messages, tools, generationOptions } = ollamaRequest;
  const { principal, caller, ignored, request } = call;
  const sessionId = resolveAgentSession({ header: readSessionHeader(request), user: undefined, tools }, ignored);
  const { signal } = caller.abort;
  const run = (remaining: GenerationOptions): AsyncIterable<ModelEvent> =>
    deps.agents.run({ agentId, messages, sessionId, principal, tools, generationOptions: remaining, signal });
  // The run records its own usage.
  return toSource(ollamaRequest, withoutRejectedOptions(run, generationOptions, ignored), () => {}, deps);
}

async function createModelSource(
  ollamaRequest: OllamaRequest,
  name: string,
  { principal, caller, ignored }: OllamaCall,
  deps: ChatDeps,
): Promise<OllamaSource> {
  const { clock, providerStates } = deps;
  const { signal } = caller.abort;
  const { provider, model, key } = await resolveRoute(name, signal, deps);
  const request = {
    model,
    messages: providerStates.restoreInto(principal, ollamaRequest.messages),
    tools: ollamaRequest.tools,
    exact: true,
  };
  const run = (options: GenerationOptions): AsyncIterable<ModelEvent> =>
    retryStream(() => provider.stream({ ...request, ...options }, signal), { clock, signal });
  const events = providerStates.recordFrom(
    principal,
    withCountedUsage(withoutRejectedOptions(run, ollamaRequest.generationOptions, ignored), ollamaRequest.messages, key),
  );
  return toSource(
    ollamaRequest,
    events,
    (usage) => deps.record?.({ at: clock.now(), provider: provider.id, model: key, principal, usage }),
    deps,
  );
}

/** Clients send the same options for every model: the request is repeated without those that it rejects. */
const withoutRejectedOptions = (
  run: (wishes: GenerationOptions) => AsyncIterable<ModelEvent>,
  wishes: GenerationOptions,
  ignored: IgnoredFields,
): AsyncIterable<ModelEvent> =>
  retryWithoutEffort(
    (options) =>
      retryWithoutUnsupported(options, run, {
        ignored,
        toParamName: (field) => (field === 'reasoningEffort' ? 'think' : toChatParam(field)),
      }),
    wishes,
    () => ignored.add('think'),
  );

export const embedRequest = z.looseObject({
  model: z.string().min(1).max(300),
  input: z.union([z.string(), z.array(z.string())]).nullish(),
  dimensions: z.number().int().min(1).nullish(),
  keep_alive: z.unknown().optional(),
});
export const embeddingsRequest = z.looseObject({
  model: z.string().min(1).max(300),
  prompt: z.string().nullish(),
  keep_alive: z.unknown().optional(),
});

/** `POST /api/embed`. Throws errors that `toHttpError` explains. */
export function handleOllamaEmbed(request: Request, principal: string, deps: OllamaDeps): Promise<Response> {
  return runForCaller(request, async ({ abort: { signal }, release }) => {
    const startedAt = deps.clock.monotonic();
    const { model, input, dimensions, keep_alive } = parseHttpParams(embedRequest, await readJson(request));
    const texts = typeof input === 'string' ? [input] : (input ?? []);
    const name = await withoutDefaultTag(model, signal, deps);
    const { vectors, usage } =
      texts.length === 0
        ? { vectors: [], usage: { inputTokens: 0 } }
        : await embedTexts({ model: name, input: texts, ...(dimensions == null ? {} : { dimensions }) }, principal, signal, deps);
    release();
    deps.loaded.begin(principal, name, toKeepAliveMs(keep_alive))();
    return Response.json({
      ...{ model, embeddings: vectors, total_duration: Math.round((deps.clock.monotonic() - startedAt) * 1e6) },
      ...{ load_duration: 0, prompt_eval_count: usage.inputTokens },
    });
  });
}

/** `POST /api/embeddings`, the older form for one text. Throws errors that `toHttpError` explains. */
export function handleOllamaEmbeddings(request: Request, principal: string, deps: OllamaDeps): Promise<Response> {
  return runForCaller(request, async ({ abort: { signal }, release }) => {
    const { model, prompt, keep_alive } = parseHttpParams(embeddingsRequest, await readJson(request));
    const name = await withoutDefaultTag(model, signal, deps);
    const vectors = prompt ? (await embedTexts({ model: name, input: [prompt] }, principal, signal, deps)).vectors : [];
    release();
    deps.loaded.begin(principal, name, toKeepAliveMs(keep_alive))();
    return Response.json({ embedding: vectors[0] ?? [] });
  });
}
