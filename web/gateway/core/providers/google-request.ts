import type { Part, ToolCall } from '#shared/rpc/records.ts';
import { WIRE } from './google-assembler.ts';
import { fileNote, type Reader, readerOf } from './file-note.ts';
import { generationConfig, toolFields } from './google-wishes.ts';
import { base64Of, besideOf, OPENING, plainText, textsOf } from './parts.ts';
import { type ModelMessage, type ModelRequest } from './provider.ts';

type Piece = Record<string, unknown>;
interface Turn {
  role: 'user' | 'model';
  parts: Piece[];
}

/** MIME types sent as they are; other files are described. */
const INLINE = /^(image\/(png|jpeg|webp|heic|heif)|application\/pdf|audio\/|video\/)/;
/** Newer models reject calls without a signature. The API defines this value for calls of other models and of earlier runs. */
const UNSIGNED = 'skip_thought_signature_validator';

const text = (value: string): Piece[] => (value === '' ? [] : [{ text: value }]);

function partPieces(part: Part, reader: Reader): Piece[] {
  if (part.type === 'text') return text(part.text);
  if (INLINE.test(part.mimeType)) return [{ inlineData: { mimeType: part.mimeType, data: base64Of(part) } }];
  return text(fileNote({ ...part, filename: part.filename ?? 'image' }, reader));
}

/** A tool's result must be an object. */
function resultOf(content: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(content);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
    return { result: value };
  } catch {
    return { result: content };
  }
}

function pieces(
  { role, content, toolCalls, toolCallId, name, kept }: ModelMessage,
  calls: ReadonlyMap<string, ToolCall>,
  reader: Reader,
): Piece[] {
  if (role === 'tool') {
    const tool = name ?? calls.get(toolCallId ?? '')?.tool ?? 'tool';
    const response = { functionResponse: { name: tool, response: resultOf(plainText(textsOf(content))) } };
    // The result object cannot contain images and files; they follow it.
    return [response, ...besideOf(content).flatMap((part) => partPieces(part, reader))];
  }
  if (role === 'user') return typeof content === 'string' ? text(content) : content.flatMap((part) => partPieces(part, reader));
  if (kept?.wire === WIRE && Array.isArray(kept.value)) return kept.value;
  const asked = (toolCalls ?? []).map(({ tool, args }, index) => ({
    functionCall: { name: tool, args },
    // Of parallel calls, only the first is signed.
    ...(index === 0 ? { thoughtSignature: UNSIGNED } : {}),
  }));
  return [...text(plainText(content)), ...asked];
}

/**
 * Merges consecutive messages of one role into one turn. The first turn is the user's. Messages of an API client are all sent, after a
 * placeholder user turn if they start differently.
 */
function turns(request: ModelRequest): Turn[] {
  const readerFor = readerOf(request);
  const out: Turn[] = [];
  const calls = new Map<string, ToolCall>();
  for (const message of request.messages) {
    if (message.role === 'system') continue;
    for (const call of message.toolCalls ?? []) calls.set(call.id, call);
    const role = message.role === 'assistant' ? 'model' : 'user';
    const last = out.at(-1);
    // The branch may have been truncated in the middle of a turn.
    if (!last && !request.exact && (role === 'model' || message.role === 'tool')) continue;
    const parts = pieces(message, calls, readerFor(message));
    if (parts.length === 0) continue;
    if (last?.role === role) last.parts.push(...parts);
    else out.push({ role, parts });
  }
  if (request.exact && out[0]?.role !== 'user') out.unshift({ role: 'user', parts: text(OPENING) });
  return out;
}

/** Body of `:streamGenerateContent`. Throws `Unsupported`. */
export function generateBody(request: ModelRequest): Record<string, unknown> {
  const system = request.messages.filter(({ role }) => role === 'system').map(({ content }) => ({ text: plainText(content) }));
  const config = generationConfig(request);
  return {
    contents: turns(request),
    ...(system.length > 0 ? { systemInstruction: { parts: system } } : {}),
    ...(Object.keys(config).length > 0 ? { generationConfig: config } : {}),
    ...toolFields(request),
  };
}
