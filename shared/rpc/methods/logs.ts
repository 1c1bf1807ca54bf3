import { call } from '../contract.ts';
import { LOG_LEVELS, logLevel, MAX_LOG_LINES } from '../log-level.ts';
import { z } from '../zod.ts';

export const logLine = z.object({
  /** ISO 8601, with the zone's offset. */
  time: z.string(),
  /** Milliseconds since 1970. */
  at: z.number(),
  level: logLevel,
  /** Which part says it; the bridge's own lines have `bridge`. */
  component: z.string(),
  message: z.string(),
  fields: z.record(z.string(), z.unknown()).optional(),
});
export type LogLine = z.infer<typeof logLine>;

const count = z.number().int().nonnegative();

/** A place in the log: which log and which of its lines, of the gateway and of the bridge. */
const place = z
  .string()
  .max(300)
  .regex(/^[\w-]*\.\d{1,15}\.[\w-]*\.\d{1,15}$/, 'is no cursor that logs.tail has given');

/** What the gateway and the bridge have noted (interface document 1, section 4.1; decisions, "Devices, logs …"). Secrets are never in it. */
export const logs = {
  'logs.tail': call({
    params: z
      .strictObject({
        limit: z.number().int().min(1).max(MAX_LOG_LINES).default(200),
        json: z.boolean().default(false),
        /** Times in the configured time zone, else in UTC. */
        localTime: z.boolean().default(false),
        /** Of an earlier answer: only what is newer, the first `limit` of it. */
        cursor: place.optional(),
        /** Of an earlier answer: only what is older, the last `limit` of it. Fewer than `limit` lines: there are no older ones. */
        before: place.optional(),
      })
      .refine(({ cursor, before }) => cursor === undefined || before === undefined, {
        message: 'cannot be given with cursor: a log is read on or back',
        path: ['before'],
      }),
    result: z.object({
      /** Texts, or with `json` objects; oldest first. */
      lines: z.array(z.union([z.string(), logLine])),
      count,
      /** Where the lines are kept. */
      path: z.string(),
      /** Behind these lines. */
      cursor: z.string(),
      /** In front of these lines. */
      before: z.string(),
    }),
    docs: 'The most recent lines of the log; with `cursor` those that came after an earlier answer, with `before` those that came before it.',
    policy: { scope: 'read' },
  }),
  'system.logs': call({
    params: z.strictObject({
      lines: z.number().int().min(1).max(500).default(50),
      /** Lines of this level and graver ones. */
      level: z.enum([...LOG_LEVELS, 'all']).default('all'),
    }),
    result: z.object({ logs: z.array(logLine), count }),
    docs: 'The most recent lines of a level and of those above it, oldest first.',
    policy: { scope: 'read' },
  }),
};
