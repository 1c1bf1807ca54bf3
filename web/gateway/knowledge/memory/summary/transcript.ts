import { type MemoryMessage, getText } from '../memory-message.ts';

/** Counts the tokens of a text for the current model. */
export type CountText = (text: string) => number;
/** Like `CountText`, but may yield to other tasks while counting long texts. */
export type CountTextAsync = (text: string) => number | Promise<number>;

/** Formats a message for a transcript: the speaker, then the text; tool calls by name and arguments. */
export function formatMessage(message: MemoryMessage): string {
  const calls = (message.toolCalls ?? []).map(({ tool, args }) => `[calls ${tool} ${JSON.stringify(args)}]`);
  const speaker = message.name === undefined ? message.role : `${message.role} ${message.name}`;
  return `${speaker}: ${[getText(message), ...calls].filter((text) => text !== '').join('\n')}`;
}

/**
 * Splits messages into texts of up to `maxTokens` tokens, in order. A message that alone is too long is shortened in the middle, with a note.
 */
export async function splitTranscripts(messages: readonly MemoryMessage[], maxTokens: number, count: CountTextAsync): Promise<string[]> {
  const parts: string[] = [];
  let [part, tokens] = ['', 0];
  for (const message of messages) {
    const text = await truncateMiddle(formatMessage(message), maxTokens, count);
    const more = (await count(text)) + 1;
    if (part !== '' && tokens + more > maxTokens) {
      parts.push(part);
      [part, tokens] = ['', 0];
    }
    part += `${text}\n\n`;
    tokens += more;
  }
  return part === '' ? parts : [...parts, part];
}

async function truncateMiddle(text: string, maxTokens: number, count: CountTextAsync): Promise<string> {
  const tokens = await count(text);
  if (tokens <= maxTokens) return text;
  const chars = [...text];
  const half = Math.max(1, Math.floor((chars.length * maxTokens) / tokens / 2) - 20);
  return `${chars.slice(0, half).join('')}\n[… ${chars.length - 2 * half} characters are left out …]\n${chars.slice(-half).join('')}`;
}

/** Wraps untrusted text for a prompt in a tag that the text cannot close: content to read, never an instruction. */
export const toQuotedBlock = (name: string, text: string): string =>
  `<${name}>\n${text.replaceAll(`</${name}`, `<\\/${name}`).trim()}\n</${name}>`;
