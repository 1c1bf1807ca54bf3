import { estimateTokens } from '#shared/estimate-tokens.ts';
import type { Part, Usage } from '#shared/rpc/records.ts';
import type { ModelMessage } from './provider.ts';

/** What a picture of ordinary size costs with the usual vision models. */
const IMAGE_TOKENS = 800;
/** Role and separators of one message. */
const MESSAGE_TOKENS = 4;

function partTokens(part: Part): number {
  if (part.type === 'text') return estimateTokens(part.text);
  if (part.type === 'image') return IMAGE_TOKENS;
  return part.mimeType.startsWith('text/') ? Math.ceil((part.data.length * 3) / 16) : 20;
}

function messageTokens(message: ModelMessage): number {
  const content =
    typeof message.content === 'string'
      ? estimateTokens(message.content)
      : message.content.reduce((sum, part) => sum + partTokens(part), 0);
  return MESSAGE_TOKENS + content + (message.toolCalls ? estimateTokens(JSON.stringify(message.toolCalls)) : 0);
}

/** Usage of a call whose provider gave no figures, marked `estimated` (decisions, "Chat"). `output` is all that was generated. */
export function estimateUsage(messages: readonly ModelMessage[], output: string): Usage {
  const inputTokens = messages.reduce((sum, message) => sum + messageTokens(message), 0);
  const outputTokens = estimateTokens(output);
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, estimated: true };
}

/** As above, where only the number of characters is known that were generated. */
export function guessed(inputTokens: number, outputChars: number): Usage {
  const outputTokens = Math.ceil(outputChars / 4);
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, estimated: true };
}
