import type { MessagePart, ToolCall } from '#shared/rpc/record-schemas.ts';
import { GOOGLE_WIRE } from './google-assembler.ts';
import { describeFile, type AttachmentReader, createReaderResolver } from './describe-file.ts';
import { toGenerationConfig, toToolFields } from './google-options.ts';
import { toStandardBase64, getOtherParts, OPENING_TEXT, toPlainText, getTextParts } from './content-parts.ts';
import { type ModelMessage, type ModelRequest } from './provider.ts';

type GooglePiece = Record<string, unknown>;
interface GoogleTurn {
  role: 'user' | 'model';
  parts: GooglePiece[];
}

/** MIME types sent as they are; other files are described. */
const INLINE_TYPES = /^(image\/(png|jpeg|webp|heic|heif)|application\/pdf|audio\/|video\/)/;
/** Newer models reject calls without a signature. The API defines this value for calls of other models and of earlier runs. */
const UNSIGNED_CALL = 'skip_thought_signature_validator';

const toTextPieces = (value: string): GooglePiece[] => (value === '' ? [] : [{ text: value }]);

function toPartPieces(part: MessagePart, reader: AttachmentReader): GooglePiece[] {
  if (part.type === 'text') return toTextPieces(part.text);
  if (INLINE_TYPES.test(part.mimeType)) return [{ inlineData: { mimeType: part.mimeType, data: toStandardBase64(part) } }];
  return toTextPieces(describeFile({ ...part, filename: part.filename ?? 'image' }, reader));
}

/** A tool's result must be an object. */
function toFunctionResult(content: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(content);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
    return { result: value };
  } catch {
    return { result: content };
  }
}

function toPieces(
  { role, content, toolCalls, toolCallId, name, kept }: ModelMessage,
  calls: ReadonlyMap<string, ToolCall>,
  reader: AttachmentReader,
): GooglePiece[] {
  if (role === 'tool') {
    const tool = name ?? calls.get(toolCallId ?? '')?.tool ?? 'tool';
    const response = { functionResponse: { name: tool, response: toFunctionResult(toPlainText(getTextParts(content))) } };
    // The result object cannot contain images and files; they follow it.
    return [response, ...getOtherParts(content).flatMap((part) => toPartPieces(part, reader))];
  }
  if (role === 'user') return typeof content === 'string' ? toTextPieces(content) : content.flatMap((part) => toPartPieces(part, reader));
  if (kept?.wire === GOOGLE_WIRE && Array.isArray(kept.value)) return kept.value;
  const callPieces = (toolCalls ?? []).map(({ tool, args }, index) => ({
    functionCall: { name: tool, args },
    // Of parallel calls, only the first is signed.
    ...(index === 0 ? { thoughtSignature: UNSIGNED_CALL } : {}),
  }));
  return [...toTextPieces(toPlainText(content)), ...callPieces];
}

/**
 * Merges consecutive messages of one role into one turn. The first turn is the user's. Messages of an API client are all sent, after a
 * placeholder user turn if they start differently.
 */
function toTurns(request: ModelRequest): GoogleTurn[] {
  const readerFor = createReaderResolver(request);
  const turns: GoogleTurn[] = [];
  const calls = new Map<string, ToolCall>();
  for (const message of request.messages) {
    if (message.role === 'system') continue;
    for (const call of message.toolCalls ?? []) calls.set(call.id, call);
    const role = message.role === 'assistant' ? 'model' : 'user';
    const last = turns.at(-1);
    // The branch may have been truncated in the middle of a turn.
    if (!last && !request.exact && (role === 'model' || message.role === 'tool')) continue;
    const parts = toPieces(message, calls, readerFor(message));
    if (parts.length === 0) continue;
    if (last?.role === role) last.parts.push(...parts);
    else turns.push({ role, parts });
  }
  if (request.exact && turns[0]?.role !== 'user') turns.unshift({ role: 'user', parts: toTextPieces(OPENING_TEXT) });
  return turns;
}

/** Body of `:streamGenerateContent`. Throws `UnsupportedOptionError`. */
export function createGenerateBody(request: ModelRequest): Record<string, unknown> {
  const system = request.messages.filter(({ role }) => role === 'system').map(({ content }) => ({ text: toPlainText(content) }));
  const config = toGenerationConfig(request);
  return {
    contents: toTurns(request),
    ...(system.length > 0 ? { systemInstruction: { parts: system } } : {}),
    ...(Object.keys(config).length > 0 ? { generationConfig: config } : {}),
    ...toToolFields(request),
  };
}
