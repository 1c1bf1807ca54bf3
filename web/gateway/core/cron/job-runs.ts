import type { JobRun } from '#shared/rpc/methods/cron.ts';
import type { Collection, JobRunRecord } from '../vault.ts';

/** Runs that are kept of each job. */
export const KEPT = 200;
/** What a run of a job that was removed leaves is kept for so long. */
const ORPHAN_MS = 30 * 24 * 3_600_000;
/** The record of the last heartbeat lies with them, and is no job's. */
export const HEARTBEAT = 'heartbeat';

/** `<jobId>@<tick>`: whoever executes a tick, on whatever host, has the same. */
export const runIdOf = (jobId: string, tick: number): string => `${jobId}@${tick}`;

/** The job that a run is of. */
export const jobIdOf = (runId: string): string => runId.split('@', 1)[0] ?? '';

/** The records of jobs' runs. */
export class JobRuns {
  readonly #records: Collection<JobRunRecord>;

  constructor(records: Collection<JobRunRecord>) {
    this.#records = records;
  }

  /** Those of one job, oldest tick first. */
  async of(jobId: string): Promise<JobRunRecord[]> {
    return inOrder(await this.#records.list(`${jobId}@`));
  }

  async all(): Promise<JobRunRecord[]> {
    return inOrder((await this.#records.list()).filter(({ id }) => id !== HEARTBEAT));
  }

  get(id: string): Promise<JobRunRecord | undefined> {
    return this.#records.get(id);
  }

  /** Strict. False: there is one of that tick, which stays as it is. */
  async add(record: JobRunRecord): Promise<boolean> {
    return (await this.#records.update(record.id, (before) => (before ? undefined : record))) === record;
  }

  /** Changes one that is there; undefined where there is none. */
  change(id: string, change: Partial<JobRunRecord>): Promise<JobRunRecord | undefined> {
    return this.#records.update(id, (before) => before && { ...before, ...change });
  }

  async remove(records: readonly JobRunRecord[]): Promise<void> {
    await Promise.all(records.map(({ id }) => this.#records.remove(id)));
  }

  /** Keeps the name of a job that was deleted. */
  async nameDeletedJob(jobId: string, jobName: string): Promise<void> {
    await Promise.all((await this.of(jobId)).map(({ id }) => this.change(id, { jobName })));
  }

  /** Forgets the oldest of a job that has too many; never the newest tick, which the next one is counted from, nor what is under way. */
  async prune(jobId: string): Promise<void> {
    const runs = await this.of(jobId);
    const newest = runs.findLast(({ manual }) => !manual);
    await this.remove(runs.slice(0, Math.max(0, runs.length - KEPT)).filter((run) => run !== newest && run.status !== 'running'));
  }

  /** Forgets what jobs that are gone have left. */
  async pruneOrphans(jobs: ReadonlySet<string>, now: number): Promise<void> {
    const old = now - ORPHAN_MS;
    await this.remove((await this.all()).filter(({ jobId, startedAt }) => !jobs.has(jobId) && startedAt < old));
  }
}

/** A run as the outside sees it. */
export function jobRunOf({ executor: _executor, replica: _replica, ...run }: JobRunRecord): JobRun {
  return run;
}

const inOrder = (records: JobRunRecord[]): JobRunRecord[] => records.sort((a, b) => a.scheduledAt - b.scheduledAt);
