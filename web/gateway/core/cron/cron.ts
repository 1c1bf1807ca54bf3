import type { JobDefinition, JobRun } from '#shared/rpc/methods/cron.ts';
import type { RpcError } from '#shared/rpc/errors.ts';
import type { Agents } from '../agents.ts';
import type { Clock } from '../clock.ts';
import { dreamingJobs } from '../dreamer/jobs.ts';
import { dailySummaryJobs } from '../memory/summary/jobs.ts';
import type { Hub } from '../hub.ts';
import type { LogWriter } from '../log/log.ts';
import type { Runs } from '../runs/runs.ts';
import type { Settings } from '../settings.ts';
import type { SyncPort } from '../sync.ts';
import type { SystemEvents } from '../system/events.ts';
import type { Vault } from '../vault.ts';
import { Heartbeat } from './heartbeat.ts';
import { HEARTBEAT, JobRuns, jobIdOf, jobRunOf } from './job-runs.ts';
import { Jobs } from './jobs.ts';
import { Scheduler } from './scheduler.ts';
import { Turn } from './turn.ts';

export interface CronDeps {
  vault: Vault;
  hub: Hub;
  clock: Clock;
  sync: SyncPort | undefined;
  runs: Pick<Runs, 'send' | 'abortRun'>;
  agents: Agents;
  events: SystemEvents;
  settings(): Settings;
  /** Consolidates the memory of an agent. */
  dream(agentId: string): Promise<void>;
  /** Summarizes an agent's past days. */
  summarise(agentId: string): Promise<void>;
  timeZone(): string;
  log: LogWriter;
  fault(error: unknown): RpcError;
}

/** Scheduled jobs and the heartbeat, with the scheduler that runs them. */
export class Cron {
  readonly jobs: Jobs;
  readonly #scheduler: Scheduler;
  readonly #stops: (() => void)[];

  /** Checks for due jobs at once, and from then on. */
  constructor(deps: CronDeps) {
    const { vault, hub, clock, sync, timeZone } = deps;
    const records = new JobRuns(vault.collection('jobRuns'));
    const turn = new Turn(sync, clock);
    const tell = (jobId: string): void => hub.emit({ event: 'cron.changed', payload: { jobId } }, null);
    const system = {
      wanted: () => [...dreamingJobs(deps.settings(), deps.agents, clock.now()), ...dailySummaryJobs(deps.settings(), deps.agents)],
      run: ({ agentId, system }: JobDefinition) => (system === 'dreaming' ? deps.dream(agentId) : deps.summarise(agentId)),
    };
    this.#scheduler = new Scheduler({ ...deps, records, turn, system, heartbeat: new Heartbeat({ ...deps, turn }), changed: tell });
    const changed = (jobId: string): void => {
      tell(jobId);
      this.look();
    };
    this.jobs = new Jobs({ jobs: vault.collection('jobs'), records, agents: deps.agents, clock, timeZone, changed });
    this.#stops = [
      () => this.#scheduler.stop(),
      () => turn.stop(),
      sync?.watch(() => void this.#scheduler.look({ hosts: true })) ?? (() => {}),
      vault.onforeign((changes) => {
        const touched = changes.flatMap(({ store, key }) => (store === 'jobs' ? [key] : store === 'jobRuns' ? [jobIdOf(key)] : []));
        for (const jobId of new Set(touched)) if (jobId !== HEARTBEAT) tell(jobId);
        if (touched.length > 0) this.look();
      }),
    ];
    this.look();
  }

  /** Called when jobs or settings may have changed. */
  look(): void {
    void this.#scheduler.look();
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  /** Runs a job manually. Throws `NOT_FOUND`, and `ALREADY_EXISTS` while it is running. */
  async run(jobId: string): Promise<JobRun> {
    return jobRunOf(await this.#scheduler.run(await this.jobs.get(jobId)));
  }
}
