import {
  AutoModel,
  AutoModelForCausalLM,
  AutoTokenizer,
  env,
  FeatureExtractionPipeline,
  InterruptableStoppingCriteria,
  type PreTrainedModel,
  type PreTrainedTokenizer,
  Tensor,
  TextStreamer,
} from '@xenova/transformers';
import type { KeptModel } from '#shared/ports/browser-models.ts';
import type { GgufRequest, ggufAnswer, ggufVectors } from '#shared/ports/gguf.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { z } from '#shared/rpc/zod.ts';
import { AnswerText, type Piece } from '#shared/answer-text.ts';
import type { KeptModels } from './kept-models.ts';

/** Maximum number of context tokens; some models are trained for many more. */
const MOST_CONTEXT = 16_384;
/** Number of texts that are embedded together. */
const BATCH = 16;

const pooling = z.object({ pooling_mode_cls_token: z.boolean().optional(), pooling_mode_lasttoken: z.boolean().optional() });
const inputs = z.object({ input_ids: z.instanceof(Tensor), attention_mask: z.instanceof(Tensor) });

type Pooling = 'cls' | 'last_token' | 'mean';
export type Device = 'webgpu' | 'wasm';

/** The device to run on: a GPU, if an adapter is available and not only the API. */
async function deviceOf({ gpu }: { gpu?: { requestAdapter(): Promise<unknown> } }): Promise<Device> {
  const adapter = await gpu?.requestAdapter().catch(() => null);
  return adapter ? 'webgpu' : 'wasm';
}

/** Prevents all network access: files come from storage, the runtime from the app's own origin. */
function prepare(kept: KeptModels, model: KeptModel): void {
  Object.assign(env, { allowRemoteModels: false, allowLocalModels: true, useBrowserCache: false, useWasmCache: false });
  env.fetch = () => Promise.resolve(new Response(null, { status: 404 }));
  const prefix = `${env.localModelPath}${model.repo}/`;
  env.useCustomCache = true;
  env.customCache = {
    match: async (name) => (name.startsWith(prefix) ? kept.read(model, name.slice(prefix.length)) : undefined),
    put: () => Promise.resolve(),
  };
  const { wasm } = env.backends.onnx;
  if (wasm) {
    wasm.wasmPaths = { mjs: `${__PERCH_ONNX__}.mjs`, wasm: `${__PERCH_ONNX__}.wasm` };
    // Threads need shared memory, which requires cross-origin isolation.
    wasm.numThreads = 1;
  }
}

/** A model of this browser's storage, loaded into memory. */
export class LoadedModel {
  readonly device: Device;
  readonly #about: KeptModel;
  readonly #model: PreTrainedModel;
  readonly #tokenizer: PreTrainedTokenizer;
  readonly #template: string | undefined;
  readonly #pooling: Pooling;

  private constructor(
    device: Device,
    about: KeptModel,
    parts: { model: PreTrainedModel; tokenizer: PreTrainedTokenizer; template: string | undefined; pooling: Pooling },
  ) {
    this.device = device;
    this.#about = about;
    this.#model = parts.model;
    this.#tokenizer = parts.tokenizer;
    this.#template = parts.template;
    this.#pooling = parts.pooling;
  }

  /** Throws the error of transformers.js for files that cannot be run. */
  static async load(kept: KeptModels, about: KeptModel): Promise<LoadedModel> {
    prepare(kept, about);
    const device = await deviceOf(navigator);
    const options = {
      ...{ device, dtype: about.dtype, local_files_only: true, model_file_name: about.graph, use_external_data_format: about.dataFiles },
      ...(about.files.some(({ path }) => path.startsWith('onnx/')) ? {} : { subfolder: '' }),
    };
    const tokenizer = await AutoTokenizer.from_pretrained(about.repo, { local_files_only: true });
    const kind = about.task === 'text-generation' ? AutoModelForCausalLM : AutoModel;
    const model = await kind.from_pretrained(about.repo, options);
    const pooled = pooling.safeParse(await (await kept.read(about, '1_Pooling/config.json'))?.json().catch(() => undefined)).data;
    return new LoadedModel(device, about, {
      ...{ model, tokenizer },
      template: await (await kept.read(about, 'chat_template.jinja'))?.text(),
      pooling: pooled?.pooling_mode_cls_token ? 'cls' : pooled?.pooling_mode_lasttoken ? 'last_token' : 'mean',
    });
  }

  /** Answers a chat piece by piece. Stops when `signal` aborts; the text so far is kept. */
  async generate(request: GgufRequest, signal: AbortSignal, say: (piece: Piece) => void): Promise<z.output<typeof ggufAnswer>> {
    if (this.#about.task !== 'text-generation') throw refused(`${this.#about.repo} is an embedding model and can’t chat.`, 'model');
    const { input_ids, attention_mask } = this.#inputs(request);
    const inputTokens = input_ids.dims.at(-1) ?? 0;
    const context = Math.min(this.#about.contextWindow ?? MOST_CONTEXT, MOST_CONTEXT);
    if (inputTokens >= context)
      throw refused(`The conversation has ${inputTokens} tokens, but ${this.#about.repo} allows ${context}. Start a new chat.`, 'messages');
    const most = Math.min(request.maxTokens ?? context, context - inputTokens);
    const stop = new InterruptableStoppingCriteria();
    const text = new AnswerText(request.stop ?? [], say);
    let outputTokens = 0;
    const streamer = new TextStreamer(this.#tokenizer, {
      skip_prompt: true,
      callback_function: (piece: string) => {
        text.add(piece);
        if (text.stopped) stop.interrupt();
      },
      token_callback_function: () => void outputTokens++,
    });
    const { temperature, topP } = request;
    await this.#breathing(signal, () => stop.interrupt()).generate({
      ...{ input_ids, attention_mask, streamer },
      stopping_criteria: [stop],
      max_new_tokens: most,
      ...(temperature === undefined ? {} : temperature === 0 ? { do_sample: false } : { do_sample: true, temperature }),
      ...(topP === undefined ? {} : { top_p: topP }),
    });
    signal.throwIfAborted();
    text.end();
    const finish = outputTokens >= most && !text.stopped ? 'length' : 'stop';
    return { finish, calls: [], inputTokens, cachedTokens: 0, outputTokens };
  }

  /** An embedding of length 1 for each text. */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<z.output<typeof ggufVectors>> {
    if (this.#about.task !== 'feature-extraction')
      throw refused(`${this.#about.repo} is a chat model and can’t create embeddings.`, 'model');
    const extract = new FeatureExtractionPipeline({ task: 'feature-extraction', model: this.#model, tokenizer: this.#tokenizer });
    const vectors: number[][] = [];
    for (let from = 0; from < texts.length; from += BATCH) {
      await breath();
      signal.throwIfAborted();
      const batch = texts.slice(from, from + BATCH);
      const made = await extract(batch, { pooling: this.#pooling, normalize: true });
      vectors.push(...z.array(z.array(z.number())).parse(made.tolist()));
    }
    return { vectors, tokens: texts.reduce((sum, text) => sum + this.#tokenizer.encode(text).length, 0) };
  }

  #inputs({ messages }: GgufRequest): z.output<typeof inputs> {
    const chat = messages.map(({ role, text }) => ({ role, content: text }));
    const template = this.#tokenizer.chat_template === null || this.#tokenizer.chat_template === undefined ? this.#template : undefined;
    try {
      return inputs.parse(
        this.#tokenizer.apply_chat_template(chat, {
          ...{ add_generation_prompt: true, return_dict: true, return_tensor: true },
          ...(template === undefined ? {} : { chat_template: template }),
        }),
      );
    } catch (error) {
      throw refused(
        `${this.#about.repo} doesn’t support this conversation (${error instanceof Error ? error.message : String(error)}).`,
        'messages',
      );
    }
  }

  /** The model, yielding after each token so that an abort can arrive. */
  #breathing(signal: AbortSignal, leave: () => void): PreTrainedModel {
    const model = this.#model;
    return new Proxy(model, {
      get(target, name) {
        if (name !== 'forward') return Reflect.get(target, name, target) as unknown;
        return async (given: Parameters<PreTrainedModel['forward']>[0]) => {
          await breath();
          if (signal.aborted) leave();
          return target.forward(given);
        };
      },
    });
  }
}

const refused = (message: string, field: string): RpcError => new RpcError('INVALID_PARAMS', message, { details: { field } });

/** Resolves after pending messages have been handled. Timers would be throttled in a hidden page. */
function breath(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
