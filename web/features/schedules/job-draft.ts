import { findCronProblem, parseCron } from '#shared/cron/cron-fields.ts';
import type { CronJob, OutsideGrant, Schedule } from '#shared/rpc/methods/cron-contracts.ts';
import type { DeliverOptions } from '#shared/rpc/delivery-target.ts';
import { m } from '#app/i18n/messages.ts';
import { type ParameterDraft, toParameterDraft } from '#app/parameters/parameter-draft.ts';
import { validateCron } from '#kit/describe-cron.ts';

export type ScheduleKind = 'every' | 'daily' | 'weekly' | 'once' | 'cron';
type IntervalUnit = 'minutes' | 'hours' | 'days';

/** Values of the form of a job. */
export interface JobDraft {
  name: string;
  message: string;
  agentId: string;
  sessionTarget: CronJob['sessionTarget'];
  catchUp: boolean;
  when: ScheduleKind;
  /** Number of units for `every`; null if the input is not a number. */
  count: number | null;
  unit: IntervalUnit;
  /** Time for `daily` and `weekly`: `07:30`. */
  time: string;
  /** Days for `weekly`; Sunday is 0. */
  weekdays: number[];
  /** Time for `once`, in this browser's time zone: `2026-11-23T07:30`. */
  date: string;
  /** Five-field expression for `cron`. */
  expr: string;
  /** Time zone for `daily`, `weekly` and `cron`; empty for the configured one. */
  zone: string;
  /** Changes allowed after reading outside content: none, files of a folder, all, or a custom set. */
  outside: 'ask' | 'files' | 'all' | 'custom';
  /** Folder for `files`. */
  outsideFolder: string;
  parameters: ParameterDraft;
  /** Ids of the destinations of the result. */
  deliverTo: string[];
  deliverWhen: DeliverOptions['when'];
  deliverInDigest: boolean;
}

const UNIT_MS: Readonly<Record<IntervalUnit, number>> = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 };
/** Maximum of the contract (shared/rpc/methods/cron-contracts.ts). */
const MAX_INTERVAL_MS = 366 * UNIT_MS.days;
export const WORKDAYS: readonly number[] = [1, 2, 3, 4, 5];

/** A new job; `now` in milliseconds since 1970. */
export const createJobDraft = (now: number, zone: string): JobDraft => ({
  ...{ name: '', message: '', agentId: 'main', sessionTarget: 'isolated', catchUp: false, when: 'daily' },
  ...{
    count: 1,
    unit: 'hours',
    time: '08:00',
    weekdays: [...WORKDAYS],
    date: formatLocalTime(now + UNIT_MS.hours),
    expr: '0 8 * * *',
    zone,
  },
  ...{ outside: 'ask', outsideFolder: 'reports', parameters: toParameterDraft() },
  ...{ deliverTo: [], deliverWhen: 'always', deliverInDigest: false },
});

/** Form values of an existing job; fields of other kinds of schedules have the defaults of a new one. */
export function toJobDraft(job: CronJob, now: number): JobDraft {
  const { name, message, agentId, sessionTarget, catchUp, schedule } = job;
  const draft: JobDraft = {
    ...{ ...createJobDraft(now, ''), ...readGrant(job.outsideGrant), name, message, agentId, sessionTarget, catchUp },
    parameters: toParameterDraft(job.parameters),
    ...readDeliver(job.deliver),
  };
  switch (schedule.kind) {
    case 'at':
      return { ...draft, when: 'once', date: formatLocalTime(schedule.at) };
    case 'every': {
      const unit = (['days', 'hours', 'minutes'] as const).find((each) => schedule.everyMs % UNIT_MS[each] === 0) ?? 'minutes';
      return { ...draft, when: 'every', unit, count: schedule.everyMs / UNIT_MS[unit] };
    }
    case 'cron':
      return { ...draft, when: 'cron', expr: schedule.expr, zone: schedule.tz ?? '', ...parseDailyTime(schedule.expr) };
  }
}

const readDeliver = (deliver: DeliverOptions | undefined): Partial<JobDraft> =>
  deliver ? { deliverTo: [...deliver.to], deliverWhen: deliver.when, deliverInDigest: deliver.digest ?? false } : {};

/** The deliveries that the form sets; null if there are none. `known`: ids of the destinations that exist. */
export function toDeliver({ deliverTo, deliverWhen, deliverInDigest }: JobDraft, known: readonly string[]): DeliverOptions | null {
  const to = deliverTo.filter((id) => known.includes(id));
  return to.length === 0 ? null : { to, when: deliverWhen, ...(deliverInDigest ? { digest: true } : {}) };
}

const FILE_WRITE = 'file_write';

function readGrant(grant: OutsideGrant | undefined): Partial<JobDraft> {
  const { tools = [], paths = [] } = grant ?? {};
  if (tools.length === 0) return { outside: 'ask' };
  if (tools.join() === '*' && !grant?.paths) return { outside: 'all' };
  const [folder = ''] = paths;
  return tools.join() === FILE_WRITE && paths.length === 1 && folder.endsWith('/')
    ? { outside: 'files', outsideFolder: folder.slice(0, -1) }
    : { outside: 'custom' };
}

/** Returns the grant that the form sets; undefined leaves the stored one. */
export function toOutsideGrant({ outside, outsideFolder }: Pick<JobDraft, 'outside' | 'outsideFolder'>): OutsideGrant | undefined {
  if (outside === 'ask') return { tools: [] };
  if (outside === 'all') return { tools: ['*'] };
  return outside === 'files' ? { tools: [FILE_WRITE], paths: [`${toFolder(outsideFolder)}/`] } : undefined;
}

/** Normalizes a typed folder, without slashes at its ends. */
export const toFolder = (text: string): string => text.trim().replace(/^(\.?\/)+|\/+$/g, '');

/** Form values of an expression for one time on every day, or on some days of the week; empty for others. */
function parseDailyTime(expr: string): Partial<JobDraft> {
  if (findCronProblem(expr) !== undefined) return {};
  const { minute, hour, day, month, weekday } = parseCron(expr) ?? {};
  if (!minute || minute.all || !hour || hour.all || minute.values.length !== 1 || hour.values.length !== 1) return {};
  if (!day?.all || day.step !== 1 || !month?.all || month.step !== 1 || !weekday || (weekday.all && weekday.step !== 1)) return {};
  const time = `${padTwo(hour.values[0] ?? 0)}:${padTwo(minute.values[0] ?? 0)}`;
  return weekday.all ? { when: 'daily', time } : { when: 'weekly', time, weekdays: [...weekday.values] };
}

/** Whether a time zone of this name exists; an empty name is the configured one. */
export function isZone(zone: string): boolean {
  try {
    return zone.trim() === '' || Intl.DateTimeFormat('en', { timeZone: zone.trim() }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** The schedule of the form, or an error as a sentence. */
export function toSchedule(draft: JobDraft, now: number): Schedule | string {
  const zone = draft.zone.trim();
  const inZone = (expr: string): Schedule | string =>
    isZone(zone) ? { kind: 'cron', expr, ...(zone === '' ? {} : { tz: zone }) } : m.schedules_wrong_zone();
  switch (draft.when) {
    case 'every': {
      const everyMs = Math.round((draft.count ?? 0) * UNIT_MS[draft.unit]);
      if (everyMs < UNIT_MS.minutes) return m.schedules_wrong_short();
      return everyMs > MAX_INTERVAL_MS ? m.schedules_wrong_long() : { kind: 'every', everyMs };
    }
    case 'once': {
      const at = new Date(draft.date).getTime();
      if (Number.isNaN(at)) return m.schedules_wrong_no_date();
      return at <= now ? m.schedules_wrong_past() : { kind: 'at', at };
    }
    case 'cron': {
      const problem = validateCron(draft.expr);
      return problem === undefined ? inZone(draft.expr.trim()) : problem;
    }
    default: {
      const [, hour, minute] = /^(\d\d):(\d\d)/.exec(draft.time) ?? [];
      if (hour === undefined || minute === undefined) return m.schedules_wrong_no_time();
      if (draft.when === 'weekly' && draft.weekdays.length === 0) return m.schedules_wrong_no_day();
      const days = draft.when === 'weekly' ? draft.weekdays.toSorted((a, b) => a - b).join(',') : '*';
      return inZone(`${Number(minute)} ${Number(hour)} * * ${days}`);
    }
  }
}

const padTwo = (value: number): string => String(value).padStart(2, '0');

/** Formats a time for a `datetime-local` field, in this browser's time zone. */
function formatLocalTime(at: number): string {
  const date = new Date(at);
  const day = `${date.getFullYear()}-${padTwo(date.getMonth() + 1)}-${padTwo(date.getDate())}`;
  return `${day}T${padTwo(date.getHours())}:${padTwo(date.getMinutes())}`;
}
