import { createVisibleName } from '../visible-name.ts';
import { defineMethod } from '../contract.ts';
import { deliverOptions } from '../delivery-target.ts';
import { modelParameters } from '../model-parameters.ts';
import { agentId } from '../record-schemas.ts';
import { z } from '../zod.ts';

const expression = z.string().trim().min(1).max(200);

const epochMs = z.number().int().nonnegative().max(8.64e15);
const INVALID_TIME = 'must be milliseconds since 1970 or an ISO 8601 time such as 2026-05-01T09:00:00+02:00';
/** A five-field cron expression. `tz` defaults to the configured time zone. */
const cronSchedule = z.strictObject({ kind: z.literal('cron'), expr: expression, tz: z.string().min(1).max(100).optional() });
/** An interval between a minute and a year. */
const intervalSchedule = z.strictObject({
  kind: z.literal('every'),
  everyMs: z
    .number()
    .int()
    .min(60_000)
    .max(366 * 24 * 3_600_000),
});

const schedule = z.discriminatedUnion('kind', [
  cronSchedule,
  intervalSchedule,
  /** Once, in milliseconds since the Unix epoch. */
  z.strictObject({ kind: z.literal('at'), at: epochMs }),
]);
export type Schedule = z.infer<typeof schedule>;

const scheduleInput = z.discriminatedUnion('kind', [
  cronSchedule,
  intervalSchedule,
  /** Once, in milliseconds since the Unix epoch or as an ISO 8601 string with an offset, with `Z` or in the time zone `tz`. */
  z.strictObject({
    kind: z.literal('at'),
    at: z.union([epochMs, z.iso.datetime({ offset: true, local: true, error: INVALID_TIME })], { error: INVALID_TIME }),
    tz: z.string().min(1).max(100).optional(),
  }),
]);
/** A schedule as passed by a caller. Times are stored as milliseconds. */
export type ScheduleInput = z.infer<typeof scheduleInput>;

const runStatus = z.enum(['running', 'completed', 'failed', 'timeout', 'skipped']);

const outsideGrant = z.strictObject({
  /** Names of tools, or patterns with `*`, which do not cover `exec`, `cron_…` and `memory_…`. */
  tools: z.array(z.string().min(1).max(200)).max(100),
  /** Files of the workspace, or folders such as `reports/`, that tools for files may change. If left out, all but those of memory, wiki, prompts, skills and instructions. */
  paths: z.array(z.string().min(1).max(500)).max(100).optional(),
});
/** The changes that a job may make without an approval after it has read from outside. */
export type OutsideGrant = z.infer<typeof outsideGrant>;

/** The stored definition of a job. */
const cronJobDefinition = z.object({
  id: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  schedule,
  /** The message sent to the agent at each tick. */
  message: z.string(),
  agentId,
  /** Whether a run uses the agent's main session or a new one each time. */
  sessionTarget: z.enum(['main', 'isolated']),
  /** Whether a tick that was missed while no host was running is run once on return. Otherwise it is recorded as skipped. */
  catchUp: z.boolean(),
  /** The changes that the job may make after reading from outside, since nobody is there to approve them. Missing until a person has decided. */
  outsideGrant: outsideGrant.optional(),
  /** How the model answers in the job's runs. Takes precedence over the agent's parameters. */
  parameters: modelParameters.optional(),
  /** Where the results are delivered; left out, they are only in the chat. */
  deliver: deliverOptions.optional(),
  createdAt: z.number(),
  /** When the job was created, enabled or rescheduled. Earlier ticks do not count. */
  since: z.number(),
  /** Set for jobs of the gateway itself, which follow the configuration and cannot be changed here. */
  system: z.enum(['dreaming', 'summaries']).optional(),
  /** Principal of the API key that set the content: the job’s tools are limited to the key’s scopes. */
  actsFor: z.string().optional(),
});
export type CronJobDefinition = z.infer<typeof cronJobDefinition>;

export const job = cronJobDefinition.omit({ since: true, actsFor: true }).extend({
  /** The next run in milliseconds since the Unix epoch, including the pause after failures; null if there is none or the job is off. */
  nextRunAt: z.number().nullable(),
  lastRunAt: z.number().nullable(),
  /** The status of the last run. */
  lastStatus: runStatus.nullable(),
});
/** A scheduled job. */
export type CronJob = z.infer<typeof job>;

export const cronRun = z.object({
  /** `<jobId>@<tick>`, the tick in milliseconds since the Unix epoch, so two hosts never run the same tick. */
  id: z.string(),
  jobId: z.string(),
  /** The job’s name, if it was deleted. */
  jobName: z.string().optional(),
  /** When the run was due. */
  scheduledAt: z.number(),
  startedAt: z.number(),
  completedAt: z.number().optional(),
  status: runStatus,
  /** Why the run failed or was skipped. */
  error: z.string().optional(),
  /** Number of ticks that this record of skipped runs stands for, if more than one. */
  ticks: z.number().int().optional(),
  /** True if the run was started manually and belongs to no tick. */
  manual: z.literal(true).optional(),
  /** The session and run in which the job ran. */
  agentId: z.string().optional(),
  sessionId: z.string().optional(),
  runId: z.string().optional(),
});
export type CronRun = z.infer<typeof cronRun>;

const jobId = z.string().min(1).max(128);
const name = createVisibleName(200);
const message = z.string().min(1).max(100_000);
const idempotencyKey = z.string().min(1).max(256).optional();

/** Scheduled jobs. */
export const cronContracts = {
  'cron.list': defineMethod({
    params: z.strictObject({}),
    result: z.object({ jobs: z.array(job), count: z.number().int() }),
    docs: 'Lists scheduled jobs, next due first.',
    policy: { scope: 'read' },
  }),
  'cron.add': defineMethod({
    params: z.strictObject({
      /** A five-field cron expression. Alternative to `schedule`. */
      cron: expression.optional(),
      schedule: scheduleInput.optional(),
      message,
      agentId: agentId.default('main'),
      name: name.optional(),
      sessionTarget: z.enum(['main', 'isolated']).default('isolated'),
      catchUp: z.boolean().default(false),
      enabled: z.boolean().default(true),
      /** Only persons may set it. */
      outsideGrant: outsideGrant.optional(),
      parameters: modelParameters.optional(),
      deliver: deliverOptions.optional(),
      idempotencyKey,
    }),
    result: z.object({ jobId: z.string(), ok: z.literal(true), job }),
    emits: ['cron.changed'],
    docs: 'Creates a scheduled job. Pass either `cron`, a five-field expression in the configured time zone, or a `schedule` object. The time `at` is in milliseconds since the Unix epoch or an ISO 8601 string, with its offset or in the time zone `tz`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write', metered: 'unattended', idempotent: true },
  }),
  'cron.update': defineMethod({
    params: z.strictObject({
      id: jobId,
      schedule: scheduleInput.optional(),
      message: message.optional(),
      agentId: agentId.optional(),
      name: name.optional(),
      sessionTarget: z.enum(['main', 'isolated']).optional(),
      catchUp: z.boolean().optional(),
      /** Only persons may set it. */
      outsideGrant: outsideGrant.optional(),
      /** Replaces all parameters of the job; null resets them. */
      parameters: modelParameters.nullable().optional(),
      /** Null ends deliveries. */
      deliver: deliverOptions.nullable().optional(),
    }),
    result: z.object({ job }),
    emits: ['cron.changed'],
    docs: 'Changes the given fields of a job. A new schedule applies from now on.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write', metered: 'unattended' },
  }),
  'cron.toggle': defineMethod({
    params: z.strictObject({ id: jobId, enabled: z.boolean() }),
    result: z.object({ ok: z.literal(true), enabled: z.boolean() }),
    emits: ['cron.changed'],
    docs: 'Turns a job on or off. Ticks while it was off are ignored.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write', metered: 'unattended' },
  }),
  'cron.remove': defineMethod({
    params: z.strictObject({ id: jobId }),
    result: z.object({ ok: z.literal(true) }),
    emits: ['cron.changed'],
    docs: 'Deletes a job. A run in progress continues. Its runs stay in `cron.history` for 30 days.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'cron.run': defineMethod({
    params: z.strictObject({ id: jobId, idempotencyKey }),
    result: z.object({ ok: z.literal(true), record: cronRun }),
    emits: ['cron.changed'],
    docs: 'Runs a job now, regardless of its schedule. The response is returned once the run is queued. Returns `ALREADY_EXISTS` if the job is running.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write', metered: 'unattended', idempotent: true },
  }),
  'cron.history': defineMethod({
    params: z.strictObject({ jobId: jobId.optional(), limit: z.number().int().min(1).max(200).default(50) }),
    result: z.object({ records: z.array(cronRun), count: z.number().int() }),
    docs: 'Lists the runs of one job or of all jobs, newest first. Runs of deleted jobs carry the job’s name.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
};
