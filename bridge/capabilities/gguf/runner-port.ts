import { ggufReply, ggufRequest, ggufTextEvent, ggufTexts, ggufVectors } from '#shared/ports/gguf-port.ts';
import { definePort } from '#shared/ports/port.ts';
import { defineMethod } from '#shared/rpc/contract.ts';
import { z } from '#shared/rpc/zod.ts';

/** Calls from the bridge to the process that runs a model: one at a time, except `run.cancel`. */
export const runnerPort = definePort({
  kind: 'gguf-runner',
  featureName: 'Running GGUF models',
  calls: {
    'run.load': defineMethod({
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
    'run.generate': defineMethod({ params: ggufRequest, result: ggufReply, docs: 'Generates a reply.', policy: { scope: 'write' } }),
    'run.embed': defineMethod({
      params: z.object({ texts: ggufTexts }),
      result: ggufVectors,
      docs: 'Creates embeddings.',
      policy: { scope: 'write' },
    }),
    'run.cancel': defineMethod({
      params: z.object({}),
      result: z.object({}),
      docs: 'Cancels the current call.',
      policy: { scope: 'write' },
    }),
  },
  events: { 'run.text': ggufTextEvent },
});
