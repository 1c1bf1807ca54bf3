import {
  AutoModel,
  AutoModelForCausalLM,
  AutoTokenizer,
  FeatureExtractionPipeline,
  InterruptableStoppingCriteria,
  type PreTrainedModel,
  type PreTrainedTokenizer,
  Tensor,
  TextStreamer,
} from '@xenova/transformers';
import type { StoredBrowserModel } from '#shared/ports/browser-models-port.ts';
import type { GgufRequest, ggufReply, ggufVectors } from '#shared/ports/gguf-port.ts';
import { z } from '#shared/rpc/zod.ts';
import { ReasoningParser, type OutputPiece } from '#shared/reasoning-parser.ts';
import {
  configureRuntime,
  createInvalidParams,
  createYieldingModel,
  detectDevice,
  type InferenceDevice,
  toLoadOptions,
  yieldToMessages,
} from './inference-runtime.ts';
import type { ModelStore } from './model-store.ts';

/** Maximum number of context tokens; some models are trained for many more. */
const MAX_CONTEXT_TOKENS = 16_384;
/** Number of texts that are embedded together. */
const BATCH_SIZE = 16;

const poolingSchema = z.object({ pooling_mode_cls_token: z.boolean().optional(), pooling_mode_lasttoken: z.boolean().optional() });
const inputsSchema = z.object({ input_ids: z.instanceof(Tensor), attention_mask: z.instanceof(Tensor) });

type Pooling = 'cls' | 'last_token' | 'mean';

/** A model of this browser's storage, loaded into memory. */
export class LoadedModel {
  readonly device: InferenceDevice;
  readonly #metadata: StoredBrowserModel;
  readonly #model: PreTrainedModel;
  readonly #tokenizer: PreTrainedTokenizer;
  readonly #template: string | undefined;
  readonly #pooling: Pooling;

  private constructor(
    device: InferenceDevice,
    metadata: StoredBrowserModel,
    parts: { model: PreTrainedModel; tokenizer: PreTrainedTokenizer; template: string | undefined; pooling: Pooling },
  ) {
    this.device = device;
    this.#metadata = metadata;
    this.#model = parts.model;
    this.#tokenizer = parts.tokenizer;
    this.#template = parts.template;
    this.#pooling = parts.pooling;
  }

  /** Throws the error of transformers.js for files that cannot be run. */
  static async load(store: ModelStore, metadata: StoredBrowserModel): Promise<LoadedModel> {
    configureRuntime(store, metadata);
    const device = await detectDevice(navigator);
    const tokenizer = await AutoTokenizer.from_pretrained(metadata.repo, { local_files_only: true });
    const modelClass = metadata.task === 'text-generation' ? AutoModelForCausalLM : AutoModel;
    const model = await modelClass.from_pretrained(metadata.repo, toLoadOptions(metadata, device));
    const poolingConfig = poolingSchema.safeParse(
      await (await store.readFile(metadata, '1_Pooling/config.json'))?.json().catch(() => undefined),
    ).data;
    return new LoadedModel(device, metadata, {
      ...{ model, tokenizer },
      template: await (await store.readFile(metadata, 'chat_template.jinja'))?.text(),
      pooling: poolingConfig?.pooling_mode_cls_token ? 'cls' : poolingConfig?.pooling_mode_lasttoken ? 'last_token' : 'mean',
    });
  }

  /** Answers a chat piece by piece. Stops when `signal` aborts; the text so far is kept. */
  async generate(request: GgufRequest, signal: AbortSignal, onText: (piece: OutputPiece) => void): Promise<z.output<typeof ggufReply>> {
    if (this.#metadata.task !== 'text-generation')
      throw createInvalidParams(`${this.#metadata.repo} is an embedding model and can’t chat.`, 'model');
    const { input_ids, attention_mask } = this.#tokenize(request);
    const inputTokens = input_ids.dims.at(-1) ?? 0;
    const context = Math.min(this.#metadata.contextWindow ?? MAX_CONTEXT_TOKENS, MAX_CONTEXT_TOKENS);
    if (inputTokens >= context)
      throw createInvalidParams(
        `The conversation has ${inputTokens} tokens, but ${this.#metadata.repo} allows ${context}. Start a new chat.`,
        'messages',
      );
    const maxTokens = Math.min(request.maxTokens ?? context, context - inputTokens);
    const stop = new InterruptableStoppingCriteria();
    const text = new ReasoningParser(request.stop ?? [], onText);
    let outputTokens = 0;
    const streamer = new TextStreamer(this.#tokenizer, {
      skip_prompt: true,
      callback_function: (piece: string) => {
        text.add(piece);
        if (text.isStopped) stop.interrupt();
      },
      token_callback_function: () => void outputTokens++,
    });
    const { temperature, topP } = request;
    await createYieldingModel(this.#model, signal, () => stop.interrupt()).generate({
      ...{ input_ids, attention_mask, streamer },
      stopping_criteria: [stop],
      max_new_tokens: maxTokens,
      ...(temperature === undefined ? {} : temperature === 0 ? { do_sample: false } : { do_sample: true, temperature }),
      ...(topP === undefined ? {} : { top_p: topP }),
    });
    signal.throwIfAborted();
    text.end();
    const finish = outputTokens >= maxTokens && !text.isStopped ? 'length' : 'stop';
    return { finish, calls: [], inputTokens, cachedTokens: 0, outputTokens };
  }

  /** An embedding of length 1 for each text. */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<z.output<typeof ggufVectors>> {
    if (this.#metadata.task !== 'feature-extraction')
      throw createInvalidParams(`${this.#metadata.repo} is a chat model and can’t create embeddings.`, 'model');
    const extract = new FeatureExtractionPipeline({ task: 'feature-extraction', model: this.#model, tokenizer: this.#tokenizer });
    const vectors: number[][] = [];
    for (let from = 0; from < texts.length; from += BATCH_SIZE) {
      await yieldToMessages();
      signal.throwIfAborted();
      const batch = texts.slice(from, from + BATCH_SIZE);
      const output = await extract(batch, { pooling: this.#pooling, normalize: true });
      vectors.push(...z.array(z.array(z.number())).parse(output.tolist()));
    }
    return { vectors, tokens: texts.reduce((sum, text) => sum + this.#tokenizer.encode(text).length, 0) };
  }

  #tokenize({ messages }: GgufRequest): z.output<typeof inputsSchema> {
    const chat = messages.map(({ role, text }) => ({ role, content: text }));
    const template = this.#tokenizer.chat_template === null || this.#tokenizer.chat_template === undefined ? this.#template : undefined;
    try {
      return inputsSchema.parse(
        this.#tokenizer.apply_chat_template(chat, {
          ...{ add_generation_prompt: true, return_dict: true, return_tensor: true },
          ...(template === undefined ? {} : { chat_template: template }),
        }),
      );
    } catch (error) {
      throw createInvalidParams(
        `${this.#metadata.repo} doesn’t support this conversation (${error instanceof Error ? error.message : String(error)}).`,
        'messages',
      );
    }
  }
}
