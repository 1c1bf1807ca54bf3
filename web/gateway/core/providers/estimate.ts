import type { Part, Usage } from '#shared/rpc/records.ts';
import type { ModelMessage } from './provider.ts';

/** Scripts without spaces, where about each character is a token. */
const DENSE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]/u;
/** None of them comes before. */
const FIRST_DENSE = 0xe00;
/** By code point, as it was found: 1 for a dense one, 2 for another. */
const KNOWN = new Uint8Array(0x110000);

/** What a picture of ordinary size costs with the usual vision models. */
const IMAGE_TOKENS = 800;
/** Role and separators of one message. */
const MESSAGE_TOKENS = 4;

/** Tokens of a text, within some 15 % for prose: four characters a token, one for each character of a dense script. */
export function estimateTokens(text: string): number {
  const dense = denseIn(text);
  return Math.ceil(dense + (text.length - dense) / 4);
}

/** Characters of dense scripts. A body of them has millions: no list of matches is made. */
function denseIn(text: string): number {
  let dense = 0;
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) < FIRST_DENSE) continue;
    const point = text.codePointAt(at) ?? 0;
    if (point > 0xffff) at++;
    KNOWN[point] ||= DENSE.test(String.fromCodePoint(point)) ? 1 : 2;
    if (KNOWN[point] === 1) dense++;
  }
  return dense;
}

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
