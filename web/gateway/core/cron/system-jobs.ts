import type { JobDefinition } from '#shared/rpc/methods/cron.ts';
import { canonical } from '../canonical.ts';
import type { Collection } from '../vault.ts';

/** A job that belongs to the gateway itself. */
export type SystemJob = Omit<JobDefinition, 'createdAt' | 'since' | 'system'> & { system: NonNullable<JobDefinition['system']> };

/** Tasks that the gateway performs on a schedule. */
export interface SystemJobs {
  /** The current definitions. A disabled job that exists is kept because of its runs. */
  wanted(): readonly SystemJob[];
  /** Performs the task of a tick. Rejects if it fails. */
  run(job: JobDefinition): Promise<void>;
}

/**
 * Updates the stored jobs to the wanted definitions; returns the ids of changed ones. A new schedule, or a job that is enabled again,
 * counts from now on.
 */
export async function keepSystemJobs(jobs: Collection<JobDefinition>, wanted: readonly SystemJob[], now: number): Promise<string[]> {
  const stored = new Map((await jobs.list()).flatMap((job) => (job.system === undefined ? [] : [[job.id, job]])));
  const changed: string[] = [];
  for (const job of wanted) {
    const before = stored.get(job.id);
    stored.delete(job.id);
    if (before ? isSame(before, job) : !job.enabled) continue;
    const goesOn = before && before.enabled === job.enabled && canonical(before.schedule) === canonical(job.schedule);
    await jobs.put({ ...job, createdAt: before?.createdAt ?? now, since: goesOn ? before.since : now });
    changed.push(job.id);
  }
  for (const id of stored.keys()) if (await jobs.remove(id)) changed.push(id);
  return changed;
}

function isSame({ createdAt: _createdAt, since: _since, ...before }: JobDefinition, job: SystemJob): boolean {
  return canonical(before) === canonical(job);
}
