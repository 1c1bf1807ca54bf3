import { open } from 'node:fs/promises';

const CHUNK_BYTES = 1024 * 1024;
/** Bytes before a chunk that are read again, to see the empty line before a message. */
const MARGIN_BYTES = 4;
/** Maximum length of the line that starts a message. */
const MAX_FROM_LINE_BYTES = 1000;
/** `From ada@example.com Mon Jan  5 10:00:00 2026` */
const FROM_LINE = /^From \S.* \d{1,2}:\d{2}/;

interface MboxMessage {
  /** Position of its first line in bytes. */
  offset: number;
  size: number;
  /** Milliseconds since the Unix epoch; 0 if unknown. */
  date: number;
}

/** Whether a file starts as mbox files do. */
export async function isMbox(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_FROM_LINE_BYTES), 0, MAX_FROM_LINE_BYTES, 0);
    return FROM_LINE.test(readLine(buffer.subarray(0, bytesRead), 0));
  } finally {
    await file.close();
  }
}

/**
 * Finds the messages of an mbox file (RFC 4155) from a position that a message starts at, without holding more than a chunk in memory. A
 * message starts with a `From ` line after an empty line.
 */
export async function* splitMbox(path: string, from: number, signal: AbortSignal): AsyncGenerator<MboxMessage> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const chunk = Buffer.alloc(MARGIN_BYTES + CHUNK_BYTES + MAX_FROM_LINE_BYTES);
    let start: { offset: number; date: number } | undefined;
    for (let position = from; position < size; position += CHUNK_BYTES) {
      signal.throwIfAborted();
      const margin = position === from ? 0 : MARGIN_BYTES;
      const { bytesRead } = await file.read(chunk, 0, chunk.length, position - margin);
      const bytes = chunk.subarray(0, bytesRead);
      for (const at of findStarts(bytes, margin)) {
        if (at >= CHUNK_BYTES + margin) break;
        const offset = position - margin + at;
        if (start) yield { ...start, size: offset - start.offset };
        start = { offset, date: parseDate(readLine(bytes, at)) };
      }
    }
    if (start) yield { ...start, size: size - start.offset };
  } finally {
    await file.close();
  }
}

/** Positions of lines that start a message, after `margin` bytes that were searched already. */
function* findStarts(bytes: Buffer, margin: number): Generator<number> {
  if (margin === 0 && FROM_LINE.test(readLine(bytes, 0))) yield 0;
  for (let at = bytes.indexOf('\nFrom '); at !== -1; at = bytes.indexOf('\nFrom ', at + 1)) {
    const isAfterEmptyLine = bytes[at - 1] === 0x0a || (bytes[at - 1] === 0x0d && bytes[at - 2] === 0x0a);
    if (at + 1 >= margin && isAfterEmptyLine && FROM_LINE.test(readLine(bytes, at + 1))) yield at + 1;
  }
}

function readLine(bytes: Buffer, at: number): string {
  const part = bytes.subarray(at, at + MAX_FROM_LINE_BYTES);
  const end = part.indexOf(0x0a);
  return part.toString('latin1', 0, end === -1 ? part.length : end);
}

function parseDate(line: string): number {
  const [, date = ''] = /((?:[A-Z][a-z]{2},? )?[A-Z][a-z]{2} +\d{1,2} \d{1,2}:\d{2}.*)$/.exec(line) ?? [];
  const time = Date.parse(/[+-]\d{4}|[A-Z]{3}\b/.test(date.slice(8)) ? date : `${date.trim()} UTC`);
  return Number.isNaN(time) ? 0 : time;
}
