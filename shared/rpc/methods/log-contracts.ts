import { defineMethod } from '../contract.ts';
import { LOG_LEVELS, logLevel, MAX_LOG_LINES } from '../log-level.ts';
import { z } from '../zod.ts';

const logLine = z.object({
  /** An ISO 8601 timestamp with the offset of the time zone. */
  time: z.string(),
  /** Milliseconds since the Unix epoch. */
  at: z.number(),
  level: logLevel,
  /** The component that wrote the line; `bridge` for the bridge's own lines. */
  component: z.string(),
  message: z.string(),
  fields: z.record(z.string(), z.unknown()).optional(),
});
export type LogLine = z.infer<typeof logLine>;

const count = z.number().int().nonnegative();

/** A position in the log of the gateway and in that of the bridge: the log's ID and a line number for each. */
const logCursor = z
  .string()
  .max(300)
  .regex(/^[\w-]*\.\d{1,15}\.[\w-]*\.\d{1,15}$/, 'must be a cursor from logs.tail');

/** The log of the gateway and the bridge. It never contains secrets. */
export const logContracts = {
  'logs.tail': defineMethod({
    params: z
      .strictObject({
        limit: z.number().int().min(1).max(MAX_LOG_LINES).default(200),
        json: z.boolean().default(false),
        /** Times in the configured time zone instead of UTC. */
        localTime: z.boolean().default(false),
        /** `cursor` of an earlier response: return only newer lines, the first `limit` of them. */
        cursor: logCursor.optional(),
        /** `before` of an earlier response: return only older lines, the last `limit` of them. If fewer are returned, there are no older ones. */
        before: logCursor.optional(),
      })
      .refine(({ cursor, before }) => cursor === undefined || before === undefined, {
        message: 'can’t be combined with cursor',
        path: ['before'],
      }),
    result: z.object({
      /** Strings, or objects with `json`. Oldest first. */
      lines: z.array(z.union([z.string(), logLine])),
      count,
      /** The bridge’s log file, which has the lines of the bridge. Empty without a bridge; the gateway’s own lines are in its database. */
      path: z.string(),
      /** The position after these lines. */
      cursor: z.string(),
      /** The position before these lines. */
      before: z.string(),
    }),
    docs: 'Returns the latest lines of the log. With `cursor`, returns the lines after an earlier response; with `before`, the lines before it.',
    policy: { scope: 'read' },
  }),
  'system.logs': defineMethod({
    params: z.strictObject({
      lines: z.number().int().min(1).max(500).default(50),
      /** The lowest level to return. */
      level: z.enum([...LOG_LEVELS, 'all']).default('all'),
    }),
    result: z.object({ logs: z.array(logLine), count }),
    docs: 'Returns the latest log lines of a level and above, oldest first.',
    policy: { scope: 'read' },
  }),
};
