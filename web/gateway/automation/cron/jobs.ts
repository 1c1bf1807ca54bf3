import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { CronJob, CronJobDefinition, CronRun, Schedule, ScheduleInput } from '#shared/rpc/methods/cron-contracts.ts';
import type { DeliverOptions } from '#shared/rpc/delivery-target.ts';
import type { ModelParameters } from '#shared/rpc/model-parameters.ts';
import { hasVisibleText } from '#shared/display-name.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { Agents } from '../../agent/agents.ts';
import type { Clock } from '#shared/async/clock.ts';
import { sanitizeMessage } from '../../agent/runs/sanitize.ts';
import type { Collection } from '../../storage/vault-interface.ts';
import { type JobRuns, toJobRun } from './job-runs.ts';
import { computePlan } from './schedule-plan.ts';
import { checkSchedule, parseSchedule } from '#shared/cron-schedule.ts';

/** Maximum number of jobs. */
const MAX_JOBS = 200;
const MAX_NAME_CHARS = 60;

/** Values for a new job; `cron` is an expression instead of a `schedule`. */
interface NewJob extends Pick<
  CronJobDefinition,
  'message' | 'agentId' | 'sessionTarget' | 'catchUp' | 'enabled' | 'outsideGrant' | 'parameters' | 'deliver'
> {
  cron?: string | undefined;
  schedule?: ScheduleInput | undefined;
  name?: string | undefined;
  /** Principal that adds the job. */
  by?: string | undefined;
}

interface JobsDeps {
  jobs: Collection<CronJobDefinition>;
  records: JobRuns;
  agents: Pick<Agents, 'get'>;
  clock: Clock;
  timeZone(): string;
  settings(): Pick<Settings, 'deliveries'>;
  /** Called when a job has changed, to notify clients and the scheduler. */
  onChange(jobId: string): void;
}

/** Natural order: the 2nd before the 10th. */
const compareNames = new Intl.Collator(undefined, { numeric: true }).compare;

/** The stored jobs. */
export class Jobs {
  readonly #deps: JobsDeps;

  constructor(deps: JobsDeps) {
    this.#deps = deps;
  }

  /** All jobs by next run; those without one last, by name. */
  async list(): Promise<CronJob[]> {
    const jobs = await Promise.all((await this.#deps.jobs.list()).map((job) => this.#toJob(job)));
    return jobs.sort((a, b) => (a.nextRunAt ?? Infinity) - (b.nextRunAt ?? Infinity) || compareNames(a.name, b.name));
  }

  /** Throws `NOT_FOUND`. */
  async get(id: string): Promise<CronJobDefinition> {
    const job = await this.#deps.jobs.get(id);
    if (!job) throw createNotFoundError(id);
    return job;
  }

  /** Parses a schedule. Throws `INVALID_PARAMS` for an invalid one, naming the param `key`. */
  parseSchedule(input: ScheduleInput, key: string): Schedule {
    const schedule = parseSchedule(input, key);
    checkSchedule(schedule, this.#deps.clock.now(), key);
    return schedule;
  }

  /** Throws `INVALID_PARAMS` for an invalid schedule, and `NOT_FOUND` for an unknown agent. */
  async add({ cron, schedule: given, message, name, by, ...rest }: NewJob): Promise<CronJob> {
    const { jobs, agents, clock } = this.#deps;
    if ((cron === undefined) === (given === undefined)) {
      throw new RpcError('INVALID_PARAMS', 'Provide either `cron` (a five-field expression) or `schedule`.');
    }
    const now = clock.now();
    const schedule = this.parseSchedule(given ?? { kind: 'cron', expr: cron ?? '' }, cron === undefined ? 'schedule' : 'cron');
    agents.get(rest.agentId);
    if (rest.deliver) this.#checkDestinations(rest.deliver);
    const text = sanitizeMessage(message);
    if ((await jobs.list()).filter(({ system }) => system === undefined).length >= MAX_JOBS)
      throw new RpcError('INVALID_PARAMS', `The limit of ${MAX_JOBS} jobs is reached. Remove some first.`);
    const job = {
      ...rest,
      id: crypto.randomUUID(),
      name: name ?? toJobName(text),
      schedule,
      message: text,
      createdAt: now,
      since: now,
      ...toActsFor(by),
    };
    await jobs.put(job);
    this.#deps.onChange(job.id);
    return this.#toJob(job);
  }

  /** Throws like `add`. */
  async update(
    id: string,
    {
      schedule: input,
      parameters,
      deliver,
      ...change
    }: Partial<Pick<CronJobDefinition, 'message' | 'agentId' | 'name' | 'sessionTarget' | 'catchUp' | 'outsideGrant'>> & {
      schedule?: ScheduleInput | undefined;
      /** Null resets them. */
      parameters?: ModelParameters | null | undefined;
      /** Null removes them. */
      deliver?: DeliverOptions | null | undefined;
    },
    principal?: string,
  ): Promise<CronJob> {
    const { agents, clock } = this.#deps;
    const schedule = input && this.parseSchedule(input, 'schedule');
    if (deliver) this.#checkDestinations(deliver);
    if (change.agentId !== undefined) agents.get(change.agentId);
    const counted = schedule ? { schedule, since: clock.now() } : {};
    const message: { message?: string } = change.message === undefined ? {} : { message: sanitizeMessage(change.message) };
    return this.#toJob(
      await this.#change(id, ({ actsFor, parameters: before, deliver: deliverBefore, ...job }) => {
        const changedParameters = parameters === undefined ? before : (parameters ?? undefined);
        const changedDeliver = deliver === undefined ? deliverBefore : (deliver ?? undefined);
        // The text of a key has the rights of the key until it is replaced.
        const isReplaced =
          message.message !== undefined &&
          message.message !== job.message &&
          (parameters !== undefined || before?.instructions === undefined);
        return {
          ...job,
          ...change,
          ...message,
          ...counted,
          ...(changedParameters ? { parameters: changedParameters } : {}),
          ...(changedDeliver ? { deliver: changedDeliver } : {}),
          ...(actsFor === undefined || isReplaced ? toActsFor(principal) : { actsFor }),
        };
      }),
    );
  }

  /** Enables or disables a job. If nothing changes, its ticks continue to count. */
  async toggle(id: string, enabled: boolean): Promise<void> {
    const now = this.#deps.clock.now();
    await this.#change(id, (job) => {
      if (job.enabled === enabled) return job;
      const { schedule } = job;
      if (enabled && schedule.kind === 'at' && schedule.at <= now) {
        throw new RpcError('INVALID_PARAMS', 'The time of this job has passed. Set a new one with cron.update first.');
      }
      return { ...job, enabled, since: now };
    });
  }

  /** Removes a job. Its runs stay for a while, with its name. */
  async remove(id: string): Promise<void> {
    const { jobs, records, clock, onChange } = this.#deps;
    const { name } = requireUserJob(await this.get(id));
    if (!(await jobs.remove(id))) throw createNotFoundError(id);
    await records.nameDeletedJob(id, name);
    await records.pruneOrphans(new Set((await jobs.list()).map((job) => job.id)), clock.now());
    onChange(id);
  }

  /** Runs of one job, or of all, newest first. Throws `NOT_FOUND` for an unknown job without runs. */
  async history(jobId: string | undefined, limit: number): Promise<CronRun[]> {
    const { records } = this.#deps;
    const runs = await (jobId === undefined ? records.listAll() : records.listByJob(jobId));
    if (jobId !== undefined && runs.length === 0 && !(await this.#deps.jobs.get(jobId))) throw createNotFoundError(jobId);
    return runs
      .sort((a, b) => b.startedAt - a.startedAt || b.scheduledAt - a.scheduledAt)
      .slice(0, limit)
      .map(toJobRun);
  }

  /** Throws `INVALID_PARAMS` for an unknown destination. */
  #checkDestinations({ to }: DeliverOptions): void {
    const { targets } = this.#deps.settings().deliveries;
    const unknown = to.find((id) => !targets.some((target) => target.id === id));
    if (unknown !== undefined)
      throw new RpcError('INVALID_PARAMS', `No destination with id "${unknown}". Add it under Automations › Deliveries first.`);
  }

  async #change(id: string, change: (job: CronJobDefinition) => CronJobDefinition): Promise<CronJobDefinition> {
    // Check before the transaction: an error within it would abort others that are stored with it.
    change(requireUserJob(await this.get(id)));
    const after = await this.#deps.jobs.update(id, (job) => job && change(job));
    if (!after) throw createNotFoundError(id);
    this.#deps.onChange(id);
    return after;
  }

  async #toJob(definition: CronJobDefinition): Promise<CronJob> {
    const { records, clock, timeZone } = this.#deps;
    const { since: _, actsFor: __, ...job } = definition;
    const runs = await records.listByJob(job.id);
    const next = (): number | null => {
      try {
        return computePlan(definition, runs, clock.now(), timeZone()).nextAt;
      } catch {
        // Another build may know schedules and time zones that this one does not; the job is still listed.
        return null;
      }
    };
    const newest = runs.toSorted((a, b) => a.startedAt - b.startedAt);
    return {
      ...job,
      nextRunAt: job.enabled ? next() : null,
      lastRunAt: newest.findLast(({ status }) => status !== 'skipped')?.startedAt ?? null,
      lastStatus: newest.at(-1)?.status ?? null,
    };
  }
}

/** Throws `INVALID_PARAMS` for a system job. */
function requireUserJob(job: CronJobDefinition): CronJobDefinition {
  if (job.system !== undefined)
    throw new RpcError('INVALID_PARAMS', `This job is managed by Perch. Change it in section "${job.system}" of the configuration.`);
  return job;
}

/** Default name of a job: the first words of its message. */
function toJobName(message: string): string {
  const line = (message.split('\n').find(hasVisibleText) ?? 'Job').trim();
  return line.length <= MAX_NAME_CHARS ? line : `${line.slice(0, MAX_NAME_CHARS - 1).trimEnd()}…`;
}

/** A job whose content was set by a key runs with that key’s permissions. */
const toActsFor = (principal: string | undefined): Pick<CronJobDefinition, 'actsFor'> =>
  principal?.startsWith('key:') ? { actsFor: principal } : {};

const createNotFoundError = (id: string): RpcError => new RpcError('NOT_FOUND', `No job with id "${id}".`);
