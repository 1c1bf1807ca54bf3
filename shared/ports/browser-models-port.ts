import { defineMethod } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { ggufReply, ggufRequest, ggufTextEvent, ggufTexts, ggufVectors } from './gguf-port.ts';
import { localModelTask } from './local-model.ts';
import { definePort } from './port.ts';
import { transcript, transcriptRequest } from './transcript.ts';

/** Data type of the weights, as named by transformers. */
const browserDtype = z.enum(['fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'q4f16', 'bnb4']);
export type BrowserDtype = z.infer<typeof browserDtype>;

export const storedBrowserModel = z.object({
  /** `<owner>/<name>`. */
  repo: z.string(),
  task: localModelTask,
  dtype: browserDtype,
  /** Data type of the encoder's weights, if the model has an encoder of its own. */
  encoderDtype: browserDtype.optional(),
  /** The name of its graph's file without folder, precision and ending: `model`. */
  graph: z.string(),
  /** Number of weight files next to the graph's. */
  dataFiles: z.number().int(),
  files: z.array(z.object({ path: z.string(), size: z.number().int() })),
  /** Tokens; null if its configuration lacks it. */
  contextWindow: z.number().nullable(),
  /** Milliseconds since 1970; null as long as something is missing. */
  keptAt: z.number().nullable(),
});
/** A model in this browser's storage, as recorded next to its files. */
export type StoredBrowserModel = z.infer<typeof storedBrowserModel>;

/** Calls of the gateway's worker to a page's worker for models, one after the other. Requests and answers are those of GGUF models. */
export const browserModelsPort = definePort({
  kind: 'browser-models',
  featureName: 'Running models in this browser',
  calls: {
    'run.load': defineMethod({
      params: z.object({ model: storedBrowserModel }),
      result: z.object({ device: z.enum(['webgpu', 'wasm']) }),
      docs: 'Loads the model of the worker, with `webgpu` if available.',
      policy: { scope: 'write' },
    }),
    'run.generate': defineMethod({ params: ggufRequest, result: ggufReply, docs: 'Generates a chat reply.', policy: { scope: 'write' } }),
    'run.embed': defineMethod({
      params: z.object({ texts: ggufTexts }),
      result: ggufVectors,
      docs: 'Makes vectors.',
      policy: { scope: 'write' },
    }),
    'run.transcribe': defineMethod({
      params: transcriptRequest,
      result: transcript,
      docs: 'Transcribes an audio file. `INVALID_PARAMS` with `details.field` for audio that cannot be read.',
      policy: { scope: 'write' },
    }),
    'run.idle': defineMethod({
      params: z.object({}),
      result: z.object({}),
      docs: 'Resolves when nothing is being generated.',
      policy: { scope: 'read' },
    }),
  },
  events: { 'run.text': ggufTextEvent },
});
