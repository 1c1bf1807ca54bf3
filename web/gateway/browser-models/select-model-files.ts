import type { BrowserDtype, StoredBrowserModel } from '#shared/ports/browser-models-port.ts';
import { z } from '#shared/rpc/zod.ts';
import { type HubFile, HubError } from './browser-hub.ts';

/** Precisions of transformers.js by file name suffix. */
const DTYPE_BY_SUFFIX: readonly [ending: string, dtype: BrowserDtype][] = [
  ['_q4f16', 'q4f16'],
  ['_q4', 'q4'],
  ['_quantized', 'q8'],
  ['_int8', 'int8'],
  ['_uint8', 'uint8'],
  ['_bnb4', 'bnb4'],
  ['_fp16', 'fp16'],
  ['', 'fp32'],
];
/** Precisions in order of preference. A GPU computes with 16-bit floats if it can (`half`), a CPU is best with bytes. */
const DTYPE_PREFERENCE: Readonly<Record<'half' | 'gpu' | 'cpu', readonly BrowserDtype[]>> = {
  half: ['q4f16', 'q4', 'fp16', 'q8', 'int8', 'uint8', 'bnb4', 'fp32'],
  gpu: ['q4', 'q8', 'int8', 'uint8', 'bnb4', 'fp32'],
  cpu: ['q8', 'int8', 'uint8', 'q4', 'bnb4', 'fp32'],
};
export type Processor = keyof typeof DTYPE_PREFERENCE;

/** Graphs that can answer chats or create embeddings without another graph. */
const GRAPH_FILE = /^(?:onnx\/)?(model|decoder_model_merged)((?:_[a-z0-9]+)?)\.onnx$/;
/** Graphs that encode the input of speech models. */
const ENCODER_FILE = /^(?:onnx\/)?(encoder_model)((?:_[a-z0-9]+)?)\.onnx$/;
/** Model types of speech recognition that transformers.js runs with timestamps. */
const SPEECH_MODEL_TYPES = new Set(['whisper', 'lite-whisper']);
const COMPANION_FILES = [
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'preprocessor_config.json',
  'chat_template.jinja',
  '1_Pooling/config.json',
];
const REQUIRED_FILES = ['config.json', 'tokenizer.json', 'tokenizer_config.json'];

const configSchema = z.looseObject({
  model_type: z.string().nullish(),
  architectures: z.array(z.string()).min(1).nullish(),
  max_position_embeddings: z.number().int().positive().optional().catch(undefined),
  n_positions: z.number().int().positive().optional().catch(undefined),
});

interface ModelGraph {
  file: HubFile;
  name: string;
  dtype: BrowserDtype;
}

/**
 * Chooses files of a repository: the graph that suits the processor best, or the one named by `filename`, with its data, and the encoder's
 * graph if there is one. Throws a HubError that lists the existing ones.
 */
export function selectModelFiles(
  files: readonly HubFile[],
  { repo, filename, processor }: { repo: string; filename?: string | undefined; processor: Processor },
): Omit<StoredBrowserModel, 'task' | 'contextWindow' | 'keptAt'> {
  for (const path of REQUIRED_FILES)
    if (!files.some((file) => file.path === path)) throw new HubError(`${repo} has no ${path}. Choose a model made for transformers.js.`);
  const graphs = files.flatMap((file) => toGraph(file, GRAPH_FILE));
  const available = graphs.map(({ file }) => file.path).join(', ') || 'none';
  const getRank = ({ dtype }: ModelGraph): number => DTYPE_PREFERENCE[processor].indexOf(dtype);
  const selected =
    filename === undefined
      ? graphs.filter((graph) => getRank(graph) >= 0).sort((a, b) => getRank(a) - getRank(b))[0]
      : graphs.find(({ file: { path } }) => path === filename || path.endsWith(`/${filename}`));
  if (!selected)
    throw new HubError(
      filename === undefined
        ? `${repo} has no ONNX file that runs in a browser. Choose a model made for transformers.js.`
        : `${repo} has no ONNX file "${filename}" that runs in a browser. Available files: ${available.slice(0, 1000)}.`,
    );
  const encoder =
    selected.name === 'model'
      ? undefined
      : files
          .flatMap((file) => toGraph(file, ENCODER_FILE))
          .filter((graph) => graph.dtype === selected.dtype || getRank(graph) >= 0)
          .sort((a, b) => Number(b.dtype === selected.dtype) - Number(a.dtype === selected.dtype) || getRank(a) - getRank(b))[0];
  const companions = files.filter((file) => COMPANION_FILES.includes(file.path));
  return {
    ...{ repo, dtype: selected.dtype, graph: selected.name, dataFiles: findDataFiles(files, selected).length },
    ...(encoder ? { encoderDtype: encoder.dtype } : {}),
    // Small files first: an unsupported model is detected before its weights are downloaded.
    files: [...companions, ...[encoder, selected].flatMap((graph) => (graph ? [graph.file, ...findDataFiles(files, graph)] : []))].map(
      (file) => ({ path: file.path, size: file.size }),
    ),
  };
}

/** Files with a graph's weights. */
const findDataFiles = (files: readonly HubFile[], { file: { path } }: ModelGraph): HubFile[] =>
  files.filter((file) => file.path === `${path}_data` || (file.path.startsWith(`${path}_data_`) && /_\d+$/.test(file.path)));

function toGraph(file: HubFile, pattern: RegExp): ModelGraph[] {
  const [, name, suffix] = pattern.exec(file.path) ?? [];
  const dtype = DTYPE_BY_SUFFIX.find(([each]) => each === suffix)?.[1];
  return name !== undefined && dtype ? [{ file, name, dtype }] : [];
}

/** Reads task and context window from a model's `config.json`. Throws a HubError for an unsupported task. */
export function readConfig(text: string, repo: string): Pick<StoredBrowserModel, 'task' | 'contextWindow'> {
  const parsed = configSchema.safeParse(parseJsonSafely(text));
  if (!parsed.success) throw new HubError(`Couldn’t read config.json of ${repo}.`);
  const { model_type: modelType, architectures, max_position_embeddings: positions, n_positions: legacyPositions } = parsed.data;
  const architecture = architectures?.[0] ?? '';
  const contextWindow = positions ?? legacyPositions ?? null;
  if (/(ForCausalLM|LMHeadModel)$/.test(architecture)) return { task: 'text-generation', contextWindow };
  if (/(Model|ForMaskedLM)$/.test(architecture)) return { task: 'feature-extraction', contextWindow };
  if (SPEECH_MODEL_TYPES.has(modelType ?? '') && /ForConditionalGeneration$/.test(architecture))
    return { task: 'automatic-speech-recognition', contextWindow: null };
  throw new HubError(
    `${repo} is not a text, embedding or Whisper model (${architecture.slice(0, 100) || 'no architecture in config.json'}).`,
  );
}

function parseJsonSafely(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
