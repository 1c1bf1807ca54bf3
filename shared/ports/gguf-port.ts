import { defineMethod } from '../rpc/contract.ts';
import { toolCall } from '../rpc/record-schemas.ts';
import { z } from '../rpc/zod.ts';
import { localModel, localModelId } from './local-model.ts';
import { definePort } from './port.ts';

const ggufMessage = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  text: z.string(),
  toolCalls: z.array(toolCall).optional(),
  toolCallId: z.string().optional(),
});

const schema = z.record(z.string(), z.unknown());

/** Request to a loaded model. */
export const ggufRequest = z.object({
  messages: z.array(ggufMessage).min(1).max(100_000),
  tools: z.array(z.object({ name: z.string(), description: z.string(), schema })).optional(),
  parallelToolCalls: z.boolean().optional(),
  /** The answer is JSON: any value, or one that matches the JSON Schema. */
  json: z.union([z.literal(true), schema]).optional(),
  temperature: z.number().optional(),
  topP: z.number().optional(),
  maxTokens: z.number().int().min(1).optional(),
  stop: z.array(z.string().min(1)).max(100).optional(),
  seed: z.number().int().optional(),
  presencePenalty: z.number().optional(),
  frequencyPenalty: z.number().optional(),
});
export type GgufRequest = z.infer<typeof ggufRequest>;

export const ggufReply = z.object({
  finish: z.enum(['stop', 'length', 'tool_calls']),
  calls: z.array(z.object({ tool: z.string(), args: z.record(z.string(), z.unknown()) })),
  inputTokens: z.number(),
  /** Tokens of these that the model had cached. */
  cachedTokens: z.number(),
  outputTokens: z.number(),
});

export const ggufVectors = z.object({ vectors: z.array(z.array(z.number())), tokens: z.number() });
export const ggufTexts = z.array(z.string()).min(1).max(2048);
export const ggufTextEvent = z.object({ text: z.string(), thought: z.boolean() });

/** Models in GGUF files on the bridge's disk, run by a separate process. One is loaded at a time; calls wait for their turn. */
export const ggufPort = definePort({
  kind: 'gguf',
  featureName: 'Running GGUF models',
  calls: {
    'gguf.list': defineMethod({
      params: z.object({}),
      result: z.object({ models: z.array(localModel) }),
      docs: 'Lists the models on disk.',
      policy: { scope: 'read' },
    }),
    'gguf.generate': defineMethod({
      params: z.object({ model: localModelId, request: ggufRequest }),
      result: ggufReply,
      docs: 'Generates a chat reply; its text is sent as events. `NOT_FOUND` if the model does not exist; `INVALID_PARAMS` with `details.field` for what the model does not support.',
      policy: { scope: 'write' },
    }),
    'gguf.embed': defineMethod({
      params: z.object({ model: localModelId, texts: ggufTexts }),
      result: ggufVectors,
      docs: 'Returns a vector for each text.',
      policy: { scope: 'write' },
    }),
  },
  events: { 'gguf.text': ggufTextEvent },
});
