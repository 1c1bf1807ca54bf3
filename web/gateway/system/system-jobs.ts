import type { CronJobDefinition } from '#shared/rpc/methods/cron-contracts.ts';
import { toCanonicalJson } from '#shared/canonical-json.ts';
import type { Collection } from '../storage/vault-interface.ts';

/** A job that belongs to the gateway itself. */
export type SystemJob = Omit<CronJobDefinition, 'createdAt' | 'since' | 'system'> & { system: NonNullable<CronJobDefinition['system']> };

/** Tasks that the gateway performs on a schedule. */
export interface SystemJobs {
  /** The current definitions. A disabled job that exists is kept because of its runs. */
  getDefinitions(): readonly SystemJob[];
  /** Performs the task of a tick. Rejects if it fails. */
  run(job: CronJobDefinition): Promise<void>;
}

/**
 * Updates the stored jobs to the wanted definitions; returns the ids of changed ones. A new schedule, or a job that is enabled again,
 * counts from now on.
 */
export async function syncSystemJobs(
  jobs: Collection<CronJobDefinition>,
  definitions: readonly SystemJob[],
  now: number,
): Promise<string[]> {
  const stored = new Map((await jobs.list()).flatMap((job) => (job.system === undefined ? [] : [[job.id, job]])));
  const changed: string[] = [];
  for (const job of definitions) {
    const before = stored.get(job.id);
    stored.delete(job.id);
    if (before ? isSame(before, job) : !job.enabled) continue;
    const isUnchanged = before && before.enabled === job.enabled && toCanonicalJson(before.schedule) === toCanonicalJson(job.schedule);
    await jobs.put({ ...job, createdAt: before?.createdAt ?? now, since: isUnchanged ? before.since : now });
    changed.push(job.id);
  }
  for (const id of stored.keys()) if (await jobs.remove(id)) changed.push(id);
  return changed;
}

function isSame({ createdAt: _createdAt, since: _since, ...before }: CronJobDefinition, job: SystemJob): boolean {
  return toCanonicalJson(before) === toCanonicalJson(job);
}
