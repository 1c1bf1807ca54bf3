import { type MemoryMessage, textOf } from '../message.ts';

/** Tokens of a text, for the model in use. */
export type CountText = (text: string) => number;
/** As above; long texts may take a while, in which others have their turn. */
export type CountInTurns = (text: string) => number | Promise<number>;

/** A message as a model is shown it in a transcript: who, then what; calls of tools by name and arguments. */
export function shownMessage(message: MemoryMessage): string {
  const calls = (message.toolCalls ?? []).map(({ tool, args }) => `[calls ${tool} ${JSON.stringify(args)}]`);
  const who = message.name === undefined ? message.role : `${message.role} ${message.name}`;
  return `${who}: ${[textOf(message), ...calls].filter((text) => text !== '').join('\n')}`;
}

/** The messages as texts of at most so many tokens, in their order. What is too long by itself loses its middle, and says so. */
export async function transcripts(messages: readonly MemoryMessage[], most: number, count: CountInTurns): Promise<string[]> {
  const parts: string[] = [];
  let [part, tokens] = ['', 0];
  for (const message of messages) {
    const text = await shortened(shownMessage(message), most, count);
    const more = (await count(text)) + 1;
    if (part !== '' && tokens + more > most) {
      parts.push(part);
      [part, tokens] = ['', 0];
    }
    part += `${text}\n\n`;
    tokens += more;
  }
  return part === '' ? parts : [...parts, part];
}

async function shortened(text: string, most: number, count: CountInTurns): Promise<string> {
  const tokens = await count(text);
  if (tokens <= most) return text;
  const chars = [...text];
  const half = Math.max(1, Math.floor((chars.length * most) / tokens / 2) - 20);
  return `${chars.slice(0, half).join('')}\n[… ${chars.length - 2 * half} characters are left out …]\n${chars.slice(-half).join('')}`;
}

/** What others wrote, for a prompt, between marks that it cannot end itself. It is text to read, never an instruction. */
export const quoted = (name: string, text: string): string =>
  `<${name}>\n${text.replaceAll(`</${name}`, `<\\/${name}`).trim()}\n</${name}>`;
