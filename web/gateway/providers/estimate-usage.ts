import { estimateForFamily } from '#shared/tokens/estimate-for-family.ts';
import { getTokenFamily } from '#shared/tokens/token-family.ts';
import type { MessagePart, Usage } from '#shared/rpc/record-schemas.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { ModelMessage } from './provider.ts';

/** Cost of an average image with common vision models. */
const IMAGE_TOKENS = 800;
/** Role and separators of one message. */
const MESSAGE_TOKENS = 4;

const loadCounter = lazy(() => import('./tokens/count-tokens.ts'));

/** Texts of a message to count, and the tokens of its other content. */
interface SplitMessage {
  texts: string[];
  tokens: number;
}

type CountableMessage = Pick<ModelMessage, 'content' | 'toolCalls'>;

const estimatePart = (part: Exclude<MessagePart, { type: 'text' }>): number =>
  part.type === 'image' ? IMAGE_TOKENS : part.mimeType.startsWith('text/') ? Math.ceil((part.data.length * 3) / 16) : 20;

function splitMessage({ content, toolCalls }: CountableMessage): SplitMessage {
  const texts = toolCalls ? [JSON.stringify(toolCalls)] : [];
  if (typeof content === 'string') return { texts: [content, ...texts], tokens: MESSAGE_TOKENS };
  let tokens = MESSAGE_TOKENS;
  for (const part of content) {
    if (part.type === 'text') texts.push(part.text);
    else tokens += estimatePart(part);
  }
  return { texts, tokens };
}

/** Estimates the tokens of a message for a model. */
export function estimateMessage(message: CountableMessage, model: string): number {
  const family = getTokenFamily(model);
  const { texts, tokens } = splitMessage(message);
  return texts.reduce((sum, text) => sum + estimateForFamily(text, family), tokens);
}

/** Counts the tokens of a message with the model's tokenizer if it is available. Yields to other tasks while counting a long message. */
export async function countMessage(message: CountableMessage, model: string, signal?: AbortSignal): Promise<number> {
  const { countTokens } = await loadCounter();
  const { texts, tokens } = splitMessage(message);
  let sum = tokens;
  for (const text of texts) sum += await countTokens(text, model, signal);
  return sum;
}

const createEstimatedUsage = (inputTokens: number, outputTokens: number): Usage => ({
  inputTokens,
  outputTokens,
  totalTokens: inputTokens + outputTokens,
  estimated: true,
});

/** Estimates the usage of a call whose provider reported none, synchronously. `output`: all generated text. */
export function estimateUsage(messages: readonly ModelMessage[], output: string, model: string): Usage {
  return createEstimatedUsage(
    messages.reduce((sum, message) => sum + estimateMessage(message, model), 0),
    estimateForFamily(output, getTokenFamily(model)),
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
    return createEstimatedUsage(input, await (await loadCounter()).countTokens(output, model));
  } catch {
    // The token counter could not be loaded.
    return estimateUsage(messages, output, model);
  }
}

/** Like `estimateUsage`, from the number of generated characters only. */
export const guessUsage = (inputTokens: number, outputChars: number): Usage =>
  createEstimatedUsage(inputTokens, Math.ceil(outputChars / 4));
