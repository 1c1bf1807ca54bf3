import { defineMethod } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { localModelId, modelBackend, modelSource } from './local-model.ts';
import { definePort } from './port.ts';

/** A model to download. */
export const modelDownloadParams = {
  /** The repository on the hub, `<owner>/<name>`. */
  repo: z.string().min(3).max(201),
  /** A file of the repository. Defaults to the one that suits the machine best. */
  filename: z.string().min(1).max(1000).optional(),
  source: modelSource.default('huggingface'),
  backend: modelBackend.default('gguf'),
};

export const modelDownload = z.object({
  id: z.string(),
  repo: z.string(),
  filename: z.string().nullable(),
  source: modelSource,
  backend: modelBackend,
  /** Milliseconds since the Unix epoch. */
  startedAt: z.number(),
  /** The file being downloaded; null before the start or if unknown. */
  file: z.string().nullable(),
  /** Bytes downloaded of all the model's files. `total` is null until the hub reports it. */
  bytes: z.number(),
  total: z.number().nullable(),
  /** `interrupted`: started in this browser and not finished; another request resumes it. */
  state: z.enum(['running', 'done', 'failed', 'cancelled', 'interrupted']),
  error: z.string().optional(),
  /** The downloaded model; null until the download is complete. */
  modelId: localModelId.nullable(),
});
/** A download and its progress. */
export type ModelDownload = z.infer<typeof modelDownload>;

/** Downloads to the bridge's disk. They continue without the caller and after a restart of the bridge. */
export const modelDownloadsPort = definePort({
  kind: 'model-downloads',
  featureName: 'Storing models on disk',
  calls: {
    'downloads.start': defineMethod({
      params: z.object(modelDownloadParams),
      result: z.object({ id: z.string() }),
      docs: 'Starts a download, or continues the running one of the same files.',
      policy: { scope: 'admin' },
    }),
    'downloads.list': defineMethod({
      params: z.object({}),
      result: z.object({ downloads: z.array(modelDownload) }),
      docs: 'Lists running downloads, and those that have ended since the bridge started.',
      policy: { scope: 'read' },
    }),
    'downloads.watch': defineMethod({
      params: z.object({}),
      result: z.object({}),
      docs: 'Reports the progress of each download. Resolves when none is running.',
      policy: { scope: 'read' },
    }),
    'downloads.cancel': defineMethod({
      params: z.object({ id: z.string(), forget: z.boolean().default(false) }),
      result: z.object({ cancelled: z.boolean() }),
      docs: 'Cancels a download. Downloaded data is kept unless `forget` is set. False if it was not running; `NOT_FOUND` if it does not exist.',
      fails: ['NOT_FOUND'],
      policy: { scope: 'admin' },
    }),
    'downloads.delete': defineMethod({
      params: z.object({ model: localModelId }),
      result: z.object({ sizeBytes: z.number().nullable() }),
      docs: 'Unloads a model and deletes its files. Null if the model does not exist.',
      policy: { scope: 'admin' },
    }),
    'downloads.room': defineMethod({
      params: z.object({}),
      result: z.object({
        /** Free bytes on the disk of the models folder. */
        freeBytes: z.number(),
        /** Runtime of GGUF models. */
        gguf: z.object({
          state: z.enum(['ready', 'outdated', 'missing', 'unsupported']),
          package: z.string(),
          wanted: z.string(),
          version: z.string().nullable(),
        }),
        /** Reason why MLX models can't run; null if they can. */
        mlx: z.string().nullable(),
        /** The command that installs the GGUF runtime. */
        install: z.string(),
      }),
      docs: 'Returns the available runtimes and the free disk space.',
      policy: { scope: 'read' },
    }),
  },
  events: { 'downloads.progress': modelDownload },
});
