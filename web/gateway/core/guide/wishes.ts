import { estimateTokens } from '#shared/estimate-tokens.ts';
import { type ModelRequest, Unsupported } from '../providers/provider.ts';

/**
 * Throws `Unsupported` for options that only a model can fulfil. Sampling and seed are ignored: the same question always has the same
 * answer.
 */
export function refuseUnsupported({
  toolChoice,
  responseFormat,
  reasoningEffort = 'none',
  presencePenalty,
  frequencyPenalty,
}: ModelRequest): void {
  const refuse = (field: keyof ModelRequest): never => {
    throw new Unsupported(field, 'The built-in guide is not a model and cannot do this.');
  };
  if (toolChoice === 'required' || typeof toolChoice === 'object') refuse('toolChoice');
  if (responseFormat) refuse('responseFormat');
  if (reasoningEffort !== 'none') refuse('reasoningEffort');
  if (presencePenalty) refuse('presencePenalty');
  if (frequencyPenalty) refuse('frequencyPenalty');
}

/** Cuts the reply at the caller's stop sequence or token limit. */
export function cut(reply: string, { stop = [], maxTokens }: ModelRequest): { text: string; reason: 'stop' | 'length' } {
  const ends = stop.map((each) => reply.indexOf(each)).filter((at) => at >= 0);
  const text = reply.slice(0, Math.min(reply.length, ...ends));
  if (maxTokens === undefined || estimateTokens(text) <= maxTokens) return { text, reason: 'stop' };
  // Finds the longest prefix within the limit: a token has one to four characters.
  let [least, most] = [0, Math.min(text.length, maxTokens * 4)];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (estimateTokens(text.slice(0, middle)) <= maxTokens) least = middle;
    else most = middle - 1;
  }
  return { text: text.slice(0, least), reason: 'length' };
}
