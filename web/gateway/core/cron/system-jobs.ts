import type { JobDefinition } from '#shared/rpc/methods/cron.ts';
import { canonical } from '../canonical.ts';
import type { Collection } from '../vault.ts';

/** A job that the gateway keeps for itself. */
export type SystemJob = Omit<JobDefinition, 'createdAt' | 'since' | 'system'> & { system: NonNullable<JobDefinition['system']> };

/** What the gateway does by itself at set times. */
export interface SystemJobs {
  /** As they are to be by now. One that is not enabled is kept where it is there, for what its runs have left. */
  wanted(): readonly SystemJob[];
  /** Does what a tick is for. Rejects where it fails. */
  run(job: JobDefinition): Promise<void>;
}

/** Has the stored jobs be as they are wanted. Another schedule counts from now on, as does one that is enabled again. The ids of those that have changed. */
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
