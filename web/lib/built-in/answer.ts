import type { z } from '#shared/rpc/zod.ts';
import { AnswerText, type Piece } from '#shared/answer-text.ts';
import type { BuiltInFault, builtInPort } from '#shared/ports/built-in.ts';
import type { GgufRequest } from '#shared/ports/gguf.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { bestWish, type Conversation, type LanguageModel, type Prompt } from './language-model.ts';

type Answer = z.output<(typeof builtInPort.calls)['run.generate']['result']>;

/** Asks the browser's own model, a piece at a time. Leaves off when `signal` fires. Rejects with `RpcError`. */
export async function answerOf(
  model: LanguageModel,
  request: GgufRequest,
  { locale, signal, say }: { locale: string; signal: AbortSignal; say: (piece: Piece) => void },
): Promise<Answer> {
  let conversation: Conversation | undefined;
  try {
    const { before, asked } = turnsOf(request.messages);
    const { wished } = await bestWish(model, locale);
    conversation = await model.create({ ...wished, initialPrompts: before, signal });
    return await converse(conversation, asked, request, { signal, say });
  } catch (error) {
    signal.throwIfAborted();
    throw told(error);
  } finally {
    conversation?.destroy();
  }
}

async function converse(
  conversation: Conversation,
  asked: Prompt[],
  { json, stop = [], maxTokens }: GgufRequest,
  { signal, say }: { signal: AbortSignal; say: (piece: Piece) => void },
): Promise<Answer> {
  const inputTokens = conversation.contextUsage + (await conversation.measureContextUsage(asked, { signal }));
  const { contextWindow: takes } = conversation;
  if (inputTokens >= takes) throw fault({ reason: 'too-long', tokens: Math.round(inputTokens), takes: Math.round(takes) });
  const text = new AnswerText(stop, say);
  let whole = '';
  let finish: Answer['finish'] = 'stop';
  const stream = conversation.promptStreaming(asked, {
    signal,
    ...(json === undefined ? {} : { responseConstraint: json === true ? { type: 'object' } : json }),
  });
  // Leaving the loop ends the answer.
  for await (const piece of stream) {
    text.add(piece);
    whole += piece;
    if (text.stopped) break;
    // No token is shorter than a character.
    if (maxTokens === undefined || whole.length < maxTokens) continue;
    if ((await conversation.measureContextUsage(whole, { signal })) < maxTokens) continue;
    finish = 'length';
    break;
  }
  signal.throwIfAborted();
  text.end();
  const outputTokens = Math.round(await conversation.measureContextUsage(whole));
  return {
    ...{ finish, calls: [], inputTokens: Math.round(inputTokens), cachedTokens: 0, outputTokens },
    contextWindow: Number.isFinite(takes) ? Math.round(takes) : null,
  };
}

/** Earlier turns, with all instructions first as the API requires, and the current question. */
export function turnsOf(messages: GgufRequest['messages']): { before: Prompt[]; asked: Prompt[] } {
  const instructions = messages.filter(({ role }) => role === 'system').map(({ text }) => text);
  const system: Prompt[] = instructions.length > 0 ? [{ role: 'system', content: instructions.join('\n\n') }] : [];
  const said = messages
    .filter(({ role, text }) => role !== 'system' && text !== '')
    // The model has no tools: results of earlier calls become user messages.
    .map(({ role, text }): Prompt => ({ role: role === 'assistant' ? 'assistant' : 'user', content: text }));
  const last = said.findLastIndex(({ role }) => role === 'user');
  if (last < 0) throw fault({ reason: 'unasked' });
  const asked = said.slice(last);
  const end = asked.at(-1);
  if (end?.role === 'assistant') asked[asked.length - 1] = { ...end, prefix: true };
  return { before: [...system, ...said.slice(0, last)], asked };
}

/** Reason why the model cannot answer; the gateway turns it into a sentence. */
export const fault = (details: BuiltInFault, cause?: unknown): RpcError =>
  new RpcError('INTERNAL_ERROR', details.reason, { details }, { cause });

/** Error of the browser. */
function told(error: unknown): unknown {
  if (error instanceof RpcError || !(error instanceof Error)) return error;
  const { name, message: why } = error;
  if (name === 'QuotaExceededError') return fault({ reason: 'too-long' }, error);
  return fault({ reason: name === 'NotSupportedError' ? 'unfit' : 'failed', why }, error);
}
