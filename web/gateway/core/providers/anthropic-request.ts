import type { Part } from '#shared/rpc/records.ts';
import { WIRE } from './anthropic-assembler.ts';
import { fileNote } from './file-note.ts';
import { base64Of, plainText } from './parts.ts';
import { type ModelMessage, type ModelRequest, toolNames } from './provider.ts';

type Block = Record<string, unknown>;
interface Turn {
  role: 'user' | 'assistant';
  content: Block[];
}

const IMAGES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

const text = (value: string): Block[] => (value.trim() === '' ? [] : [{ type: 'text', text: value }]);
/** Ids of other providers' calls may have characters that are refused here. */
const callId = (id: string): string => id.replaceAll(/[^a-zA-Z0-9_-]/g, '_') || 'call';

function partBlocks(part: Part, tools: ReadonlySet<string>): Block[] {
  if (part.type === 'text') return text(part.text);
  const source = { type: 'base64', media_type: part.mimeType, data: base64Of(part) };
  if (part.type === 'image') {
    if (IMAGES.has(part.mimeType)) return [{ type: 'image', source }];
    return text(fileNote({ ...part, filename: part.filename ?? 'image' }, tools));
  }
  return part.mimeType === 'application/pdf' ? [{ type: 'document', source, title: part.filename }] : text(fileNote(part, tools));
}

function blocks({ role, content, toolCalls, toolCallId, kept }: ModelMessage, tools: ReadonlySet<string>): Block[] {
  if (role === 'tool') return [{ type: 'tool_result', tool_use_id: callId(toolCallId ?? ''), content: plainText(content) }];
  if (role === 'user') return typeof content === 'string' ? text(content) : content.flatMap((part) => partBlocks(part, tools));
  const calls = (toolCalls ?? []).map(({ id, tool, args }) => ({ type: 'tool_use', id: callId(id), name: tool, input: args }));
  const thoughts: Block[] = kept?.wire === WIRE && Array.isArray(kept.value) ? kept.value : [];
  return [...thoughts, ...text(plainText(content).trimEnd()), ...calls];
}

/** Turns by whoever speaks: messages of one role that follow each other are one turn. It begins with the person's. */
function turns({ messages, tools }: ModelRequest): Turn[] {
  const names = toolNames({ tools });
  const out: Turn[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = out.at(-1);
    // The branch may have been cut in the middle of a turn.
    if (!last && (role === 'assistant' || message.role === 'tool')) continue;
    const content = blocks(message, names);
    if (content.length === 0) continue;
    if (last?.role === role) last.content.push(...content);
    else out.push({ role, content });
  }
  return out;
}

/** The body of `POST /messages`, streaming. `limit` is the model's, where the request names none. */
export function messagesBody(request: ModelRequest, limit: number): Record<string, unknown> {
  const system = request.messages.filter(({ role }) => role === 'system').map(({ content }) => plainText(content));
  return {
    model: request.model,
    max_tokens: Math.min(request.maxTokens ?? limit, limit),
    messages: turns(request),
    stream: true,
    ...(system.length > 0 ? { system: system.join('\n\n') } : {}),
    ...(request.temperature === undefined ? {} : { temperature: Math.min(1, request.temperature) }),
    ...(request.tools?.length
      ? {
          tools: request.tools.map(({ name, description, schema }) => ({ name, description, input_schema: { type: 'object', ...schema } })),
        }
      : {}),
  };
}

/** The body without what the refusal is about: a limit too high for the model, a temperature that it does not take. */
export function adaptMessagesBody(body: Record<string, unknown>, refusal: string): Record<string, unknown> | undefined {
  const { temperature, ...rest } = body;
  const allowed = Number(/max_tokens: \d+ > (\d+)/.exec(refusal)?.[1]);
  const current = body['max_tokens'];
  if (allowed > 0 && typeof current === 'number' && allowed < current) return { ...body, max_tokens: allowed };
  return temperature !== undefined && /temperature/.test(refusal) ? rest : undefined;
}
