import { z } from '../rpc/zod.ts';

/** Hubs that models are downloaded from, and what runs them (decisions, "Command line"). */
export const modelSource = z.enum(['huggingface', 'modelscope']);
export type ModelSource = z.infer<typeof modelSource>;
export const modelBackend = z.enum(['gguf', 'mlx', 'browser']);
export type ModelBackend = z.infer<typeof modelBackend>;

/** `<repo_owner>/<repo_name>/<file_name>` (interface document 2, section 4.1); of those in a browser, which are kept whole, without the file. */
export const localModelId = z.string().min(5).max(600);

export const localModel = z.object({
  id: localModelId,
  backend: modelBackend,
  sizeBytes: z.number(),
  /** As its file says it. */
  name: z.string().nullable(),
  /** Tokens. */
  contextWindow: z.number().nullable(),
  /** Null where it was not downloaded by Perch, or from a mirror. */
  source: modelSource.nullable(),
  /** Why it cannot be run; null where nothing is known to hinder. */
  problem: z.string().nullable(),
});
/** A model on the bridge's disk, or in a browser. */
export type LocalModel = z.infer<typeof localModel>;
