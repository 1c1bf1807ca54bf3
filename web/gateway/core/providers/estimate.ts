import { estimateFor } from '#shared/tokens/estimate.ts';
import { familyOf } from '#shared/tokens/family.ts';
import type { Part, Usage } from '#shared/rpc/records.ts';
import { lazy } from '../lazy.ts';
import type { ModelMessage } from './provider.ts';

/** Cost of an average image with common vision models. */
const IMAGE_TOKENS = 800;
/** Role and separators of one message. */
const MESSAGE_TOKENS = 4;

const counting = lazy(() => import('../tokens/count-tokens.ts'));

/** Texts of a message to count, and the tokens of its other content. */
interface Weighed {
  texts: string[];
  tokens: number;
}

type Counted = Pick<ModelMessage, 'content' | 'toolCalls'>;

const partTokens = (part: Exclude<Part, { type: 'text' }>): number =>
  part.type === 'image' ? IMAGE_TOKENS : part.mimeType.startsWith('text/') ? Math.ceil((part.data.length * 3) / 16) : 20;

function weighed({ content, toolCalls }: Counted): Weighed {
  const texts = toolCalls ? [JSON.stringify(toolCalls)] : [];
  if (typeof content === 'string') return { texts: [content, ...texts], tokens: MESSAGE_TOKENS };
  let tokens = MESSAGE_TOKENS;
  for (const part of content) {
    if (part.type === 'text') texts.push(part.text);
    else tokens += partTokens(part);
  }
  return { texts, tokens };
}

/** Estimates the tokens of a message for a model. */
export function estimateMessage(message: Counted, model: string): number {
  const family = familyOf(model);
  const { texts, tokens } = weighed(message);
  return texts.reduce((sum, text) => sum + estimateFor(text, family), tokens);
}

/** Counts the tokens of a message with the model's tokenizer if it is available. Yields to other tasks while counting a long message. */
export async function countMessage(message: Counted, model: string, signal?: AbortSignal): Promise<number> {
  const { countTokens } = await counting();
  const { texts, tokens } = weighed(message);
  let sum = tokens;
  for (const text of texts) sum += await countTokens(text, model, signal);
  return sum;
}

const usageOf = (inputTokens: number, outputTokens: number): Usage => ({
  inputTokens,
  outputTokens,
  totalTokens: inputTokens + outputTokens,
  estimated: true,
});

/** Estimates the usage of a call whose provider reported none, synchronously. `output`: all generated text. */
export function estimateUsage(messages: readonly ModelMessage[], output: string, model: string): Usage {
  return usageOf(
    messages.reduce((sum, message) => sum + estimateMessage(message, model), 0),
    estimateFor(output, familyOf(model)),
  );
}

/**
 * Usage of a call whose provider reported none: counted with the model's tokenizer if it is available, and marked `estimated`. Never
 * rejects.
 */
export async function countUsage(messages: readonly ModelMessage[], output: string, model: string): Promise<Usage> {
  try {
    let input = 0;
    for (const message of messages) input += await countMessage(message, model);
    return usageOf(input, await (await counting()).countTokens(output, model));
  } catch {
    // The token counter could not be loaded.
    return estimateUsage(messages, output, model);
  }
}

/** Like `estimateUsage`, from the number of generated characters only. */
export const guessed = (inputTokens: number, outputChars: number): Usage => usageOf(inputTokens, Math.ceil(outputChars / 4));
