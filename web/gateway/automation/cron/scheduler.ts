import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { CronJobDefinition } from '#shared/rpc/methods/cron-contracts.ts';
import { MAIN_AGENT_ID } from '../../config/main-agent.ts';
import { coalesce } from '#shared/async/coalesce.ts';
import type { JobRunRecord, Vault } from '../../storage/vault-interface.ts';
import { toSessionKey } from '../../storage/chat-records.ts';
import type { Heartbeat } from './heartbeat.ts';
import { type JobRuns, toRunId } from './job-runs.ts';
import { type MissedTicks, formatMissed, type SchedulePlan, computePlan } from './schedule-plan.ts';
import { findOutcome } from './recovery.ts';
import { type JobOutcome, runUnattended, type UnattendedRunDeps } from './unattended-run.ts';
import { syncSystemJobs, type SystemJobs } from '../../system/system-jobs.ts';
import type { JobCoordinator } from './job-coordinator.ts';

/** Maximum interval between checks, so that a clock that jumped, or a machine that slept, is noticed. */
const CHECK_INTERVAL_MS = 60_000;
/** Delay before checking again for something due that another host may run. */
const RETRY_MS = 5_000;
/** Principal of scheduled runs. */
export const CRON_PRINCIPAL = 'cron';

interface SchedulerDeps extends UnattendedRunDeps {
  vault: Pick<Vault, 'collection' | 'messages' | 'origin' | 'replica'>;
  runs: UnattendedRunDeps['runs'];
  records: JobRuns;
  heartbeat: Heartbeat;
  system: SystemJobs;
  coordinator: JobCoordinator;
  timeZone(): string;
  /** Delivers the result of a run; resolves with what to store in its record. */
  deliver(job: CronJobDefinition, run: JobRunRecord, outcome: JobOutcome): Promise<Pick<JobRunRecord, 'resultHash'>>;
  /** Called when a job has changed or has run. */
  onChange(jobId: string): void;
}

/** Runs due jobs. Stateless: what is due is derived from the jobs and the records of their runs at each check. */
export class Scheduler {
  readonly #deps: SchedulerDeps;
  /** Ids of runs that this host executes. */
  readonly #active = new Set<string>();
  readonly #checkDue = coalesce(() => this.#checkDueOnce());
  #cancel = (): void => {};
  #stopped = false;
  /** Whether hosts may have attached or detached since the last sweep for runs of removed jobs. */
  #shouldSweep = true;

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
  }

  /** Checks for due jobs now, and schedules the next check. `hosts`: whether hosts may have attached or detached. */
  checkDue({ hosts = false } = {}): Promise<void> {
    this.#shouldSweep ||= hosts;
    return this.#stopped ? Promise.resolve() : this.#checkDue();
  }

  /** Starts no more runs. */
  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  /** Runs a job manually. Throws `ALREADY_EXISTS` while it is running. */
  async run(job: CronJobDefinition): Promise<JobRunRecord> {
    const { records, clock } = this.#deps;
    const runs = await records.listByJob(job.id);
    if (runs.some(({ status }) => status === 'running')) throw createRunningError();
    let tick = clock.now();
    // A tick may fall on this very millisecond.
    while (runs.some(({ scheduledAt }) => scheduledAt === tick)) tick++;
    const record: JobRunRecord = { ...this.#createRecord(job, tick), manual: true };
    if (!(await this.#start(job, record))) throw createRunningError();
    return record;
  }

  async #checkDueOnce(): Promise<void> {
    const { vault, coordinator, heartbeat, clock } = this.#deps;
    let next = Infinity;
    const consider = (time: number | null): void => void (next = Math.min(next, time ?? Infinity));
    try {
      if (coordinator.isActive()) await this.#updateSystemJobs();
      const jobs = await vault.collection('jobs').list();
      for (const job of jobs) {
        if (this.#stopped) return;
        try {
          consider(await this.#checkJob(job, coordinator.isActive()));
        } catch (error) {
          // A job that cannot be read or stored does not block the others.
          this.#reportFault(error);
        }
      }
      consider(await heartbeat.beatIfDue());
      if (this.#shouldSweep && coordinator.isActive()) await this.#sweepOrphans(new Set(jobs.map(({ id }) => id)));
    } catch (error) {
      this.#reportFault(error);
    }
    if (this.#stopped) return;
    const now = clock.now();
    const wait = next > now ? Math.ceil(next - now) : RETRY_MS;
    this.#cancel();
    this.#cancel = clock.after(Math.min(wait, CHECK_INTERVAL_MS), () => void this.checkDue());
  }

  async #updateSystemJobs(): Promise<void> {
    const { vault, system, clock, onChange } = this.#deps;
    for (const id of await syncSystemJobs(vault.collection('jobs'), system.getDefinitions(), clock.now())) onChange(id);
  }

  /** Runs a job if it is due. Resolves with the time of the next check; null if none is needed. */
  async #checkJob(job: CronJobDefinition, isServing: boolean): Promise<number | null> {
    const { records, clock, timeZone } = this.#deps;
    let runs = await records.listByJob(job.id);
    if (isServing && (await this.#endOrphanedRuns(runs))) runs = await records.listByJob(job.id);
    if (!job.enabled) return null;
    const { nextAt, due } = computePlan(job, runs, clock.now(), timeZone());
    // An inactive host checks again when it becomes active.
    if (due && !isServing) return null;
    if (!due || !(await this.#handleDue(job, due, runs))) {
      if (nextAt === null && isServing) await this.#disableOneTime(job, runs);
      return nextAt;
    }
    runs = await records.listByJob(job.id);
    const after = computePlan(job, runs, clock.now(), timeZone()).nextAt;
    if (after === null) await this.#disableOneTime(job, runs);
    return after;
  }

  /** Runs a due tick, or records that it was skipped. False if this host must not do that, or not yet. */
  async #handleDue(
    job: CronJobDefinition,
    { tick, late: isLate, earlier }: NonNullable<SchedulePlan['due']>,
    runs: readonly JobRunRecord[],
  ): Promise<boolean> {
    const { vault, coordinator, records } = this.#deps;
    if (isLate && !job.catchUp) {
      const count = (earlier?.count ?? 0) + 1;
      await this.#skip(job, { failures: 0, first: tick, ...earlier, last: tick, count });
      return true;
    }
    const id = toRunId(job.id, tick);
    const fence = await coordinator.claim(id);
    if (fence === null) return false;
    // In the meantime a record may have synced, or the job may have been disabled, changed or removed.
    const [record, current] = await Promise.all([records.get(id), vault.collection('jobs').get(job.id)]);
    if (record || !current?.enabled || current.since !== job.since) return false;
    if (earlier) await this.#skip(job, earlier);
    if (runs.some(({ status }) => status === 'running')) {
      await this.#recordSkipped(job, tick, 'The previous run was still in progress');
      return true;
    }
    return this.#start(job, this.#createRecord(job, tick), () => coordinator.canStart(id, fence));
  }

  async #skip(job: CronJobDefinition, missed: MissedTicks): Promise<void> {
    await this.#recordSkipped(job, missed.last, formatMissed(missed), missed.count);
  }

  /** Records a skipped tick, and how many ticks it stands for. */
  async #recordSkipped(job: CronJobDefinition, tick: number, error: string, ticks = 1): Promise<void> {
    const { records, clock, onChange } = this.#deps;
    const now = clock.now();
    const times = { scheduledAt: tick, startedAt: now, completedAt: now };
    const record = { id: toRunId(job.id, tick), jobId: job.id, ...times, status: 'skipped' as const, error };
    await records.add({ ...record, ...(ticks > 1 ? { ticks } : {}) });
    await records.prune(job.id);
    onChange(job.id);
  }

  #createRecord(job: CronJobDefinition, tick: number): JobRunRecord {
    const { vault, clock } = this.#deps;
    return {
      id: toRunId(job.id, tick),
      jobId: job.id,
      scheduledAt: tick,
      startedAt: clock.now(),
      status: 'running',
      agentId: job.agentId,
      ...(job.system === undefined ? { sessionId: toSessionId(job, tick) } : {}),
      executor: vault.origin,
      replica: vault.replica,
    };
  }

  /** Stores the start of a run, and runs it if `canStart` allows that then. False if another run was first, or it is not allowed. */
  async #start(job: CronJobDefinition, record: JobRunRecord, canStart = async (): Promise<boolean> => true): Promise<boolean> {
    const { records, onChange } = this.#deps;
    // A run that is just starting has no record yet.
    if ([...this.#active].some((id) => id.startsWith(`${job.id}@`))) return false;
    this.#active.add(record.id);
    try {
      const isFirst = await records.add(record);
      const isAllowed = isFirst && !this.#stopped && (await canStart());
      if (isFirst && !isAllowed && !this.#stopped) await records.remove([record]);
      if (!isAllowed || this.#stopped) {
        this.#active.delete(record.id);
        return false;
      }
    } catch (error) {
      this.#active.delete(record.id);
      throw error;
    }
    onChange(job.id);
    void this.#execute(job, record);
    return true;
  }

  async #execute(job: CronJobDefinition, record: JobRunRecord): Promise<void> {
    const { records, clock, onChange } = this.#deps;
    const { id, sessionId = MAIN_AGENT_ID, agentId = MAIN_AGENT_ID } = record;
    const isolated = job.sessionTarget === 'isolated';
    const runAgent = (): ReturnType<typeof runUnattended> =>
      runUnattended(this.#deps, {
        agentId,
        sessionId,
        message: job.message,
        principal: CRON_PRINCIPAL,
        jobId: job.id,
        ...(job.actsFor === undefined ? {} : { actsFor: job.actsFor }),
        idempotencyKey: id,
        outsideGrant: job.outsideGrant,
        sourceParameters: job.parameters,
        ...(isolated ? { title: job.name } : {}),
      });
    const { messageId, ...outcome }: JobOutcome = job.system === undefined ? await runAgent() : await this.#runSystemJob(job);
    const result = await this.#deliver(job, record, { ...outcome, ...(messageId === undefined ? {} : { messageId }) });
    try {
      await records.change(id, { ...outcome, ...result, completedAt: clock.now() });
      await records.prune(job.id);
    } catch (error) {
      // The run is later found without an executor, and ended then.
      this.#reportFault(error);
    }
    this.#active.delete(id);
    onChange(job.id);
    // Its end may start a pause, and allows the next tick.
    void this.checkDue();
  }

  /** Never rejects. */
  async #deliver(job: CronJobDefinition | undefined, run: JobRunRecord, outcome: JobOutcome): Promise<Pick<JobRunRecord, 'resultHash'>> {
    try {
      return job ? await this.#deps.deliver(job, run, outcome) : {};
    } catch (error) {
      this.#reportFault(error);
      return {};
    }
  }

  async #runSystemJob(job: CronJobDefinition): Promise<Pick<JobRunRecord, 'status' | 'error'>> {
    try {
      await this.#deps.system.run(job);
      return { status: 'completed' };
    } catch (error) {
      return { status: 'failed', error: this.#deps.fault(error).message };
    }
  }

  /** After `stop` the vault is closed, or about to be, and errors are expected. */
  #reportFault(error: unknown): void {
    if (!this.#stopped) this.#deps.fault(error);
  }

  /** Ends a job's runs that a dead host has left; returns whether there was one. */
  async #endOrphanedRuns(runs: readonly JobRunRecord[]): Promise<boolean> {
    const { vault, records, coordinator, clock, onChange } = this.#deps;
    let any = false;
    for (const run of runs) {
      if (run.status !== 'running' || this.#active.has(run.id)) continue;
      const own = run.executor === vault.origin;
      if (!own && !(await coordinator.canRecover(run.id, run.executor, run.replica === vault.replica))) continue;
      const outcome = await findOutcome(vault, run, {
        key: toSessionKey(run.agentId ?? MAIN_AGENT_ID, run.sessionId ?? MAIN_AGENT_ID),
        principal: CRON_PRINCIPAL,
      });
      const isNewest = !runs.some(({ scheduledAt, manual }) => !manual && scheduledAt > run.scheduledAt);
      // The run had not started: its tick is due as before.
      if (!outcome && isNewest && !run.manual && coordinator.canRepeat(run.replica === vault.replica)) await records.remove([run]);
      else {
        const { messageId, ...end }: JobOutcome = outcome ?? { status: 'failed', error: NOT_STARTED };
        const job = await vault.collection('jobs').get(run.jobId);
        const result = await this.#deliver(job, run, { ...end, ...(messageId === undefined ? {} : { messageId }) });
        await records.change(run.id, { completedAt: clock.now(), ...end, ...result });
      }
      onChange(run.jobId);
      any = true;
    }
    return any;
  }

  /** Removes runs of deleted jobs, which no other check covers. */
  async #sweepOrphans(jobs: ReadonlySet<string>): Promise<void> {
    const { records, clock } = this.#deps;
    this.#shouldSweep = false;
    await this.#endOrphanedRuns((await records.listAll()).filter(({ jobId, status }) => status === 'running' && !jobs.has(jobId)));
    await records.pruneOrphans(jobs, clock.now());
  }

  /** Disables a one-time job that has run; it stays, with its history. */
  async #disableOneTime(job: CronJobDefinition, runs: readonly JobRunRecord[]): Promise<void> {
    const { vault, onChange } = this.#deps;
    if (job.schedule.kind !== 'at' || runs.some(({ status }) => status === 'running')) return;
    await vault
      .collection('jobs')
      .update(job.id, (now) => (now?.since === job.since && now.enabled ? { ...now, enabled: false } : undefined));
    onChange(job.id);
  }
}

const toSessionId = ({ id, sessionTarget }: CronJobDefinition, tick: number): string =>
  sessionTarget === 'main' ? MAIN_AGENT_ID : `cron-${id}-${tick}`;

const NOT_STARTED = 'The gateway was closed before it started';

const createRunningError = (): RpcError => new RpcError('ALREADY_EXISTS', 'This job is already running.');
