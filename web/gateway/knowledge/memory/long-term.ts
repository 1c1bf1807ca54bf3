/** Categories of memories. */
export const MemoryCategory = {
  FACT: 'fact',
  PREFERENCE: 'preference',
  DECISION: 'decision',
  TASK: 'task',
  EVENT: 'event',
  OTHER: 'other',
} as const;
export type MemoryCategory = (typeof MemoryCategory)[keyof typeof MemoryCategory];

export const isCategory = (text: string): text is MemoryCategory => Object.values<string>(MemoryCategory).includes(text);

/** One line of the long-term memory file: `- 2026-11-22 09:30 [fact] The cat is called Miso.` */
export interface MemoryLine {
  text: string;
  category: MemoryCategory;
  /** Milliseconds since the Unix epoch, exact to the minute. */
  createdAt: number;
}

/** A block of the file: a memory, or other text in between. `line` and `end` are its first and last line, counted from 1. */
export type MemoryBlock = { line: number; end: number } & ({ kind: 'memory'; memory: MemoryLine } | { kind: 'text'; text: string });

const ITEM = /^- (\d{4}-\d\d-\d\d)(?: (\d\d:\d\d))? \[([a-z]+)\] (.*)$/;
const INDENT = '  ';

/** Formats a memory as a line with a line break; further lines of its text are indented. */
export function formatMemory({ text, category, createdAt }: MemoryLine): string {
  const [date = '', time = ''] = new Date(createdAt).toISOString().split(/[T.]/);
  const lines = text.split(/\r\n|\n|\r/);
  return `- ${date} ${time.slice(0, 5)} [${category}] ${lines.join(`\n${INDENT}`)}\n`;
}

/**
 * Parses the file into blocks, in order. Anything that is not a memory line becomes text, one block per paragraph; nothing is an error,
 * because people edit this file.
 */
export const parseMemories = (file: string): MemoryBlock[] => [...iterateBlocks(file)];

/** The blocks of `parseMemories`, one by one: a long file can be parsed in slices. */
export function* iterateBlocks(file: string): Generator<MemoryBlock> {
  const lines = file.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const item = ITEM.exec(line);
    const memory = item && parseMemory(item);
    const begin = index;
    if (memory) {
      const more: string[] = [];
      while (lines[index + 1]?.startsWith(INDENT) === true) more.push((lines[++index] ?? '').slice(INDENT.length));
      yield { kind: 'memory', memory: { ...memory, text: [memory.text, ...more].join('\n') }, line: begin + 1, end: index + 1 };
    } else if (line.trim() !== '') {
      const paragraph = [line];
      while ((lines[index + 1] ?? '').trim() !== '' && !ITEM.test(lines[index + 1] ?? '')) paragraph.push(lines[++index] ?? '');
      yield { kind: 'text', text: paragraph.join('\n'), line: begin + 1, end: index + 1 };
    }
  }
}

function parseMemory([, date = '', time = '00:00', category = '', text = '']: RegExpExecArray): MemoryLine | undefined {
  const createdAt = Date.parse(`${date}T${time}Z`);
  return isCategory(category) && !Number.isNaN(createdAt) ? { text, category, createdAt } : undefined;
}

/** Returns the file with the lines of a block replaced by a text. */
export function replaceBlock(file: string, { line, end }: MemoryBlock, text: string): string {
  const lines = file.split(/(?<=\n|\r(?!\n))/);
  return [...lines.slice(0, line - 1), text, ...lines.slice(end)].join('');
}

/** Returns the file without the lines of a block. */
export const removeBlock = (file: string, block: MemoryBlock): string => replaceBlock(file, block, '');
