import { RpcError } from '#shared/rpc/errors.ts';
import type { Usage } from '#shared/rpc/records.ts';
import { z } from '#shared/rpc/zod.ts';
import type { EmbeddingProvider } from './embedding.ts';
import { readerOf } from './file-note.ts';
import type { LocalAnswer, LocalRequest, LocalRunner, LocalText, Runnable } from './local-runner.ts';
import { plainText } from './parts.ts';
import { type ListedModel, listedModel, type ModelEvent, type ModelRequest, ProviderError, Unsupported } from './provider.ts';

const embedding = z.object({
  model: z.string(),
  input: z.union([
    z
      .string()
      .min(1)
      .transform((text) => [text]),
    z.array(z.string().min(1)).min(1).max(2048),
  ]),
});

/** Provider of local models, run by a `LocalRunner`. */
export class LocalProvider implements EmbeddingProvider {
  readonly id: string;
  readonly name: string;
  readonly #runner: LocalRunner<Runnable>;

  constructor({ id, name, runner }: { id: string; name: string; runner: LocalRunner<Runnable> }) {
    this.id = id;
    this.name = name;
    this.#runner = runner;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const asked = requestOf(request, this.#runner.cannot);
    const left = new AbortController();
    const pieces: ModelEvent[] = [];
    let woken = Promise.withResolvers<void>();
    const ontext = ({ text, thought }: LocalText): void => {
      pieces.push({ type: thought ? 'reasoning' : 'text', text });
      woken.resolve();
    };
    let ended: { answer: LocalAnswer } | { error: unknown } | undefined;
    void this.#runner
      .generate(request.model, asked, { signal: AbortSignal.any([signal, left.signal]), ontext })
      .then((answer) => (ended = { answer }))
      .catch((error: unknown) => (ended = { error }))
      .finally(() => woken.resolve());
    try {
      for (;;) {
        await woken.promise;
        woken = Promise.withResolvers();
        yield* pieces.splice(0);
        signal.throwIfAborted();
        if (ended && 'error' in ended) throw told(ended.error);
        if (ended) return yield* eventsOf(ended.answer);
      }
    } finally {
      left.abort(new Error('the reply is no longer needed'));
    }
  }

  async embed(body: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    const parsed = embedding.safeParse(body);
    if (!parsed.success) throw new ProviderError(`\`input\` must have 1 to 2048 texts.`, { status: 400, param: 'input' });
    if (body['dimensions'] != null)
      throw new ProviderError('`dimensions` is not supported. The model sets the length of its vectors.', {
        status: 400,
        param: 'dimensions',
      });
    const { model, input: texts } = parsed.data;
    try {
      const { vectors, tokens } = await this.#runner.embed(model, texts, signal);
      return { data: vectors.map((vector) => ({ embedding: vector })), usage: { prompt_tokens: tokens, total_tokens: tokens } };
    } catch (error) {
      signal.throwIfAborted();
      throw told(error);
    }
  }

  /** Lists the models that can run. */
  async models(signal: AbortSignal): Promise<ListedModel[]> {
    const tools = this.#runner.cannot.includes('tools') ? { tools: false } : {};
    return (await this.#runner.list(signal))
      .filter(({ problem }) => problem === null)
      .map(({ id, name, contextWindow }) => listedModel(id, { name, contextWindow, maxTokens: contextWindow, vision: false, ...tools }));
  }
}

const WORDS: Partial<Record<keyof ModelRequest, string>> = {
  tools: 'tools',
  parallelToolCalls: 'parallel_tool_calls',
  responseFormat: 'response formats',
  seed: 'seeds',
  temperature: 'a temperature',
  topP: 'top_p',
  presencePenalty: 'presence penalties',
  frequencyPenalty: 'frequency penalties',
};

/** Throws `Unsupported` for options that local models lack. */
function requestOf(whole: ModelRequest, cannot: LocalRunner['cannot']): LocalRequest {
  for (const field of cannot) {
    const wish = field === 'temperature' && whole.ownTemperature ? undefined : whole[field];
    if (whole.exact && wish !== undefined && wish !== 0 && !(Array.isArray(wish) && wish.length === 0))
      throw new Unsupported(field, `This model does not support ${WORDS[field] ?? field}.`);
  }
  const request: ModelRequest = { ...whole, ...Object.fromEntries(cannot.map((field) => [field, undefined])) };
  const { toolChoice, responseFormat: format, reasoningEffort, exact } = request;
  const tools = toolChoice === 'none' ? [] : (request.tools ?? []);
  if (toolChoice === 'required' || typeof toolChoice === 'object')
    throw new Unsupported('toolChoice', 'Local models only support auto and none.');
  if (tools.length > 0 && format) throw new Unsupported('responseFormat', 'Local models support tools or a response format, not both.');
  if (exact && reasoningEffort !== undefined) throw new Unsupported('reasoningEffort', 'Local models do not support a reasoning effort.');
  if (exact && tools.some(({ strict }) => strict)) throw new Unsupported('tools', 'Local models do not support strict tools.');
  const readerFor = readerOf(request);
  const messages = request.messages.map((message) => {
    const { role, content, toolCalls, toolCallId } = message;
    const reader = readerFor(message);
    if (reader.exact && typeof content !== 'string' && content.some(({ type }) => type === 'image'))
      throw new Unsupported('messages', 'Local models do not support images.');
    return {
      role,
      text: plainText(content, reader),
      ...(toolCalls?.length ? { toolCalls } : {}),
      ...(toolCallId === undefined ? {} : { toolCallId }),
    };
  });
  const { temperature, topP, maxTokens, stop, seed, presencePenalty, frequencyPenalty, parallelToolCalls } = request;
  return {
    messages,
    ...(tools.length > 0
      ? { tools: tools.map(({ name, description, schema }) => ({ name, description, schema })), parallelToolCalls }
      : {}),
    json: format?.type === 'json_schema' ? format.schema : format && true,
    ...{ temperature, topP, maxTokens, stop, seed, presencePenalty, frequencyPenalty },
  };
}

function* eventsOf({ finish, calls, inputTokens, cachedTokens, outputTokens }: LocalAnswer): Generator<ModelEvent> {
  for (const { tool, args } of calls) yield { type: 'tool_call', call: { id: `call_${crypto.randomUUID()}`, tool, args } };
  const cached = cachedTokens > 0 ? { cacheReadTokens: cachedTokens } : {};
  const usage: Usage = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, ...cached };
  yield { type: 'usage', usage };
  yield { type: 'finish', reason: finish };
}

/** Converts an error of the runner to a `ProviderError`. */
function told(error: unknown): unknown {
  if (!(error instanceof RpcError)) return error;
  const { code, message, extra } = error;
  if (code === 'NOT_FOUND') return new ProviderError(message, { status: 404, cause: error });
  const field = extra.details?.['field'];
  if (field === 'responseFormat') return new Unsupported(field, message);
  if (code === 'INVALID_PARAMS')
    return new ProviderError(message, { status: 400, param: typeof field === 'string' ? field : undefined, cause: error });
  return new ProviderError(message, { cause: error });
}
