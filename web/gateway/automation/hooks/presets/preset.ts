import { truncateText } from '#shared/truncate-text.ts';
import { readJsonPath } from '../read-json-path.ts';
import { toText } from '../render-template.ts';

const MAX_LINE_CHARS = 500;
const MAX_EXCERPT_CHARS = 1_500;

/** What a call is about. */
export interface CallSummary {
  /** Type of the event, such as `issues.opened`; empty if the sender names none. */
  event: string;
  /** Readable text: a sentence, then details. */
  message: string;
  /** The sender's id of the event, the same when it is sent again. Only from what is signed, unless nothing is. */
  id?: string;
  /** Whether the sender only checks that the address answers. */
  isPing?: boolean;
}

export interface Preset {
  summarize(headers: Pick<Headers, 'get'>, payload: unknown): CallSummary;
  /** A call to try the hook with. */
  sample: { headers: Readonly<Record<string, string>>; payload: unknown };
}

/** Reads the first value at a path of the payload as one line. */
export const createReader =
  (payload: unknown) =>
  (path: string): string =>
    truncateText(toText(readJsonPath(payload, path)[0]).replace(/\s+/g, ' ').trim(), MAX_LINE_CHARS);

/** A longer text at a path, with its line breaks. */
export const readExcerpt = (payload: unknown, path: string): string =>
  truncateText(toText(readJsonPath(payload, path)[0]).replaceAll('\r\n', '\n').trim(), MAX_EXCERPT_CHARS);

/** Joins the lines that have text. */
export const joinLines = (...lines: readonly string[]): string => lines.filter((line) => line !== '').join('\n');
