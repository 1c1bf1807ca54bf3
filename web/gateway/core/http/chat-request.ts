import type { Part, ToolCall } from '#shared/rpc/records.ts';
import { z } from '#shared/rpc/zod.ts';
import type { ModelMessage, ToolSpec } from '../providers/provider.ts';
import { badRequest } from './errors.ts';

/** What every completions request must be, whoever answers it. Everything else is passed on or read below. */
const envelope = z.looseObject({
  model: z.string().min(1).max(300),
  messages: z.array(z.looseObject({ role: z.string() })).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.number().int().min(1).max(128).nullish(),
});
export type Envelope = z.infer<typeof envelope>;

const contentPart = z.union([
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  z.looseObject({ type: z.literal('image_url'), image_url: z.union([z.string(), z.looseObject({ url: z.string() })]) }),
  z.looseObject({ type: z.literal('file'), file: z.looseObject({ filename: z.string().optional(), file_data: z.string() }) }),
]);

const message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(contentPart)]).nullish(),
  name: z.string().nullish(),
  tool_call_id: z.string().nullish(),
  tool_calls: z.array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) })).nullish(),
});

/** The parameters that an agent, or a provider without HTTP, knows how to follow. */
const known = z.looseObject({
  temperature: z.number().min(0).max(2).nullish(),
  max_tokens: z.number().int().min(1).nullish(),
  max_completion_tokens: z.number().int().min(1).nullish(),
  user: z.string().max(1000).nullish(),
  tools: z
    .array(
      z.looseObject({
        type: z.literal('function'),
        function: z.looseObject({
          name: z.string(),
          description: z.string().nullish(),
          parameters: z.record(z.string(), z.unknown()).nullish(),
        }),
      }),
    )
    .nullish(),
});

export interface KnownParams {
  messages: ModelMessage[];
  temperature: number | undefined;
  maxTokens: number | undefined;
  user: string | undefined;
  tools: ToolSpec[];
}

/** Parses, or throws a 400 that names the first parameter that does not fit, as `messages[0].content`. */
function parse<S extends z.ZodType>(schema: S, value: unknown, at: readonly PropertyKey[] = []): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const param = [...at, ...(issue?.path ?? [])].reduce<string>(
    (path, key) => (typeof key === 'number' ? `${path}[${key}]` : path === '' ? String(key) : `${path}.${String(key)}`),
    '',
  );
  throw badRequest(`${param || 'body'}: ${issue?.message ?? 'does not fit'}`, param || null);
}

export function readEnvelope(body: Record<string, unknown>): Envelope {
  return parse(envelope, body);
}

const DATA_URL = /^data:([^;,]+)(?:;[^;,]+)*;base64,/i;

function readPart(part: z.output<typeof contentPart>, param: string): Part {
  if ('text' in part && typeof part.text === 'string') return { type: 'text', text: part.text };
  if ('refusal' in part && typeof part.refusal === 'string') return { type: 'text', text: part.refusal };
  const file = part.type === 'file' ? part.file : undefined;
  const url =
    part.type === 'image_url' ? (typeof part.image_url === 'string' ? part.image_url : part.image_url.url) : (file?.file_data ?? '');
  const mimeType = DATA_URL.exec(url)?.[1];
  if (mimeType === undefined) throw badRequest(`${param}: only data URLs in base64 are read; remote ones are not fetched`, param);
  const data = url.slice(url.indexOf(',') + 1);
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(data)) throw badRequest(`${param}: the data is not base64`, param);
  return file ? { type: 'file', mimeType, data, filename: file.filename ?? 'file' } : { type: 'image', mimeType, data };
}

function readCalls(calls: NonNullable<z.output<typeof message>['tool_calls']>, param: string): ToolCall[] {
  return calls.map(({ id, function: { name, arguments: json } }, i) => {
    const at = `${param}.tool_calls[${i}].function.arguments`;
    let args: unknown;
    try {
      args = json.trim() === '' ? {} : JSON.parse(json);
    } catch {
      throw badRequest(`${at}: is not JSON`, at);
    }
    if (typeof args !== 'object' || args === null || Array.isArray(args)) throw badRequest(`${at}: is no JSON object`, at);
    return { id, tool: name, args: { ...args } };
  });
}

function readMessage(value: unknown, index: number): ModelMessage {
  const { role, content, name, tool_call_id, tool_calls } = parse(message, value, ['messages', index]);
  const param = `messages[${index}]`;
  if (content == null && !(role === 'assistant' && tool_calls?.length))
    throw badRequest(`${param}.content: is missing`, `${param}.content`);
  return {
    role: role === 'developer' ? 'system' : role,
    content: typeof content === 'string' ? content : (content ?? []).map((part, i) => readPart(part, `${param}.content[${i}]`)),
    ...(tool_calls?.length ? { toolCalls: readCalls(tool_calls, param) } : {}),
    ...(tool_call_id == null ? {} : { toolCallId: tool_call_id }),
    ...(name == null ? {} : { name }),
  };
}

/** Reads a request for those who do not speak the format themselves: agents and the guide. */
export function readKnown(body: Envelope): KnownParams {
  if ((body.n ?? 1) > 1) throw badRequest('n: only one choice is given here', 'n');
  const params = parse(known, body);
  return {
    messages: body.messages.map(readMessage),
    temperature: params.temperature ?? undefined,
    maxTokens: params.max_completion_tokens ?? params.max_tokens ?? undefined,
    user: params.user || undefined,
    tools: (params.tools ?? []).map(({ function: { name, description, parameters } }) => ({
      name,
      description: description ?? '',
      schema: parameters ?? {},
    })),
  };
}

/** Parameters that change an answer, and the values with which they do not. */
const CHANGING: Readonly<Record<string, readonly unknown[]>> = {
  response_format: [],
  tool_choice: ['auto'],
  functions: [],
  function_call: ['auto'],
  stop: [],
  logprobs: [false],
  top_logprobs: [0],
  logit_bias: [],
  top_p: [1],
  presence_penalty: [0],
  frequency_penalty: [0],
  seed: [],
  prediction: [],
  audio: [],
  web_search_options: [],
};

/** Throws a 400 that names the first parameter which a provider of another format cannot follow: it would be dropped in silence. */
export function refuseUnknown(body: Envelope): void {
  for (const [name, harmless] of Object.entries(CHANGING)) {
    const value = body[name];
    const plain = name === 'response_format' && typeof value === 'object' && value !== null && 'type' in value && value.type === 'text';
    if (value == null || plain || harmless.includes(value)) continue;
    throw badRequest(`${name}: cannot be passed on to this model, which speaks another format`, name);
  }
}
