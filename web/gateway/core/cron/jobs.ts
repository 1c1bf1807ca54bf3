import { RpcError } from '#shared/rpc/errors.ts';
import type { Job, JobDefinition, JobRun, Schedule, WantedSchedule } from '#shared/rpc/methods/cron.ts';
import { canBeSeen } from '#shared/seen.ts';
import type { Agents } from '../agents.ts';
import type { Clock } from '../clock.ts';
import { sanitize } from '../runs/sanitize.ts';
import type { Collection } from '../vault.ts';
import { type JobRuns, jobRunOf } from './job-runs.ts';
import { planOf } from './plan.ts';
import { checkSchedule, scheduleOf } from './schedule.ts';

/** Maximum number of jobs. */
const MOST = 200;
const NAME_CHARS = 60;

/** Values for a new job; `cron` is an expression instead of a `schedule`. */
export interface NewJob extends Pick<JobDefinition, 'message' | 'agentId' | 'sessionTarget' | 'catchUp' | 'enabled' | 'outsideGrant'> {
  cron?: string | undefined;
  schedule?: WantedSchedule | undefined;
  name?: string | undefined;
  /** Principal that adds the job. */
  by?: string | undefined;
}

export interface JobsDeps {
  jobs: Collection<JobDefinition>;
  records: JobRuns;
  agents: Pick<Agents, 'get'>;
  clock: Clock;
  timeZone(): string;
  /** Called when a job has changed, to notify clients and the scheduler. */
  changed(jobId: string): void;
}

/** Natural order: the 2nd before the 10th. */
const byName = new Intl.Collator(undefined, { numeric: true }).compare;

/** The stored jobs. */
export class Jobs {
  readonly #deps: JobsDeps;

  constructor(deps: JobsDeps) {
    this.#deps = deps;
  }

  /** All jobs by next run; those without one last, by name. */
  async list(): Promise<Job[]> {
    const jobs = await Promise.all((await this.#deps.jobs.list()).map((job) => this.#shown(job)));
    return jobs.sort((a, b) => (a.nextRunAt ?? Infinity) - (b.nextRunAt ?? Infinity) || byName(a.name, b.name));
  }

  /** Throws `NOT_FOUND`. */
  async get(id: string): Promise<JobDefinition> {
    const job = await this.#deps.jobs.get(id);
    if (!job) throw noSuch(id);
    return job;
  }

  /** Parses a schedule. Throws `INVALID_PARAMS` for an invalid one, naming the param `key`. */
  read(given: WantedSchedule, key: string): Schedule {
    const schedule = scheduleOf(given, key);
    checkSchedule(schedule, this.#deps.clock.now(), key);
    return schedule;
  }

  /** Throws `INVALID_PARAMS` for an invalid schedule, and `NOT_FOUND` for an unknown agent. */
  async add({ cron, schedule: given, message, name, by, ...rest }: NewJob): Promise<Job> {
    const { jobs, agents, clock } = this.#deps;
    if ((cron === undefined) === (given === undefined)) {
      throw new RpcError('INVALID_PARAMS', 'Provide either `cron` (a five-field expression) or `schedule`.');
    }
    const now = clock.now();
    const schedule = this.read(given ?? { kind: 'cron', expr: cron ?? '' }, cron === undefined ? 'schedule' : 'cron');
    agents.get(rest.agentId);
    const text = sanitize(message);
    if ((await jobs.list()).filter(({ system }) => system === undefined).length >= MOST)
      throw new RpcError('INVALID_PARAMS', `The limit of ${MOST} jobs is reached. Remove some first.`);
    const job = {
      ...rest,
      id: crypto.randomUUID(),
      name: name ?? nameOf(text),
      schedule,
      message: text,
      createdAt: now,
      since: now,
      ...limitsFrom(by),
    };
    await jobs.put(job);
    this.#deps.changed(job.id);
    return this.#shown(job);
  }

  /** Throws like `add`. */
  async update(
    id: string,
    {
      schedule: given,
      ...change
    }: Partial<Pick<JobDefinition, 'message' | 'agentId' | 'name' | 'sessionTarget' | 'catchUp' | 'outsideGrant'>> & {
      schedule?: WantedSchedule | undefined;
    },
    by?: string,
  ): Promise<Job> {
    const { agents, clock } = this.#deps;
    const schedule = given && this.read(given, 'schedule');
    if (change.agentId !== undefined) agents.get(change.agentId);
    const counted = schedule ? { schedule, since: clock.now() } : {};
    const message = change.message === undefined ? {} : { message: sanitize(change.message) };
    return this.#shown(
      await this.#change(id, ({ actsFor: _, ...job }) => ({ ...job, ...change, ...message, ...counted, ...limitsFrom(by) })),
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
    const { jobs, records, clock, changed } = this.#deps;
    const { name } = ownOf(await this.get(id));
    if (!(await jobs.remove(id))) throw noSuch(id);
    await records.nameDeletedJob(id, name);
    await records.pruneOrphans(new Set((await jobs.list()).map((job) => job.id)), clock.now());
    changed(id);
  }

  /** Runs of one job, or of all, newest first. Throws `NOT_FOUND` for an unknown job without runs. */
  async history(jobId: string | undefined, limit: number): Promise<JobRun[]> {
    const { records } = this.#deps;
    const runs = await (jobId === undefined ? records.all() : records.of(jobId));
    if (jobId !== undefined && runs.length === 0 && !(await this.#deps.jobs.get(jobId))) throw noSuch(jobId);
    return runs
      .sort((a, b) => b.startedAt - a.startedAt || b.scheduledAt - a.scheduledAt)
      .slice(0, limit)
      .map(jobRunOf);
  }

  async #change(id: string, change: (job: JobDefinition) => JobDefinition): Promise<JobDefinition> {
    // Check before the transaction: an error within it would abort others that are stored with it.
    change(ownOf(await this.get(id)));
    const after = await this.#deps.jobs.update(id, (job) => job && change(job));
    if (!after) throw noSuch(id);
    this.#deps.changed(id);
    return after;
  }

  async #shown(definition: JobDefinition): Promise<Job> {
    const { records, clock, timeZone } = this.#deps;
    const { since: _, actsFor: __, ...job } = definition;
    const runs = await records.of(job.id);
    const next = (): number | null => {
      try {
        return planOf(definition, runs, clock.now(), timeZone()).nextAt;
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
function ownOf(job: JobDefinition): JobDefinition {
  if (job.system !== undefined)
    throw new RpcError('INVALID_PARAMS', `This job is managed by Perch. Change it in section "${job.system}" of the configuration.`);
  return job;
}

/** Default name of a job: the first words of its message. */
function nameOf(message: string): string {
  const line = (message.split('\n').find(canBeSeen) ?? 'Job').trim();
  return line.length <= NAME_CHARS ? line : `${line.slice(0, NAME_CHARS - 1).trimEnd()}…`;
}

/** A job whose content was set by a key runs with that key’s permissions. */
const limitsFrom = (by: string | undefined): Pick<JobDefinition, 'actsFor'> => (by?.startsWith('key:') ? { actsFor: by } : {});

const noSuch = (id: string): RpcError => new RpcError('NOT_FOUND', `No job with id "${id}".`);
