import {
  AutomaticSpeechRecognitionPipeline,
  AutoModelForSpeechSeq2Seq,
  AutoProcessor,
  AutoTokenizer,
  type PreTrainedModel,
  type PreTrainedTokenizer,
  type Processor,
  Tensor,
} from '@xenova/transformers';
import { fromBase64 } from '#shared/base64.ts';
import type { StoredBrowserModel } from '#shared/ports/browser-models-port.ts';
import type { Transcript, TranscriptRequest } from '#shared/ports/transcript.ts';
import { z } from '#shared/rpc/zod.ts';
import { AudioError, decodeAudio } from '../audio/decode-audio.ts';
import {
  configureRuntime,
  createInvalidParams,
  createYieldingModel,
  detectDevice,
  type InferenceDevice,
  toLoadOptions,
} from './inference-runtime.ts';
import type { ModelStore } from './model-store.ts';

/** In seconds. Whisper hears this much at a time. */
const WINDOW_SECONDS = 30;
/** Overlap of two windows at each side, so that no word is cut. */
const OVERLAP_SECONDS = 5;

/** Of `generation_config.json`. A model of one language has no `lang_to_id`. */
const generationSchema = z.object({
  decoder_start_token_id: z.number(),
  lang_to_id: z.record(z.string(), z.number()).nullish(),
});
const outputSchema = z.object({
  text: z.string(),
  chunks: z.array(z.object({ timestamp: z.tuple([z.number().nullable(), z.number().nullable()]), text: z.string() })).default([]),
});
const featuresSchema = z.object({ input_features: z.instanceof(Tensor) });
const logitsSchema = z.object({ logits: z.instanceof(Tensor) });
const samplingSchema = z.object({ sampling_rate: z.number() });

/** A Whisper model of this browser's storage, loaded into memory. */
export class SpeechModel {
  readonly device: InferenceDevice;
  readonly #repo: string;
  readonly #model: PreTrainedModel;
  readonly #tokenizer: PreTrainedTokenizer;
  readonly #processor: Processor;

  private constructor(
    device: InferenceDevice,
    repo: string,
    parts: { model: PreTrainedModel; tokenizer: PreTrainedTokenizer; processor: Processor },
  ) {
    this.device = device;
    this.#repo = repo;
    this.#model = parts.model;
    this.#tokenizer = parts.tokenizer;
    this.#processor = parts.processor;
  }

  /** Throws the error of transformers.js for files that cannot be run. */
  static async load(store: ModelStore, metadata: StoredBrowserModel): Promise<SpeechModel> {
    configureRuntime(store, metadata);
    const device = await detectDevice(navigator);
    const tokenizer = await AutoTokenizer.from_pretrained(metadata.repo, { local_files_only: true });
    const processor = await AutoProcessor.from_pretrained(metadata.repo, { local_files_only: true });
    const model = await AutoModelForSpeechSeq2Seq.from_pretrained(metadata.repo, toLoadOptions(metadata, device));
    return new SpeechModel(device, metadata.repo, { model, tokenizer, processor });
  }

  /** Throws `INVALID_PARAMS` for audio that cannot be decoded, and for an unknown language. */
  async transcribe({ audio, language, translate }: TranscriptRequest, signal: AbortSignal): Promise<Transcript> {
    const generation = generationSchema.parse(this.#model.generation_config);
    const languages = generation.lang_to_id ?? null;
    const code = language?.toLowerCase().split(/[-_]/)[0];
    if (code !== undefined && languages && !(`<|${code}|>` in languages))
      throw createInvalidParams(`${this.#repo} doesn’t know the language "${language}". Use a code such as "en".`, 'language');
    if (translate && !languages) throw createInvalidParams(`${this.#repo} can’t translate. Use a multilingual Whisper model.`, 'model');
    const { sampling_rate: rate } = samplingSchema.parse(this.#processor.feature_extractor?.config);
    const samples = await this.#decode(audio, rate, signal);
    const model = createYieldingModel(this.#model, signal, () => signal.throwIfAborted());
    const spoken = languages ? (code ?? (await this.#detectLanguage(samples.subarray(0, WINDOW_SECONDS * rate), generation))) : null;
    const recognize = new AutomaticSpeechRecognitionPipeline({
      ...{ task: 'automatic-speech-recognition', model, tokenizer: this.#tokenizer, processor: this.#processor },
    });
    const output = await recognize(samples, {
      ...{ return_timestamps: true, chunk_length_s: WINDOW_SECONDS, stride_length_s: OVERLAP_SECONDS },
      ...(spoken === null ? {} : { language: spoken, task: translate ? 'translate' : 'transcribe' }),
    });
    const { text, chunks } = outputSchema.parse(output);
    const duration = samples.length / rate;
    return {
      ...{ text: text.trim(), language: translate ? 'en' : spoken, duration },
      segments: chunks.map(({ timestamp: [start, end], text: words }) => ({ start: start ?? 0, end: end ?? duration, text: words.trim() })),
    };
  }

  async #decode(audio: string, rate: number, signal: AbortSignal): Promise<Float32Array> {
    let samples: Float32Array;
    try {
      samples = await decodeAudio(fromBase64(audio), rate, signal);
    } catch (error) {
      if (error instanceof AudioError) throw createInvalidParams(`Couldn’t read the audio: ${error.message}.`, 'file');
      throw error;
    }
    if (samples.length === 0) throw createInvalidParams('Couldn’t read the audio: it is empty.', 'file');
    return samples;
  }

  /** The most likely language of the first window: transformers.js would assume English. */
  async #detectLanguage(
    samples: Float32Array,
    { decoder_start_token_id: start, lang_to_id: languages }: z.output<typeof generationSchema>,
  ): Promise<string> {
    const { input_features } = featuresSchema.parse(await this.#processor(samples));
    const decoder_input_ids = new Tensor('int64', BigInt64Array.of(BigInt(start)), [1, 1]);
    const { logits } = logitsSchema.parse(await this.#model.forward({ input_features, decoder_input_ids }));
    const scores = z.instanceof(Float32Array).parse(logits.to('float32').data);
    const [best] = Object.entries(languages ?? {}).sort(([, a], [, b]) => (scores[b] ?? -Infinity) - (scores[a] ?? -Infinity));
    return best?.[0].slice(2, -2) ?? 'en';
  }
}
