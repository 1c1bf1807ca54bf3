import { z } from '#shared/rpc/zod.ts';
import { type BrokenLine, parseJsonLines } from './json-lines.ts';
import { DAY_MS } from './signal.ts';

/** Prefix of such a line. */
export const COUNTED_MARK = '{"taken":';
/** Messages of another host are still counted if they arrive up to this many milliseconds late. */
export const MAX_DELAY_MS = 7 * DAY_MS;

const instant = z.number().min(0).max(8_640_000_000_000_000);
const countedLine = z.object({ taken: z.object({ until: instant, messages: z.array(z.tuple([z.string(), instant])) }) });

/** Messages whose recalls were already counted: stored in the same file and written with the signals in one step. */
export interface CountedMessages {
  /** Time up to which messages were examined, in milliseconds since the Unix epoch. */
  until: number;
  /** Time by message id, for messages that could be encountered again. */
  messages: ReadonlyMap<string, number>;
}

/** Adds messages and drops those that can no longer occur. */
export function mergeCounted(before: CountedMessages | undefined, { until, messages }: CountedMessages): CountedMessages {
  const newest = Math.max(before?.until ?? 0, until);
  const all = [...(before?.messages ?? []), ...messages].filter(([, at]) => at >= newest - MAX_DELAY_MS);
  return { until: newest, messages: new Map(all) };
}

/** Formats a line, with its line break. */
export const formatCounted = ({ until, messages }: CountedMessages): string =>
  `${JSON.stringify({ taken: { until, messages: [...messages] } } satisfies z.input<typeof countedLine>)}\n`;

/** Merges these lines; `first` is the number of the first. */
export function parseCounted(
  text: string,
  path: string,
  first: number,
): { taken: CountedMessages[]; broken: (BrokenLine & { text: string })[] } {
  const { values, broken } = parseJsonLines(text, countedLine, path, first);
  return { taken: values.map(({ value: { taken } }) => ({ until: taken.until, messages: new Map(taken.messages) })), broken };
}
