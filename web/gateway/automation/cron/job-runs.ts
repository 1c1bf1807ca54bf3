import type { CronRun } from '#shared/rpc/methods/cron-contracts.ts';
import type { Collection, JobRunRecord } from '../../storage/vault-interface.ts';

/** Maximum number of stored runs per job. */
const MAX_STORED_RUNS = 200;
/** Period for which runs of a removed job are kept. */
const ORPHAN_RETENTION_MS = 30 * 24 * 3_600_000;
/** Id of the record of the last heartbeat, which is stored among the runs but belongs to no job. */
export const HEARTBEAT = 'heartbeat';

/** Id of a run, `<jobId>@<tick>`: the same on every host. */
export const toRunId = (jobId: string, tick: number): string => `${jobId}@${tick}`;

/** The job of a run. */
export const toJobId = (runId: string): string => runId.split('@', 1)[0] ?? '';

/** The records of jobs' runs. */
export class JobRuns {
  readonly #records: Collection<JobRunRecord>;

  constructor(records: Collection<JobRunRecord>) {
    this.#records = records;
  }

  /** Runs of one job, oldest tick first. */
  async listByJob(jobId: string): Promise<JobRunRecord[]> {
    return sortByTime(await this.#records.list(`${jobId}@`));
  }

  async listAll(): Promise<JobRunRecord[]> {
    return sortByTime((await this.#records.list()).filter(({ id }) => id !== HEARTBEAT));
  }

  get(id: string): Promise<JobRunRecord | undefined> {
    return this.#records.get(id);
  }

  /** Strict: adds a record. False if there is one for that tick, which stays unchanged. */
  async add(record: JobRunRecord): Promise<boolean> {
    return (await this.#records.update(record.id, (before) => (before ? undefined : record))) === record;
  }

  /** Changes an existing record; undefined if there is none. */
  change(id: string, change: Partial<JobRunRecord>): Promise<JobRunRecord | undefined> {
    return this.#records.update(id, (before) => before && { ...before, ...change });
  }

  async remove(records: readonly JobRunRecord[]): Promise<void> {
    await Promise.all(records.map(({ id }) => this.#records.remove(id)));
  }

  /** Stores the name of a deleted job in its runs. */
  async nameDeletedJob(jobId: string, jobName: string): Promise<void> {
    await Promise.all((await this.listByJob(jobId)).map(({ id }) => this.change(id, { jobName })));
  }

  /** Removes the oldest runs of a job beyond the maximum; never the newest tick, from which the next one is counted, nor active runs. */
  async prune(jobId: string): Promise<void> {
    const runs = await this.listByJob(jobId);
    const newest = runs.findLast(({ manual }) => !manual);
    await this.remove(
      runs.slice(0, Math.max(0, runs.length - MAX_STORED_RUNS)).filter((run) => run !== newest && run.status !== 'running'),
    );
  }

  /** Removes old runs of deleted jobs. */
  async pruneOrphans(jobs: ReadonlySet<string>, now: number): Promise<void> {
    const old = now - ORPHAN_RETENTION_MS;
    await this.remove((await this.listAll()).filter(({ jobId, startedAt }) => !jobs.has(jobId) && startedAt < old));
  }
}

/** A run as clients see it. */
export function toJobRun({ executor: _executor, replica: _replica, resultHash: _hash, ...run }: JobRunRecord): CronRun {
  return run;
}

const sortByTime = (records: JobRunRecord[]): JobRunRecord[] => records.sort((a, b) => a.scheduledAt - b.scheduledAt);
