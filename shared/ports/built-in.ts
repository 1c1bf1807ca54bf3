import { call } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { ggufAnswer, ggufRequest, ggufText } from './gguf.ts';
import { port } from './port.ts';

/** What the gateway's worker says to a page whose browser has a model of its own (`LanguageModel`, which workers have not). Requests and answers are those of GGUF models. */
export const builtInPort = port({
  kind: 'built-in',
  what: 'Running the browser’s own model',
  calls: {
    'run.generate': call({
      params: ggufRequest,
      result: ggufAnswer.extend({ contextWindow: z.number().nullable() }),
      docs: 'Answers a chat; its text comes as events. `INVALID_PARAMS` with `details.field` for what the model cannot be asked.',
      policy: { scope: 'write' },
    }),
  },
  events: { 'run.text': ggufText },
});
