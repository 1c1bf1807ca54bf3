import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '../clock.ts';
import { assembled } from './assembled.ts';
import type { EmbeddingProvider } from './embedding.ts';
import { GoogleAssembler } from './google-assembler.ts';
import { embedAnswer, embedBody } from './google-embeddings.ts';
import { googleFailure } from './google-errors.ts';
import { generateBody } from './google-request.ts';
import { type ListedModel, listedModel, type ModelEvent, type ModelMessage, type ModelRequest, ProviderError } from './provider.ts';
import type { DrawingProvider } from './relaying.ts';
import { retried } from './retry.ts';
import { UpstreamHttp, type UpstreamOptions } from './upstream-http.ts';
import type { Watchdog } from './watchdog.ts';

const PAGES = 10;
/** Models that support `generateContent` but not chat. */
const NO_CHAT = /embedding|-tts|image|live|audio|veo|imagen|robotics|computer-use|aqa/i;

const model = z.object({
  name: z.string().min(1).max(300),
  displayName: z.string().nullish(),
  inputTokenLimit: z.number().positive().nullish().catch(null),
  outputTokenLimit: z.number().positive().nullish().catch(null),
  supportedGenerationMethods: z.array(z.string()).nullish(),
  thinking: z.boolean().nullish().catch(null),
});
const page = z.object({ models: z.array(z.unknown()).nullish(), nextPageToken: z.string().nullish() });

/** Google's Gemini API. */
export class Google implements EmbeddingProvider, DrawingProvider {
  readonly id: string;
  readonly name: string;
  readonly #http: UpstreamHttp;
  readonly #clock: Clock;

  constructor(options: UpstreamOptions) {
    this.id = options.id;
    this.name = options.name;
    this.#clock = options.clock;
    this.#http = new UpstreamHttp(options, {
      headers: (apiKey): Record<string, string> => (apiKey ? { 'x-goog-api-key': apiKey } : {}),
      failure: googleFailure,
    });
  }

  stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    return this.#generate(request.model, generateBody(request), signal);
  }

  draw(model: string, content: ModelMessage['content'], signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const body = generateBody({ model, messages: [{ role: 'user', content }] });
    return this.#generate(model, { ...body, generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } }, signal);
  }

  #generate(model: string, body: Record<string, unknown>, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const id = pathOf(model);
    const open = (watchdog: Watchdog): Promise<Response> => this.#http.send(`/models/${id}:streamGenerateContent?alt=sse`, body, watchdog);
    return assembled(this.#http, new GoogleAssembler(this.name), { signal, open });
  }

  async embed(body: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    const path = `/models/${pathOf(String(body['model']))}:batchEmbedContents`;
    const asked = embedBody(body, this.name);
    const ask = (): Promise<unknown> => this.#http.watched(signal, (watchdog) => this.#http.json(path, watchdog, asked), true);
    return embedAnswer(await retried(ask, { clock: this.#clock, signal }));
  }

  models(signal: AbortSignal): Promise<ListedModel[]> {
    return this.#http.watched(signal, async (watchdog) => {
      const models: ListedModel[] = [];
      let token = '';
      for (let count = 0; count < PAGES; count++) {
        const value = await this.#http.json(`/models?pageSize=1000${token}`, watchdog);
        const parsed = page.safeParse(value);
        if (!parsed.success || typeof value !== 'object' || value === null || !('models' in value))
          throw new ProviderError(`${this.name} does not list models at ${this.#http.baseUrl}/models. Check the base URL.`);
        models.push(...(parsed.data.models ?? []).flatMap(read));
        if (!parsed.data.nextPageToken) break;
        token = `&pageToken=${encodeURIComponent(parsed.data.nextPageToken)}`;
      }
      return models;
    });
  }
}

const pathOf = (id: string): string => encodeURIComponent(id.replace(/^models\//, '').toWellFormed());

function read(value: unknown): ListedModel[] {
  const parsed = model.safeParse(value);
  if (!parsed.success) return [];
  const { name, displayName, inputTokenLimit, outputTokenLimit, supportedGenerationMethods: methods, thinking } = parsed.data;
  const id = name.replace(/^models\//, '');
  if ((methods && !methods.includes('generateContent')) || NO_CHAT.test(id)) return [];
  return [
    listedModel(id, {
      name: displayName || null,
      maxTokens: outputTokenLimit ?? null,
      contextWindow: inputTokenLimit ?? null,
      thinking: thinking ?? null,
    }),
  ];
}
