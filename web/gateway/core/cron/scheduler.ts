import { RpcError } from '#shared/rpc/errors.ts';
import type { JobDefinition } from '#shared/rpc/methods/cron.ts';
import { MAIN } from '../agents.ts';
import { repeated } from '../repeated.ts';
import { sessionKey, type JobRunRecord, type Vault } from '../vault.ts';
import type { Heartbeat } from './heartbeat.ts';
import { type JobRuns, runIdOf } from './job-runs.ts';
import { type Missed, missedText, type Plan, planOf } from './plan.ts';
import { outcomeOf } from './recovery.ts';
import { speak, type SpeakDeps } from './speak.ts';
import { keepSystemJobs, type SystemJobs } from './system-jobs.ts';
import type { Turn } from './turn.ts';

/** Maximum interval between checks, so that a clock that jumped, or a machine that slept, is noticed. */
const LOOK_MS = 60_000;
/** Delay before checking again for something due that another host may run. */
const RETRY_MS = 5_000;
/** Principal of scheduled runs. */
export const CRON = 'cron';

export interface SchedulerDeps extends SpeakDeps {
  vault: Pick<Vault, 'collection' | 'messages' | 'origin' | 'replica'>;
  runs: SpeakDeps['runs'];
  records: JobRuns;
  heartbeat: Heartbeat;
  system: SystemJobs;
  turn: Turn;
  timeZone(): string;
  /** Called when a job has changed or has run. */
  changed(jobId: string): void;
}

/** Runs due jobs. Stateless: what is due is derived from the jobs and the records of their runs at each check. */
export class Scheduler {
  readonly #deps: SchedulerDeps;
  /** Ids of runs that this host executes. */
  readonly #active = new Set<string>();
  readonly #look = repeated(() => this.#lookOnce());
  #cancel = (): void => {};
  #stopped = false;
  /** Whether hosts may have attached or detached since the last sweep for runs of removed jobs. */
  #sweep = true;

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
  }

  /** Checks for due jobs now, and schedules the next check. `hosts`: whether hosts may have attached or detached. */
  look({ hosts = false } = {}): Promise<void> {
    this.#sweep ||= hosts;
    return this.#stopped ? Promise.resolve() : this.#look();
  }

  /** Starts no more runs. */
  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  /** Runs a job manually. Throws `ALREADY_EXISTS` while it is running. */
  async run(job: JobDefinition): Promise<JobRunRecord> {
    const { records, clock } = this.#deps;
    const runs = await records.of(job.id);
    if (runs.some(({ status }) => status === 'running')) throw underWay();
    let at = clock.now();
    // A tick may fall on this very millisecond.
    while (runs.some(({ scheduledAt }) => scheduledAt === at)) at++;
    const record: JobRunRecord = { ...this.#recordOf(job, at), manual: true };
    if (!(await this.#begin(job, record))) throw underWay();
    return record;
  }

  async #lookOnce(): Promise<void> {
    const { vault, turn, heartbeat, clock } = this.#deps;
    let next = Infinity;
    const consider = (at: number | null): void => void (next = Math.min(next, at ?? Infinity));
    try {
      if (turn.serves()) await this.#keepSystem();
      const jobs = await vault.collection('jobs').list();
      for (const job of jobs) {
        if (this.#stopped) return;
        try {
          consider(await this.#check(job, turn.serves()));
        } catch (error) {
          // A job that cannot be read or stored does not block the others.
          this.#fault(error);
        }
      }
      consider(await heartbeat.look());
      if (this.#sweep && turn.serves()) await this.#sweepOrphans(new Set(jobs.map(({ id }) => id)));
    } catch (error) {
      this.#fault(error);
    }
    if (this.#stopped) return;
    const now = clock.now();
    const wait = next > now ? Math.ceil(next - now) : RETRY_MS;
    this.#cancel();
    this.#cancel = clock.after(Math.min(wait, LOOK_MS), () => void this.look());
  }

  async #keepSystem(): Promise<void> {
    const { vault, system, clock, changed } = this.#deps;
    for (const id of await keepSystemJobs(vault.collection('jobs'), system.wanted(), clock.now())) changed(id);
  }

  /** Runs a job if it is due. Resolves with the time of the next check; null if none is needed. */
  async #check(job: JobDefinition, serves: boolean): Promise<number | null> {
    const { records, clock, timeZone } = this.#deps;
    let runs = await records.of(job.id);
    if (serves && (await this.#endLeft(runs))) runs = await records.of(job.id);
    if (!job.enabled) return null;
    const { nextAt, due } = planOf(job, runs, clock.now(), timeZone());
    // An inactive host checks again when it becomes active.
    if (due && !serves) return null;
    if (!due || !(await this.#settle(job, due, runs))) {
      if (nextAt === null && serves) await this.#retire(job, runs);
      return nextAt;
    }
    runs = await records.of(job.id);
    const after = planOf(job, runs, clock.now(), timeZone()).nextAt;
    if (after === null) await this.#retire(job, runs);
    return after;
  }

  /** Runs a due tick, or records that it was skipped. False if this host must not do that, or not yet. */
  async #settle(job: JobDefinition, { tick, late, earlier }: NonNullable<Plan['due']>, runs: readonly JobRunRecord[]): Promise<boolean> {
    const { vault, turn, records } = this.#deps;
    if (late && !job.catchUp) {
      const count = (earlier?.count ?? 0) + 1;
      await this.#skip(job, { failures: 0, first: tick, ...earlier, last: tick, count });
      return true;
    }
    const id = runIdOf(job.id, tick);
    const fence = await turn.take(id);
    if (fence === null) return false;
    // In the meantime a record may have synced, or the job may have been disabled, changed or removed.
    const [record, current] = await Promise.all([records.get(id), vault.collection('jobs').get(job.id)]);
    if (record || !current?.enabled || current.since !== job.since) return false;
    if (earlier) await this.#skip(job, earlier);
    if (runs.some(({ status }) => status === 'running')) {
      await this.#note(job, tick, 'The previous run was still in progress');
      return true;
    }
    return this.#begin(job, this.#recordOf(job, tick), () => turn.mayBegin(id, fence));
  }

  async #skip(job: JobDefinition, missed: Missed): Promise<void> {
    await this.#note(job, missed.last, missedText(missed), missed.count);
  }

  /** Records a skipped tick, and how many ticks it stands for. */
  async #note(job: JobDefinition, tick: number, error: string, ticks = 1): Promise<void> {
    const { records, clock, changed } = this.#deps;
    const now = clock.now();
    const times = { scheduledAt: tick, startedAt: now, completedAt: now };
    const record = { id: runIdOf(job.id, tick), jobId: job.id, ...times, status: 'skipped' as const, error };
    await records.add({ ...record, ...(ticks > 1 ? { ticks } : {}) });
    await records.prune(job.id);
    changed(job.id);
  }

  #recordOf(job: JobDefinition, tick: number): JobRunRecord {
    const { vault, clock } = this.#deps;
    return {
      id: runIdOf(job.id, tick),
      jobId: job.id,
      scheduledAt: tick,
      startedAt: clock.now(),
      status: 'running',
      agentId: job.agentId,
      ...(job.system === undefined ? { sessionId: sessionOf(job, tick) } : {}),
      executor: vault.origin,
      replica: vault.replica,
    };
  }

  /** Stores the start of a run, and runs it if `may` allows that then. False if another run was first, or it is not allowed. */
  async #begin(job: JobDefinition, record: JobRunRecord, may = async (): Promise<boolean> => true): Promise<boolean> {
    const { records, changed } = this.#deps;
    // A run that is just starting has no record yet.
    if ([...this.#active].some((id) => id.startsWith(`${job.id}@`))) return false;
    this.#active.add(record.id);
    try {
      const isFirst = await records.add(record);
      const isAllowed = isFirst && !this.#stopped && (await may());
      if (isFirst && !isAllowed && !this.#stopped) await records.remove([record]);
      if (!isAllowed || this.#stopped) {
        this.#active.delete(record.id);
        return false;
      }
    } catch (error) {
      this.#active.delete(record.id);
      throw error;
    }
    changed(job.id);
    void this.#execute(job, record);
    return true;
  }

  async #execute(job: JobDefinition, record: JobRunRecord): Promise<void> {
    const { records, clock, changed } = this.#deps;
    const { id, sessionId = MAIN, agentId = MAIN } = record;
    const isolated = job.sessionTarget === 'isolated';
    const told = (): ReturnType<typeof speak> =>
      speak(this.#deps, {
        agentId,
        sessionId,
        message: job.message,
        principal: CRON,
        ...(job.actsFor === undefined ? {} : { actsFor: job.actsFor }),
        idempotencyKey: id,
        outsideGrant: job.outsideGrant,
        ...(isolated ? { title: job.name } : {}),
      });
    const outcome = job.system === undefined ? await told() : await this.#done(job);
    try {
      await records.change(id, { ...outcome, completedAt: clock.now() });
      await records.prune(job.id);
    } catch (error) {
      // The run is later found without an executor, and ended then.
      this.#fault(error);
    }
    this.#active.delete(id);
    changed(job.id);
    // Its end may start a pause, and allows the next tick.
    void this.look();
  }

  async #done(job: JobDefinition): Promise<Pick<JobRunRecord, 'status' | 'error'>> {
    try {
      await this.#deps.system.run(job);
      return { status: 'completed' };
    } catch (error) {
      return { status: 'failed', error: this.#deps.fault(error).message };
    }
  }

  /** After `stop` the vault is closed, or about to be, and errors are expected. */
  #fault(error: unknown): void {
    if (!this.#stopped) this.#deps.fault(error);
  }

  /** Ends a job's runs that a dead host has left; returns whether there was one. */
  async #endLeft(runs: readonly JobRunRecord[]): Promise<boolean> {
    const { vault, records, turn, clock, changed } = this.#deps;
    let any = false;
    for (const run of runs) {
      if (run.status !== 'running' || this.#active.has(run.id)) continue;
      const own = run.executor === vault.origin;
      if (!own && !(await turn.inherits(run.id, run.executor, run.replica === vault.replica))) continue;
      const outcome = await outcomeOf(vault, run, { key: sessionKey(run.agentId ?? MAIN, run.sessionId ?? MAIN), principal: CRON });
      const isNewest = !runs.some(({ scheduledAt, manual }) => !manual && scheduledAt > run.scheduledAt);
      // The run had not started: its tick is due as before.
      if (!outcome && isNewest && !run.manual && turn.mayRepeat(run.replica === vault.replica)) await records.remove([run]);
      else await records.change(run.id, { completedAt: clock.now(), ...(outcome ?? { status: 'failed', error: NOT_BEGUN }) });
      changed(run.jobId);
      any = true;
    }
    return any;
  }

  /** Removes runs of deleted jobs, which no other check covers. */
  async #sweepOrphans(jobs: ReadonlySet<string>): Promise<void> {
    const { records, clock } = this.#deps;
    this.#sweep = false;
    await this.#endLeft((await records.all()).filter(({ jobId, status }) => status === 'running' && !jobs.has(jobId)));
    await records.pruneOrphans(jobs, clock.now());
  }

  /** Disables a one-time job that has run; it stays, with its history. */
  async #retire(job: JobDefinition, runs: readonly JobRunRecord[]): Promise<void> {
    const { vault, changed } = this.#deps;
    if (job.schedule.kind !== 'at' || runs.some(({ status }) => status === 'running')) return;
    await vault
      .collection('jobs')
      .update(job.id, (now) => (now?.since === job.since && now.enabled ? { ...now, enabled: false } : undefined));
    changed(job.id);
  }
}

const sessionOf = ({ id, sessionTarget }: JobDefinition, tick: number): string => (sessionTarget === 'main' ? MAIN : `cron-${id}-${tick}`);

const NOT_BEGUN = 'The gateway was closed before it started';

const underWay = (): RpcError => new RpcError('ALREADY_EXISTS', 'This job is already running.');
