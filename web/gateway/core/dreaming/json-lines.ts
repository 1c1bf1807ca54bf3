import type { z } from '#shared/rpc/zod.ts';
import type { Pace } from './pace.ts';

/** A line that cannot be read: it stays in its file, and is told. */
export interface BrokenLine {
  path: string;
  /** From 1 on. */
  line: number;
  why: string;
}

/** Reads the lines of a text, one JSON value each; `first` is the number of its first line. Empty lines are none. */
export function readJsonLines<Schema extends z.ZodType>(
  text: string,
  schema: Schema,
  path: string,
  first = 1,
): { values: { line: number; value: z.output<Schema> }[]; broken: (BrokenLine & { text: string })[] } {
  const values: { line: number; value: z.output<Schema> }[] = [];
  const broken: (BrokenLine & { text: string })[] = [];
  text.split('\n').forEach((raw, index) => {
    const each = raw.trim();
    const line = first + index;
    if (each === '') return;
    let value: unknown;
    try {
      value = JSON.parse(each);
    } catch {
      broken.push({ path, line, why: 'invalid JSON', text: raw });
      return;
    }
    const read = schema.safeParse(value);
    if (read.success) values.push({ line, value: read.data });
    else {
      const [issue] = read.error.issues;
      broken.push({ path, line, why: `${issue?.path.join('.') || 'the record'} ${issue?.message ?? 'is invalid'}`, text: raw });
    }
  });
  return { values, broken };
}

/** Lines that are read at once. */
const BLOCK = 50;

/** A text in blocks of lines, each with the number of its first, letting others through in between. */
export async function* blocksOf(text: string, pace: Pace, first = 1): AsyncGenerator<{ block: string; first: number }> {
  let from = 0;
  let line = first;
  while (from < text.length) {
    let to = from;
    let lines = 0;
    while (lines < BLOCK && to < text.length) {
      const end = text.indexOf('\n', to);
      to = end < 0 ? text.length : end + 1;
      lines++;
    }
    yield { block: text.slice(from, to), first: line };
    await pace();
    from = to;
    line += lines;
  }
}

/** What is appended to a file so that it begins on a line of its own, also where the one before was cut off. */
export const onOwnLine = (file: string | undefined, text: string): string =>
  file === undefined || file === '' || file.endsWith('\n') ? text : `\n${text}`;
