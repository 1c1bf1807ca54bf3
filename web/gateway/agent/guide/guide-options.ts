import { estimateTokens } from '#shared/estimate-tokens.ts';
import { type ModelRequest, UnsupportedOptionError } from '../../providers/provider.ts';

/**
 * Throws `UnsupportedOptionError` for options that only a model can fulfil. Sampling and seed are ignored: the same question always has the same
 * answer.
 */
export function rejectUnsupported({
  toolChoice,
  responseFormat,
  reasoningEffort = 'none',
  presencePenalty,
  frequencyPenalty,
}: ModelRequest): void {
  const reject = (field: keyof ModelRequest): never => {
    throw new UnsupportedOptionError(field, 'The built-in guide is not a model and cannot do this.');
  };
  if (toolChoice === 'required' || typeof toolChoice === 'object') reject('toolChoice');
  if (responseFormat) reject('responseFormat');
  if (reasoningEffort !== 'none') reject('reasoningEffort');
  if (presencePenalty) reject('presencePenalty');
  if (frequencyPenalty) reject('frequencyPenalty');
}

/** Cuts the reply at the caller's stop sequence or token limit. */
export function truncateReply(reply: string, { stop = [], maxTokens }: ModelRequest): { text: string; reason: 'stop' | 'length' } {
  const ends = stop.map((each) => reply.indexOf(each)).filter((index) => index >= 0);
  const text = reply.slice(0, Math.min(reply.length, ...ends));
  if (maxTokens === undefined || estimateTokens(text) <= maxTokens) return { text, reason: 'stop' };
  // Finds the longest prefix within the limit: a token has one to four characters.
  let [low, high] = [0, Math.min(text.length, maxTokens * 4)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (estimateTokens(text.slice(0, middle)) <= maxTokens) low = middle;
    else high = middle - 1;
  }
  return { text: text.slice(0, low), reason: 'length' };
}
