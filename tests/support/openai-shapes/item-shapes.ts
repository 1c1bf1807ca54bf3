import { z } from '#shared/rpc/zod.ts';
import { count } from './number-shapes.ts';

const id = z.string().min(1);
const status = z.enum(['in_progress', 'completed', 'incomplete']);

const urlCitation = { start_index: count, end_index: count, url: z.string().min(1), title: z.string() };
const fileCitation = { index: count, file_id: z.string().min(1), filename: z.string().min(1) };

/** An annotation of an output text. */
export const annotation = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('url_citation'), ...urlCitation }),
  z.strictObject({ type: z.literal('file_citation'), ...fileCitation }),
]);

/** An annotation of a chat completion. Those of files are Perch's own: the public API has them in responses only. */
export const completionAnnotation = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('url_citation'), url_citation: z.strictObject(urlCitation) }),
  z.strictObject({ type: z.literal('file_citation'), file_citation: z.strictObject(fileCitation) }),
]);

export const outputText = z.strictObject({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(annotation),
  // Perch sends no log probabilities.
  logprobs: z.tuple([]),
});
export const reasoningText = z.strictObject({ type: z.literal('reasoning_text'), text: z.string() });
export const refusal = z.strictObject({ type: z.literal('refusal'), refusal: z.string() });

const inputPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('input_text'), text: z.string() }),
  z.strictObject({
    type: z.literal('input_image'),
    detail: z.enum(['low', 'high', 'auto', 'original']),
    image_url: z.string().nullish(),
    file_id: z.string().nullish(),
  }),
  z.strictObject({
    type: z.literal('input_file'),
    detail: z.enum(['auto', 'low', 'high']).optional(),
    filename: z.string().optional(),
    file_data: z.string().optional(),
    file_url: z.string().optional(),
    file_id: z.string().nullish(),
  }),
]);

const outputMessage = z.strictObject({
  type: z.literal('message'),
  id,
  role: z.literal('assistant'),
  status,
  content: z.array(z.discriminatedUnion('type', [outputText, refusal])),
  phase: z.enum(['commentary', 'final_answer']).nullish(),
});

const inputMessage = z.strictObject({
  type: z.literal('message'),
  id,
  role: z.enum(['user', 'system', 'developer']),
  status: status.optional(),
  content: z.array(inputPart),
});

const functionCall = z.strictObject({
  type: z.literal('function_call'),
  id,
  call_id: id,
  name: id,
  namespace: id.exactOptional(),
  arguments: z.string(),
  status,
});

const customCall = z.strictObject({
  type: z.literal('custom_tool_call'),
  id,
  call_id: id,
  name: id,
  namespace: id.exactOptional(),
  input: z.string(),
  status,
});

const functionCallOutput = z.strictObject({
  type: z.enum(['function_call_output', 'custom_tool_call_output']),
  id,
  call_id: id,
  output: z.union([z.string(), z.array(inputPart)]),
  status,
});

const reasoning = z.strictObject({
  type: z.literal('reasoning'),
  id,
  summary: z.array(z.strictObject({ type: z.literal('summary_text'), text: z.string() })),
  content: z.array(reasoningText).optional(),
  encrypted_content: z.string().min(1).nullish(),
  status: status.optional(),
});

const searchCall = z.strictObject({
  type: z.literal('web_search_call'),
  id,
  status: z.enum(['in_progress', 'searching', 'completed', 'failed']),
  action: z.strictObject({
    type: z.literal('search'),
    query: z.string(),
    queries: z.array(z.string()),
    sources: z.array(z.strictObject({ type: z.literal('url'), url: z.url() })).exactOptional(),
  }),
});

const fileSearchCall = z.strictObject({
  type: z.literal('file_search_call'),
  id,
  status: z.enum(['in_progress', 'searching', 'completed', 'incomplete', 'failed']),
  queries: z.array(z.string()),
  results: z
    .array(
      z.strictObject({
        file_id: id,
        filename: z.string().min(1),
        score: z.number().min(0).max(1),
        text: z.string(),
        attributes: z.record(z.string().max(64), z.union([z.string(), z.number(), z.boolean()])),
      }),
    )
    .nullable(),
});

/** An item of `output`. */
export const outputItem = z.discriminatedUnion('type', [outputMessage, functionCall, customCall, reasoning, searchCall, fileSearchCall]);
/** An item of `GET /v1/responses/{id}/input_items`. */
export const inputItem = z.union([
  inputMessage,
  outputMessage,
  functionCall,
  customCall,
  functionCallOutput,
  reasoning,
  searchCall,
  fileSearchCall,
]);
