import { z } from '../rpc/zod.ts';

/** Hub that a model is downloaded from. */
export const modelSource = z.enum(['huggingface', 'modelscope']);
export type ModelSource = z.infer<typeof modelSource>;
export const modelBackend = z.enum(['gguf', 'mlx', 'browser']);
export type ModelBackend = z.infer<typeof modelBackend>;

/** Task of a model, as named by Hugging Face. */
export const localModelTask = z.enum(['text-generation', 'feature-extraction', 'automatic-speech-recognition']);

/** `<repo_owner>/<repo_name>/<file_name>`. For models in a browser, which are stored as a whole, without the file name. */
export const localModelId = z.string().min(5).max(600);

export const localModel = z.object({
  id: localModelId,
  backend: modelBackend,
  sizeBytes: z.number(),
  /** The name in the model's file. */
  name: z.string().nullable(),
  /** Tokens. */
  contextWindow: z.number().nullable(),
  /** Null if Perch did not download the model or used a mirror. */
  source: modelSource.nullable(),
  /** Undefined if unknown. */
  task: localModelTask.optional(),
  /** Why the model cannot be run; null if no problem is known. */
  problem: z.string().nullable(),
});
/** A model on the bridge's disk or in a browser. */
export type LocalModel = z.infer<typeof localModel>;
