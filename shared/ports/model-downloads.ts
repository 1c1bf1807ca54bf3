import { call } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { localModelId, modelBackend, modelSource } from './models.ts';
import { port } from './port.ts';

/** What is to be downloaded. */
export const wantedModel = {
  /** As the hub calls it: `<owner>/<name>`. */
  repo: z.string().min(3).max(201),
  /** Which of its files; by default what suits the machine best. */
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
  /** Milliseconds since 1970. */
  startedAt: z.number(),
  /** The file that is being fetched; null before, and where that is not told. */
  file: z.string().nullable(),
  /** Bytes that are here, of all the model's files; `total` is null until the hub has said it. */
  bytes: z.number(),
  total: z.number().nullable(),
  /** `interrupted`: begun in this browser and left; asked for again, it goes on. */
  state: z.enum(['running', 'done', 'failed', 'cancelled', 'interrupted']),
  error: z.string().optional(),
  /** Of what is there now; null before. */
  modelId: localModelId.nullable(),
});
/** A download, and how far it has come. */
export type ModelDownload = z.infer<typeof modelDownload>;

/** Downloads to the bridge's disk. They go on when who asked for them is gone, and again when the bridge starts anew. */
export const modelDownloadsPort = port({
  kind: 'model-downloads',
  what: 'Keeping models on the disk',
  calls: {
    'downloads.start': call({
      params: z.object(wantedModel),
      result: z.object({ id: z.string() }),
      docs: 'Begins a download, or goes on with the one under way of the same.',
      policy: { scope: 'admin' },
    }),
    'downloads.list': call({
      params: z.object({}),
      result: z.object({ downloads: z.array(modelDownload) }),
      docs: 'Those under way, and those that have ended since the bridge started.',
      policy: { scope: 'read' },
    }),
    'downloads.watch': call({
      params: z.object({}),
      result: z.object({}),
      docs: 'Tells how each comes along; answers when none is under way (any more).',
      policy: { scope: 'read' },
    }),
    'downloads.cancel': call({
      params: z.object({ id: z.string(), forget: z.boolean().default(false) }),
      result: z.object({ cancelled: z.boolean() }),
      docs: 'Ends a download; what is here stays, for the next, unless it is to be forgotten. False: it was not under way. `NOT_FOUND` without such a one.',
      fails: ['NOT_FOUND'],
      policy: { scope: 'admin' },
    }),
    'downloads.delete': call({
      params: z.object({ model: localModelId }),
      result: z.object({ sizeBytes: z.number().nullable() }),
      docs: 'Deletes a model’s files, which is unloaded first; null without such a model.',
      policy: { scope: 'admin' },
    }),
    'downloads.room': call({
      params: z.object({}),
      result: z.object({
        /** Bytes free where models lie. */
        freeBytes: z.number(),
        /** What runs GGUF models. */
        gguf: z.object({
          state: z.enum(['ready', 'outdated', 'missing', 'unsupported']),
          package: z.string(),
          wanted: z.string(),
          version: z.string().nullable(),
        }),
        /** Why MLX models cannot be run; null where they can. */
        mlx: z.string().nullable(),
        /** The command that installs what runs GGUF models. */
        install: z.string(),
      }),
      docs: 'What runs models on this machine, and the room for more.',
      policy: { scope: 'read' },
    }),
  },
  events: { 'downloads.progress': modelDownload },
});
