import { z } from '#shared/rpc/zod.ts';
import { type BrokenLine, readJsonLines } from './json-lines.ts';
import { DAY_MS } from './signal.ts';

/** How such a line begins. */
export const TAKEN_MARK = '{"taken":';
/** What another host had written so long before is looked at still when it comes in. */
export const LATE_MS = 7 * DAY_MS;

const instant = z.number().min(0).max(8_640_000_000_000_000);
const line = z.object({ taken: z.object({ until: instant, messages: z.array(z.tuple([z.string(), instant])) }) });

/** Messages whose recalls are among the signals already: they stand in the same file, and are written with them in one step. */
export interface Taken {
  /** Up to when messages were looked through; milliseconds since 1970. */
  until: number;
  /** By id, with their times: those that could be met again. */
  messages: ReadonlyMap<string, number>;
}

/** With more of them; those that are looked for no more are dropped. */
export function withTaken(before: Taken | undefined, { until, messages }: Taken): Taken {
  const newest = Math.max(before?.until ?? 0, until);
  const all = [...(before?.messages ?? []), ...messages].filter(([, at]) => at >= newest - LATE_MS);
  return { until: newest, messages: new Map(all) };
}

/** The line with its end. */
export const formatTaken = ({ until, messages }: Taken): string =>
  `${JSON.stringify({ taken: { until, messages: [...messages] } } satisfies z.input<typeof line>)}\n`;

/** What these lines say together; `first` is the number of the first. */
export function readTaken(text: string, path: string, first: number): { taken: Taken[]; broken: (BrokenLine & { text: string })[] } {
  const { values, broken } = readJsonLines(text, line, path, first);
  return { taken: values.map(({ value: { taken } }) => ({ until: taken.until, messages: new Map(taken.messages) })), broken };
}
