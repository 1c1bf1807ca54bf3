import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '#shared/async/clock.ts';
import { assembleEvents } from './assembler.ts';
import type { EmbeddingProvider } from './embedding-provider.ts';
import { GoogleAssembler } from './google-assembler.ts';
import { toGoogleError } from './google-errors.ts';
import { createGenerateBody } from './google-request.ts';
import { type ListedModel, createListedModel, type ModelEvent, type ModelMessage, type ModelRequest, ProviderError } from './provider.ts';
import type { DrawingProvider } from './relaying-provider.ts';
import { RefusedOptions } from './refused-options.ts';
import { retry } from './retry.ts';
import { UpstreamHttp, type UpstreamOptions } from './upstream-http.ts';
import type { Watchdog } from '#shared/async/watchdog.ts';
import { truncateText } from '#shared/truncate-text.ts';

const requestSchema = z.strictObject({
  model: z.string(),
  input: z.custom<string | string[]>((value) => typeof (Array.isArray(value) ? value[0] : value) === 'string'),
  dimensions: z.number().int().min(1).nullish(),
  encoding_format: z.unknown().optional(),
  user: z.unknown().optional(),
});

const responseSchema = z.object({
  embeddings: z.array(z.object({ values: z.array(z.number()) })),
  usageMetadata: z.object({ promptTokenCount: z.number().nonnegative().nullish() }).nullish().catch(null),
});

const MAX_PAGES = 10;
/** Models that support `generateContent` but not chat. */
const NON_CHAT_MODELS = /embedding|-tts|image|live|audio|veo|imagen|robotics|computer-use|aqa/i;

/** Fields of options from settings, which are left out if the server refuses them. */
const OPTION_FIELDS = {
  reasoningEffort: { fields: ['generationConfig.thinkingConfig'], mention: /think/i },
  temperature: { fields: ['generationConfig.temperature'], mention: /temperature/i },
  topP: { fields: ['generationConfig.topP'], mention: /top_?p/i },
  seed: { fields: ['generationConfig.seed'], mention: /seed/i },
  stop: { fields: ['generationConfig.stopSequences'], mention: /stop_?sequences/i },
  responseFormat: { fields: ['generationConfig.responseMimeType'], mention: /mime|json/i },
  maxTokens: { fields: ['generationConfig.maxOutputTokens'], mention: /max_?output_?tokens/i },
};

const modelSchema = z.object({
  name: z.string().min(1).max(300),
  displayName: z.string().nullish(),
  inputTokenLimit: z.number().positive().nullish().catch(null),
  outputTokenLimit: z.number().positive().nullish().catch(null),
  supportedGenerationMethods: z.array(z.string()).nullish(),
  thinking: z.boolean().nullish().catch(null),
});
const pageSchema = z.object({ models: z.array(z.unknown()).nullish(), nextPageToken: z.string().nullish() });

/** Google's Gemini API. */
export class Google implements EmbeddingProvider, DrawingProvider {
  readonly id: string;
  readonly name: string;
  readonly #http: UpstreamHttp;
  readonly #refusedOptions = new RefusedOptions(OPTION_FIELDS);
  readonly #clock: Clock;

  constructor(options: UpstreamOptions) {
    this.id = options.id;
    this.name = options.name;
    this.#clock = options.clock;
    this.#http = new UpstreamHttp(options, {
      headers: (apiKey): Record<string, string> => (apiKey ? { 'x-goog-api-key': apiKey } : {}),
      failure: toGoogleError,
    });
  }

  stream(modelRequest: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const request = this.#refusedOptions.omitRefused(modelRequest);
    return this.#generate(request.model, createGenerateBody(request), signal, (body, refusal) =>
      this.#refusedOptions.adapt(request, body, refusal),
    );
  }

  draw(model: string, content: ModelMessage['content'], signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const body = createGenerateBody({ model, messages: [{ role: 'user', content }] });
    return this.#generate(model, { ...body, generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } }, signal);
  }

  #generate(
    model: string,
    body: Record<string, unknown>,
    signal: AbortSignal,
    adapt: Parameters<UpstreamHttp['sendAdapted']>[3] = () => undefined,
  ): AsyncGenerator<ModelEvent> {
    const path = `/models/${encodeModelPath(model)}:streamGenerateContent?alt=sse`;
    const open = (watchdog: Watchdog): Promise<Response> => this.#http.sendAdapted(path, body, watchdog, adapt);
    return assembleEvents(this.#http, new GoogleAssembler(this.name), { signal, open });
  }

  async embed(body: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    const path = `/models/${encodeModelPath(String(body['model']))}:batchEmbedContents`;
    const requestBody = toGoogleEmbedBody(body, this.name);
    const sendRequest = (): Promise<unknown> =>
      this.#http.withWatchdog(signal, (watchdog) => this.#http.json(path, watchdog, requestBody), true);
    return toOpenAiEmbeddings(await retry(sendRequest, { clock: this.#clock, signal }));
  }

  models(signal: AbortSignal): Promise<ListedModel[]> {
    return this.#http.withWatchdog(signal, async (watchdog) => {
      const models: ListedModel[] = [];
      let token = '';
      for (let count = 0; count < MAX_PAGES; count++) {
        const value = await this.#http.json(`/models?pageSize=1000${token}`, watchdog);
        const parsed = pageSchema.safeParse(value);
        if (!parsed.success || typeof value !== 'object' || value === null || !('models' in value))
          throw new ProviderError(`${this.name} does not list models at ${this.#http.baseUrl}/models. Check the base URL.`);
        models.push(...(parsed.data.models ?? []).flatMap(toListedModels));
        if (!parsed.data.nextPageToken) break;
        token = `&pageToken=${encodeURIComponent(parsed.data.nextPageToken)}`;
      }
      return models;
    });
  }
}

const encodeModelPath = (id: string): string => encodeURIComponent(id.replace(/^models\//, '').toWellFormed());

function toListedModels(value: unknown): ListedModel[] {
  const parsed = modelSchema.safeParse(value);
  if (!parsed.success) return [];
  const { name, displayName, inputTokenLimit, outputTokenLimit, supportedGenerationMethods: methods, thinking } = parsed.data;
  const id = name.replace(/^models\//, '');
  if ((methods && !methods.includes('generateContent')) || NON_CHAT_MODELS.test(id)) return [];
  return [
    createListedModel(id, {
      name: displayName || null,
      maxTokens: outputTokenLimit ?? null,
      contextWindow: inputTokenLimit ?? null,
      thinking: thinking ?? null,
    }),
  ];
}

/** Converts a body in the OpenAI format to one of `:batchEmbedContents`. Throws `ProviderError` for options that the API lacks. */
function toGoogleEmbedBody(body: Record<string, unknown>, name: string): Record<string, unknown> {
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.code === 'unrecognized_keys' ? issue.keys[0] : issue?.path[0];
    const param = truncateText(String(field));
    throw new ProviderError(`\`${param}\` is not supported by ${name}. Only \`input\` and \`dimensions\` are.`, { status: 400, param });
  }
  const { model, input, dimensions } = parsed.data;
  const texts = typeof input === 'string' ? [input] : input;
  return {
    requests: texts.map((text) => ({
      model: `models/${model.replace(/^models\//, '')}`,
      content: { parts: [{ text }] },
      ...(dimensions == null ? {} : { outputDimensionality: dimensions }),
    })),
  };
}

/** Converts the response to the OpenAI format; undefined if it is invalid. */
function toOpenAiEmbeddings(value: unknown): unknown {
  const parsed = responseSchema.safeParse(value);
  if (!parsed.success) return undefined;
  const { embeddings, usageMetadata } = parsed.data;
  const tokens = usageMetadata?.promptTokenCount;
  return {
    data: embeddings.map(({ values }) => ({ embedding: values })),
    ...(tokens == null ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  };
}
