import { ggufAnswer, ggufRequest, ggufText, ggufTexts, ggufVectors } from '#shared/ports/gguf.ts';
import { port } from '#shared/ports/port.ts';
import { call } from '#shared/rpc/contract.ts';
import { z } from '#shared/rpc/zod.ts';

/** Calls from the bridge to the process that runs a model: one at a time, except `run.cancel`. */
export const runnerPort = port({
  kind: 'gguf-runner',
  what: 'Running GGUF models',
  calls: {
    'run.load': call({
      params: z.object({
        path: z.string(),
        /** Bytes of its files. */
        sizeBytes: z.number(),
        /** Bytes of memory per token of context. */
        bytesPerToken: z.number(),
        /** Maximum context in tokens. */
        contextSize: z.number().int(),
        /** Bytes of memory available to programs. */
        freeBytes: z.number(),
      }),
      result: z.object({ contextSize: z.number() }),
      docs: 'Loads the model of this process.',
      policy: { scope: 'write' },
    }),
    'run.generate': call({ params: ggufRequest, result: ggufAnswer, docs: 'Generates a reply.', policy: { scope: 'write' } }),
    'run.embed': call({
      params: z.object({ texts: ggufTexts }),
      result: ggufVectors,
      docs: 'Creates embeddings.',
      policy: { scope: 'write' },
    }),
    'run.cancel': call({ params: z.object({}), result: z.object({}), docs: 'Cancels the current call.', policy: { scope: 'write' } }),
  },
  events: { 'run.text': ggufText },
});
