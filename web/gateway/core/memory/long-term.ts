/** Kinds of memories (decisions, "Memory, recall …"). */
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

/** One line of the long-term memory file, as it is read and written: `- 2026-11-22 09:30 [fact] The cat is called Miso.` */
export interface MemoryLine {
  text: string;
  category: MemoryCategory;
  /** Milliseconds since 1970, to the minute. */
  createdAt: number;
}

/** A part of the file: a remembered line, or whatever a person has written between them. `line` and `end`: from the first to the last line, from 1 on. */
export type MemoryBlock = { line: number; end: number } & ({ kind: 'memory'; memory: MemoryLine } | { kind: 'text'; text: string });

const ITEM = /^- (\d{4}-\d\d-\d\d)(?: (\d\d:\d\d))? \[([a-z]+)\] (.*)$/;
const INDENT = '  ';

/** The line with an end; further lines of a text are indented. */
export function formatMemory({ text, category, createdAt }: MemoryLine): string {
  const [date = '', time = ''] = new Date(createdAt).toISOString().split(/[T.]/);
  const lines = text.split(/\r\n|\n|\r/);
  return `- ${date} ${time.slice(0, 5)} [${category}] ${lines.join(`\n${INDENT}`)}\n`;
}

/** Reads the file's blocks, in their order. What is no remembered line is a text by paragraphs; nothing is an error, for people write in this file. */
export function parseMemories(file: string): MemoryBlock[] {
  const blocks: MemoryBlock[] = [];
  const lines = file.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const item = ITEM.exec(line);
    const memory = item && memoryOf(item);
    const begin = at;
    if (memory) {
      const more: string[] = [];
      while (lines[at + 1]?.startsWith(INDENT) === true) more.push((lines[++at] ?? '').slice(INDENT.length));
      blocks.push({ kind: 'memory', memory: { ...memory, text: [memory.text, ...more].join('\n') }, line: begin + 1, end: at + 1 });
    } else if (line.trim() !== '') {
      const paragraph = [line];
      while ((lines[at + 1] ?? '').trim() !== '' && !ITEM.test(lines[at + 1] ?? '')) paragraph.push(lines[++at] ?? '');
      blocks.push({ kind: 'text', text: paragraph.join('\n'), line: begin + 1, end: at + 1 });
    }
  }
  return blocks;
}

function memoryOf([, date = '', time = '00:00', category = '', text = '']: RegExpExecArray): MemoryLine | undefined {
  const createdAt = Date.parse(`${date}T${time}Z`);
  return isCategory(category) && !Number.isNaN(createdAt) ? { text, category, createdAt } : undefined;
}

/** The file with a text in place of the lines of a block. */
export function withBlock(file: string, { line, end }: MemoryBlock, text: string): string {
  const lines = file.split(/(?<=\n|\r(?!\n))/);
  return [...lines.slice(0, line - 1), text, ...lines.slice(end)].join('');
}

/** The file without the lines of a block. */
export const withoutBlock = (file: string, block: MemoryBlock): string => withBlock(file, block, '');
