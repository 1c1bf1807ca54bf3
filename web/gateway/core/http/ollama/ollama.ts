import { NDJSON_HEADERS } from '#shared/http/ollama-api.ts';
import { z } from '#shared/rpc/zod.ts';
import { countedStream } from '../../providers/counted-stream.ts';
import type { ModelEvent, ModelMessage, ToolSpec, Wishes } from '../../providers/provider.ts';
import { retriedStream } from '../../providers/retry.ts';
import { readJson } from '../body.ts';
import { bodyOf, type Caller, forCaller } from '../caller.ts';
import type { ChatDeps } from '../chat.ts';
import type { HttpDeps } from '../deps.ts';
import { embedTexts } from '../embeddings.ts';
import { badRequest, chatName } from '../errors.ts';
import { IgnoredFields, withoutUnsupported } from '../ignored-fields.ts';
import { parse } from '../parse.ts';
import { withoutRefusedEffort } from '../refused-effort.ts';
import { agentOf, agentSession, headerSession, routeOf } from '../target.ts';
import { readOllamaMessages, withImages } from './ollama-input.ts';
import { type LoadedModels, toKeepAliveMs } from './loaded-models.ts';
import { withoutDefaultTag } from './model-names.ts';
import { type OllamaForm, type OllamaSource, streamOllama, wholeOllama } from './output.ts';
import { chatRequest, generateRequest, readOllamaTools, readOllamaWishes } from './ollama-request.ts';

export * from './models.ts';

interface Asked {
  form: OllamaForm;
  model: string;
  messages: ModelMessage[];
  tools: ToolSpec[];
  wishes: Wishes;
  stream: boolean;
  keepAliveMs: number;
}

export interface OllamaDeps extends ChatDeps {
  loaded: LoadedModels;
}

/** `POST /api/chat`. Throws errors that `toHttpError` explains. */
export function answerOllamaChat(request: Request, principal: string, deps: OllamaDeps): Promise<Response> {
  return answer(request, principal, deps, (value, ignored) => {
    const body = parse(chatRequest, value);
    const { model, messages, tools, stream, keep_alive } = body;
    return {
      ...{ form: 'chat', model, stream: stream !== false, keepAliveMs: toKeepAliveMs(keep_alive) },
      messages: readOllamaMessages(messages ?? []),
      tools: readOllamaTools(tools ?? []),
      wishes: readOllamaWishes(body, ignored),
    };
  });
}

/** `POST /api/generate`. Throws errors that `toHttpError` explains. */
export function answerOllamaGenerate(request: Request, principal: string, deps: OllamaDeps): Promise<Response> {
  return answer(request, principal, deps, (value, ignored) => {
    const body = parse(generateRequest, value);
    const { model, prompt, system, suffix, images, stream, keep_alive } = body;
    if (suffix) throw badRequest('`suffix` is not supported. Put the text before and after the gap into `prompt`.', 'suffix');
    const content = withImages(prompt ?? '', images ?? [], 'images');
    return {
      ...{ form: 'generate', model, stream: stream !== false, keepAliveMs: toKeepAliveMs(keep_alive), tools: [] },
      messages: [
        ...(system ? [{ role: 'system' as const, content: system }] : []),
        ...(content.length > 0 ? [{ role: 'user' as const, content }] : []),
      ],
      wishes: readOllamaWishes(body, ignored),
    };
  });
}

function answer(
  request: Request,
  principal: string,
  deps: OllamaDeps,
  read: (body: Record<string, unknown>, ignored: IgnoredFields) => Asked,
): Promise<Response> {
  return forCaller(request, async (caller) => {
    const ignored = new IgnoredFields();
    const asked = read(await readJson(request), ignored);
    const { signal } = caller.abort;
    const name = await withoutDefaultTag(asked.model, signal, deps);
    const agentId = agentOf(name, deps);
    const begin = (): (() => void) => deps.loaded.begin(principal, agentId === undefined ? name : `perch/${agentId}`, asked.keepAliveMs);
    // Clients preload a model this way.
    if (!asked.messages.some(({ role }) => role !== 'system')) {
      if (agentId === undefined) await routeOf(name, signal, deps);
      caller.settled();
      begin()();
      return loaded(asked, deps);
    }
    const source =
      agentId === undefined
        ? await modelSource(asked, name, { principal, caller, ignored }, deps)
        : agentSource(asked, agentId, { principal, caller, ignored, request }, deps);
    const end = begin();
    if (!asked.stream) {
      const whole = await wholeOllama(source).finally(end);
      caller.settled();
      return ignored.report(Response.json(whole), deps.note);
    }
    const lines = endedBy(streamOllama(source, { signal, explain: deps.explain }), end);
    const response = new Response(bodyOf(lines, caller, await lines.next()), { headers: NDJSON_HEADERS });
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

function loaded({ form, model, keepAliveMs }: Asked, { clock }: HttpDeps): Response {
  return Response.json({
    ...{ model, created_at: new Date(clock.now()).toISOString() },
    ...(form === 'generate' ? { response: '' } : { message: { role: 'assistant', content: '' } }),
    ...{ done: true, done_reason: keepAliveMs === 0 ? 'unload' : 'load' },
  });
}

interface Call {
  principal: string;
  caller: Caller;
  ignored: IgnoredFields;
}

const toSource = (
  { form, model, messages, wishes }: Asked,
  events: AsyncIterable<ModelEvent>,
  record: OllamaSource['record'],
  { clock }: HttpDeps,
): OllamaSource => ({ ...{ form, model, messages, events, clock, record }, showsThoughts: wishes.reasoningEffort !== 'none' });

function agentSource(asked: Asked, agentId: string, call: Call & { request: Request }, deps: ChatDeps): OllamaSource {
  const { messages, tools, wishes } = asked;
  const { principal, caller, ignored, request } = call;
  const sessionId = agentSession({ header: headerSession(request), user: undefined, tools }, ignored);
  const { signal } = caller.abort;
  const run = (left: Wishes): AsyncIterable<ModelEvent> =>
    deps.agents.run({ agentId, messages, sessionId, principal, tools, wishes: left, signal });
  // The run records its own usage.
  return toSource(asked, tolerant(run, wishes, ignored), () => {}, deps);
}

async function modelSource(asked: Asked, name: string, { principal, caller, ignored }: Call, deps: ChatDeps): Promise<OllamaSource> {
  const { clock, thoughts } = deps;
  const { signal } = caller.abort;
  const { provider, model, key } = await routeOf(name, signal, deps);
  const request = { model, messages: thoughts.restored(principal, asked.messages), tools: asked.tools, exact: true };
  const run = (left: Wishes): AsyncIterable<ModelEvent> =>
    retriedStream(() => provider.stream({ ...request, ...left }, signal), { clock, signal });
  const events = thoughts.noting(principal, countedStream(tolerant(run, asked.wishes, ignored), asked.messages, key));
  return toSource(asked, events, (usage) => deps.record?.({ at: clock.now(), provider: provider.id, model: key, principal, usage }), deps);
}

/** Clients send the same options for every model: the request is repeated without those that it rejects. */
const tolerant = (run: (wishes: Wishes) => AsyncIterable<ModelEvent>, wishes: Wishes, ignored: IgnoredFields): AsyncIterable<ModelEvent> =>
  withoutRefusedEffort(
    (left) => withoutUnsupported(left, run, { ignored, nameOf: (field) => (field === 'reasoningEffort' ? 'think' : chatName(field)) }),
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
export function answerOllamaEmbed(request: Request, principal: string, deps: OllamaDeps): Promise<Response> {
  return forCaller(request, async ({ abort: { signal }, settled }) => {
    const startedAt = deps.clock.monotonic();
    const { model, input, dimensions, keep_alive } = parse(embedRequest, await readJson(request));
    const texts = typeof input === 'string' ? [input] : (input ?? []);
    const name = await withoutDefaultTag(model, signal, deps);
    const { vectors, usage } =
      texts.length === 0
        ? { vectors: [], usage: { inputTokens: 0 } }
        : await embedTexts({ model: name, input: texts, ...(dimensions == null ? {} : { dimensions }) }, principal, signal, deps);
    settled();
    deps.loaded.begin(principal, name, toKeepAliveMs(keep_alive))();
    return Response.json({
      ...{ model, embeddings: vectors, total_duration: Math.round((deps.clock.monotonic() - startedAt) * 1e6) },
      ...{ load_duration: 0, prompt_eval_count: usage.inputTokens },
    });
  });
}

/** `POST /api/embeddings`, the older form for one text. Throws errors that `toHttpError` explains. */
export function answerOllamaEmbeddings(request: Request, principal: string, deps: OllamaDeps): Promise<Response> {
  return forCaller(request, async ({ abort: { signal }, settled }) => {
    const { model, prompt, keep_alive } = parse(embeddingsRequest, await readJson(request));
    const name = await withoutDefaultTag(model, signal, deps);
    const vectors = prompt ? (await embedTexts({ model: name, input: [prompt] }, principal, signal, deps)).vectors : [];
    settled();
    deps.loaded.begin(principal, name, toKeepAliveMs(keep_alive))();
    return Response.json({ embedding: vectors[0] ?? [] });
  });
}
