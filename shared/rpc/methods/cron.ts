import { visibleName } from '../visible-name.ts';
import { call } from '../contract.ts';
import { agentId } from '../records.ts';
import { z } from '../zod.ts';

const expression = z.string().trim().min(1).max(200);

const millis = z.number().int().nonnegative().max(8.64e15);
const NO_TIME = 'must be milliseconds since 1970, or a time of ISO 8601 such as 2026-05-01T09:00:00+02:00';
/** A five-field expression, by a time zone (the configured one where left out). */
const byExpression = z.strictObject({ kind: z.literal('cron'), expr: expression, tz: z.string().min(1).max(100).optional() });
/** From a minute to a year, as an expression cannot tick more often either. */
const bySpan = z.strictObject({
  kind: z.literal('every'),
  everyMs: z
    .number()
    .int()
    .min(60_000)
    .max(366 * 24 * 3_600_000),
});

const schedule = z.discriminatedUnion('kind', [
  byExpression,
  bySpan,
  /** Once; milliseconds since 1970. */
  z.strictObject({ kind: z.literal('at'), at: millis }),
]);
export type Schedule = z.infer<typeof schedule>;

const wantedSchedule = z.discriminatedUnion('kind', [
  byExpression,
  bySpan,
  /** Once; as text of ISO 8601 with its offset or `Z`, or by the time zone `tz`. */
  z.strictObject({
    kind: z.literal('at'),
    at: z.union([millis, z.iso.datetime({ offset: true, local: true, error: NO_TIME })], { error: NO_TIME }),
    tz: z.string().min(1).max(100).optional(),
  }),
]);
/** A schedule as it is given; a time in it is kept as milliseconds. */
export type WantedSchedule = z.infer<typeof wantedSchedule>;

const runStatus = z.enum(['running', 'completed', 'failed', 'timeout', 'skipped']);

/** What is set of a job. */
export const jobDefinition = z.object({
  id: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  schedule,
  /** What the agent is told at each tick. */
  message: z.string(),
  agentId,
  /** Whether it speaks in the agent's main session, or each time in one of its own. */
  sessionTarget: z.enum(['main', 'isolated']),
  /** A tick missed while no host ran is run once on return; else it is recorded as skipped. */
  catchUp: z.boolean(),
  createdAt: z.number(),
  /** Since when it is as it is (made, enabled, or its schedule changed): ticks before that do not count. */
  since: z.number(),
  /** The gateway's own: it follows the configuration, and cannot be changed here. */
  system: z.enum(['dreaming', 'summaries']).optional(),
});
export type JobDefinition = z.infer<typeof jobDefinition>;

export const job = jobDefinition.omit({ since: true }).extend({
  /** Milliseconds since 1970, with the pause after failures; null where it has no further tick, or is disabled. */
  nextRunAt: z.number().nullable(),
  lastRunAt: z.number().nullable(),
  /** What became of its last tick. */
  lastStatus: runStatus.nullable(),
});
/** A scheduled job (decisions, "Cron, tools, exec, plans"). */
export type Job = z.infer<typeof job>;

export const jobRun = z.object({
  /** `<jobId>@<the tick, milliseconds since 1970>`: two hosts can never have two of one tick. */
  id: z.string(),
  jobId: z.string(),
  /** When it was due. */
  scheduledAt: z.number(),
  startedAt: z.number(),
  completedAt: z.number().optional(),
  status: runStatus,
  /** Why it failed, or was skipped. */
  error: z.string().optional(),
  /** Ticks that one record of what was skipped stands for, where it is more than one. */
  ticks: z.number().int().optional(),
  /** Somebody ran it by hand: it stands for no tick. */
  manual: z.literal(true).optional(),
  /** Where it spoke, and as which run. */
  agentId: z.string().optional(),
  sessionId: z.string().optional(),
  runId: z.string().optional(),
});
export type JobRun = z.infer<typeof jobRun>;

const jobId = z.string().min(1).max(128);
const name = visibleName(200);
const message = z.string().min(1).max(100_000);
const idempotencyKey = z.string().min(1).max(256).optional();

/** Scheduled jobs (interface document 1, section 4.1). */
export const cron = {
  'cron.list': call({
    params: z.strictObject({}),
    result: z.object({ jobs: z.array(job), count: z.number().int() }),
    docs: 'Lists scheduled jobs, the one that is due first first.',
    policy: { scope: 'read' },
  }),
  'cron.add': call({
    params: z.strictObject({
      /** A five-field expression; or `schedule`. */
      cron: expression.optional(),
      schedule: wantedSchedule.optional(),
      message,
      agentId: agentId.default('main'),
      name: name.optional(),
      sessionTarget: z.enum(['main', 'isolated']).default('isolated'),
      catchUp: z.boolean().default(false),
      enabled: z.boolean().default(true),
      idempotencyKey,
    }),
    result: z.object({ jobId: z.string(), ok: z.literal(true), job }),
    emits: ['cron.changed'],
    docs: 'Adds a job: by `cron`, a five-field expression in the configured time zone, or by a `schedule` object. A time `at` is milliseconds, or text of ISO 8601 with its offset, or by `tz`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write', metered: 'unattended', idempotent: true },
  }),
  'cron.update': call({
    params: z.strictObject({
      id: jobId,
      schedule: wantedSchedule.optional(),
      message: message.optional(),
      agentId: agentId.optional(),
      name: name.optional(),
      sessionTarget: z.enum(['main', 'isolated']).optional(),
      catchUp: z.boolean().optional(),
    }),
    result: z.object({ job }),
    emits: ['cron.changed'],
    docs: 'Changes what is given of a job. Another schedule counts from now on.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write', metered: 'unattended' },
  }),
  'cron.toggle': call({
    params: z.strictObject({ id: jobId, enabled: z.boolean() }),
    result: z.object({ ok: z.literal(true), enabled: z.boolean() }),
    emits: ['cron.changed'],
    docs: 'Enables or disables a job; ticks while it was disabled do not count.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write', metered: 'unattended' },
  }),
  'cron.remove': call({
    params: z.strictObject({ id: jobId }),
    result: z.object({ ok: z.literal(true) }),
    emits: ['cron.changed'],
    docs: 'Removes a job and its history; a run of it that is under way goes on.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'cron.run': call({
    params: z.strictObject({ id: jobId, idempotencyKey }),
    result: z.object({ ok: z.literal(true), record: jobRun }),
    emits: ['cron.changed'],
    docs: 'Runs a job now, whatever its schedule; answers when the run has its place in line. One that is under way is ALREADY_EXISTS.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write', metered: 'unattended', idempotent: true },
  }),
  'cron.history': call({
    params: z.strictObject({ jobId: jobId.optional(), limit: z.number().int().min(1).max(200).default(50) }),
    result: z.object({ records: z.array(jobRun), count: z.number().int() }),
    docs: 'Runs of one job or of all, the newest first.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
};
