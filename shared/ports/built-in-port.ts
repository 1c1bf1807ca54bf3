import { defineMethod } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { ggufReply, ggufRequest, ggufTextEvent } from './gguf-port.ts';
import { definePort } from './port.ts';

/** Why a page's model does not answer, in the `details` of its `INTERNAL_ERROR`: the gateway makes a sentence of it. */
export const builtInModelError = z.object({
  /**
   * `unasked`: there is no user message; `too-long`: the conversation has more `tokens` than the model `takes`; `unfit`: unsupported options;
   * `gone`: the model is not available any longer; `failed`: any other error.
   */
  reason: z.enum(['unasked', 'too-long', 'unfit', 'gone', 'failed']),
  tokens: z.number().optional(),
  takes: z.number().optional(),
  /** Message of the browser. */
  why: z.string().optional(),
});
export type BuiltInModelError = z.infer<typeof builtInModelError>;

/**
 * Calls of the gateway's worker to a page whose browser has its own model (`LanguageModel`, which workers lack). Requests and answers are
 * those of GGUF models.
 */
export const builtInModelPort = definePort({
  kind: 'built-in',
  featureName: 'Running the browser’s built-in model',
  calls: {
    'run.generate': defineMethod({
      params: ggufRequest,
      result: ggufReply.extend({ contextWindow: z.number().nullable() }),
      docs: 'Generates a chat reply; its text is sent as events. If it fails, `details` say why.',
      policy: { scope: 'write' },
    }),
  },
  events: { 'run.text': ggufTextEvent },
});
