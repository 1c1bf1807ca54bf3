import type { z } from '#shared/rpc/zod.ts';
import { ReasoningParser, type OutputPiece } from '#shared/reasoning-parser.ts';
import type { BuiltInModelError, builtInModelPort } from '#shared/ports/built-in-port.ts';
import type { GgufRequest } from '#shared/ports/gguf-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { findBestOptions, type Conversation, type LanguageModel, type Prompt } from './language-model.ts';

type BuiltInReply = z.output<(typeof builtInModelPort.calls)['run.generate']['result']>;

/** Streams a reply of the browser's own model to `onText` until `signal` aborts. Rejects with `RpcError`. */
export async function promptBuiltInModel(
  model: LanguageModel,
  request: GgufRequest,
  { locale, signal, onText }: { locale: string; signal: AbortSignal; onText: (piece: OutputPiece) => void },
): Promise<BuiltInReply> {
  let conversation: Conversation | undefined;
  try {
    const { history, current } = toPrompts(request.messages);
    const { options } = await findBestOptions(model, locale);
    conversation = await model.create({ ...options, initialPrompts: history, signal });
    return await streamReply(conversation, current, request, { signal, onText });
  } catch (error) {
    signal.throwIfAborted();
    throw toRpcError(error);
  } finally {
    conversation?.destroy();
  }
}

async function streamReply(
  conversation: Conversation,
  current: Prompt[],
  { json, stop = [], maxTokens }: GgufRequest,
  { signal, onText }: { signal: AbortSignal; onText: (piece: OutputPiece) => void },
): Promise<BuiltInReply> {
  const inputTokens = conversation.contextUsage + (await conversation.measureContextUsage(current, { signal }));
  const { contextWindow } = conversation;
  if (inputTokens >= contextWindow)
    throw toModelFault({ reason: 'too-long', tokens: Math.round(inputTokens), takes: Math.round(contextWindow) });
  const text = new ReasoningParser(stop, onText);
  let reply = '';
  let finish: BuiltInReply['finish'] = 'stop';
  const stream = conversation.promptStreaming(current, {
    signal,
    ...(json === undefined ? {} : { responseConstraint: json === true ? { type: 'object' } : json }),
  });
  // Leaving the loop cancels the stream.
  for await (const piece of stream) {
    text.add(piece);
    reply += piece;
    if (text.isStopped) break;
    // No token is shorter than a character.
    if (maxTokens === undefined || reply.length < maxTokens) continue;
    if ((await conversation.measureContextUsage(reply, { signal })) < maxTokens) continue;
    finish = 'length';
    break;
  }
  signal.throwIfAborted();
  text.end();
  const outputTokens = Math.round(await conversation.measureContextUsage(reply));
  return {
    ...{ finish, calls: [], inputTokens: Math.round(inputTokens), cachedTokens: 0, outputTokens },
    contextWindow: Number.isFinite(contextWindow) ? Math.round(contextWindow) : null,
  };
}

/** Earlier turns, with all instructions first as the API requires, and the current question. */
export function toPrompts(messages: GgufRequest['messages']): { history: Prompt[]; current: Prompt[] } {
  const instructions = messages.filter(({ role }) => role === 'system').map(({ text }) => text);
  const system: Prompt[] = instructions.length > 0 ? [{ role: 'system', content: instructions.join('\n\n') }] : [];
  const turns = messages
    .filter(({ role, text }) => role !== 'system' && text !== '')
    // The model has no tools: results of earlier calls become user messages.
    .map(({ role, text }): Prompt => ({ role: role === 'assistant' ? 'assistant' : 'user', content: text }));
  const last = turns.findLastIndex(({ role }) => role === 'user');
  if (last < 0) throw toModelFault({ reason: 'unasked' });
  const current = turns.slice(last);
  const end = current.at(-1);
  if (end?.role === 'assistant') current[current.length - 1] = { ...end, prefix: true };
  return { history: [...system, ...turns.slice(0, last)], current };
}

/** Reason why the model cannot answer; the gateway turns it into a sentence. */
export const toModelFault = (details: BuiltInModelError, cause?: unknown): RpcError =>
  new RpcError('INTERNAL_ERROR', details.reason, { details }, { cause });

/** Converts an error of the browser. */
function toRpcError(error: unknown): unknown {
  if (error instanceof RpcError || !(error instanceof Error)) return error;
  const { name, message } = error;
  if (name === 'QuotaExceededError') return toModelFault({ reason: 'too-long' }, error);
  return toModelFault({ reason: name === 'NotSupportedError' ? 'unfit' : 'failed', why: message }, error);
}
