import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Transcript, TranscriptRequest } from '#shared/ports/transcript.ts';
import type { EmbeddingProvider } from './embedding-provider.ts';
import { createReaderResolver } from './describe-file.ts';
import type { LocalResult, LocalRequest, LocalRunner, LocalText, RunnableModel } from './local-runner.ts';
import { toPlainText } from './content-parts.ts';
import {
  type ListedModel,
  createListedModel,
  isOwnOption,
  type ModelEvent,
  type ModelRequest,
  ProviderError,
  UnsupportedOptionError,
  withoutOwnFormatIfTools,
} from './provider.ts';
import type { TranscribingProvider } from './transcribing-provider.ts';

const embeddingRequest = z.object({
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
export class LocalProvider implements EmbeddingProvider, TranscribingProvider {
  readonly id: string;
  readonly name: string;
  readonly #runner: LocalRunner<RunnableModel>;

  constructor({ id, name, runner }: { id: string; name: string; runner: LocalRunner<RunnableModel> }) {
    this.id = id;
    this.name = name;
    this.#runner = runner;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const localRequest = toLocalRequest(request, this.#runner.unsupported);
    const consumerGone = new AbortController();
    const pieces: ModelEvent[] = [];
    let wake = Promise.withResolvers<void>();
    const ontext = ({ text, thought }: LocalText): void => {
      pieces.push({ type: thought ? 'reasoning' : 'text', text });
      wake.resolve();
    };
    let outcome: { answer: LocalResult } | { error: unknown } | undefined;
    void this.#runner
      .generate(request.model, localRequest, { signal: AbortSignal.any([signal, consumerGone.signal]), ontext })
      .then((answer) => (outcome = { answer }))
      .catch((error: unknown) => (outcome = { error }))
      .finally(() => wake.resolve());
    try {
      for (;;) {
        await wake.promise;
        wake = Promise.withResolvers();
        yield* pieces.splice(0);
        signal.throwIfAborted();
        if (outcome && 'error' in outcome) throw toProviderError(outcome.error);
        if (outcome) return yield* toEvents(outcome.answer);
      }
    } finally {
      consumerGone.abort(new Error('the reply is no longer needed'));
    }
  }

  async embed(body: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    const parsed = embeddingRequest.safeParse(body);
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
      throw toProviderError(error);
    }
  }

  async transcribe(model: string, request: TranscriptRequest, signal: AbortSignal): Promise<Transcript> {
    if (!this.#runner.transcribe) throw new ProviderError(`${this.name} can’t transcribe audio.`, { status: 400, param: 'model' });
    try {
      return await this.#runner.transcribe(model, request, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw toProviderError(error);
    }
  }

  async listTranscribers(signal: AbortSignal): Promise<string[]> {
    return (await this.#runner.list(signal)).filter(isTranscriber).map(({ id }) => id);
  }

  /** Lists the models that can run. Models for speech recognition are left out, because no chat can use them. */
  async models(signal: AbortSignal): Promise<ListedModel[]> {
    const tools = this.#runner.unsupported.includes('tools') ? { tools: false } : {};
    return (await this.#runner.list(signal))
      .filter((model) => model.problem === null && !isTranscriber(model))
      .map(({ id, name, contextWindow }) =>
        createListedModel(id, { name, contextWindow, maxTokens: contextWindow, vision: false, ...tools }),
      );
  }
}

const isTranscriber = ({ task }: RunnableModel): boolean => task === 'automatic-speech-recognition';

const OPTION_NAMES: Partial<Record<keyof ModelRequest, string>> = {
  tools: 'tools',
  parallelToolCalls: 'parallel_tool_calls',
  responseFormat: 'response formats',
  seed: 'seeds',
  temperature: 'a temperature',
  topP: 'top_p',
  presencePenalty: 'presence penalties',
  frequencyPenalty: 'frequency penalties',
};

/** Throws `UnsupportedOptionError` for options that local models lack. */
function toLocalRequest(modelRequest: ModelRequest, unsupported: LocalRunner['unsupported']): LocalRequest {
  for (const field of unsupported) {
    const option = modelRequest.ownOptions?.has(field) ? undefined : modelRequest[field];
    if (modelRequest.exact && option !== undefined && option !== 0 && !(Array.isArray(option) && option.length === 0))
      throw new UnsupportedOptionError(field, `This model does not support ${OPTION_NAMES[field] ?? field}.`);
  }
  const request = withoutOwnFormatIfTools({ ...modelRequest, ...Object.fromEntries(unsupported.map((field) => [field, undefined])) });
  const { toolChoice, responseFormat: format, reasoningEffort, exact } = request;
  const tools = toolChoice === 'none' ? [] : (request.tools ?? []);
  if (toolChoice === 'required' || typeof toolChoice === 'object')
    throw new UnsupportedOptionError('toolChoice', 'Local models only support auto and none.');
  if (tools.length > 0 && format)
    throw new UnsupportedOptionError('responseFormat', 'Local models support tools or a response format, not both.');
  if (exact && reasoningEffort !== undefined && !isOwnOption(request, 'reasoningEffort'))
    throw new UnsupportedOptionError('reasoningEffort', 'Local models do not support a reasoning effort.');
  if (exact && tools.some(({ strict }) => strict)) throw new UnsupportedOptionError('tools', 'Local models do not support strict tools.');
  const readerFor = createReaderResolver(request);
  const messages = request.messages.map((message) => {
    const { role, content, toolCalls, toolCallId } = message;
    const reader = readerFor(message);
    if (reader.exact && typeof content !== 'string' && content.some(({ type }) => type === 'image'))
      throw new UnsupportedOptionError('messages', 'Local models do not support images.');
    return {
      role,
      text: toPlainText(content, reader),
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

function* toEvents({ finish, calls, inputTokens, cachedTokens, outputTokens }: LocalResult): Generator<ModelEvent> {
  for (const { tool, args } of calls) yield { type: 'tool_call', call: { id: `call_${crypto.randomUUID()}`, tool, args } };
  const cached = cachedTokens > 0 ? { cacheReadTokens: cachedTokens } : {};
  const usage: Usage = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, ...cached };
  yield { type: 'usage', usage };
  yield { type: 'finish', reason: finish };
}

/** Converts an error of the runner to a `ProviderError`. */
function toProviderError(error: unknown): unknown {
  if (!(error instanceof RpcError)) return error;
  const { code, message, extra } = error;
  if (code === 'NOT_FOUND') return new ProviderError(message, { status: 404, cause: error });
  const field = extra.details?.['field'];
  if (field === 'responseFormat') return new UnsupportedOptionError(field, message);
  if (code === 'INVALID_PARAMS')
    return new ProviderError(message, { status: 400, param: typeof field === 'string' ? field : undefined, cause: error });
  return new ProviderError(message, { cause: error });
}
