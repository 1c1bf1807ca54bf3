import type { z } from '#shared/rpc/zod.ts';
import type { Pace } from './pace.ts';

/** A line that cannot be parsed: it stays in its file and is reported. */
export interface BrokenLine {
  path: string;
  /** Counted from 1. */
  line: number;
  why: string;
}

/** Parses a text with one JSON value per line; `first` is the number of its first line. Empty lines are skipped. */
export function parseJsonLines<Schema extends z.ZodType>(
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

/** Number of lines parsed at once. */
const BLOCK_LINES = 50;

/** Splits a text into blocks of lines, each with the number of its first line, yielding to other tasks in between. */
export async function* splitBlocks(text: string, pace: Pace, first = 1): AsyncGenerator<{ block: string; first: number }> {
  let from = 0;
  let line = first;
  while (from < text.length) {
    let to = from;
    let lines = 0;
    while (lines < BLOCK_LINES && to < text.length) {
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

/** Prepends a line break if the file's last line was cut off, so that the appended text starts on a line of its own. */
export const startOnNewLine = (file: string | undefined, text: string): string =>
  file === undefined || file === '' || file.endsWith('\n') ? text : `\n${text}`;
