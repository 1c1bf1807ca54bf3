import type { CronJobDefinition, CronRun } from '#shared/rpc/methods/cron-contracts.ts';
import type { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Agents } from '../../agent/agents.ts';
import type { Clock } from '#shared/async/clock.ts';
import { createDreamingJobs } from '../../agent/knowledge/dreamer/dreaming-jobs.ts';
import { createDailySummaryJobs } from '../../agent/knowledge/memory/summary/daily-summary-jobs.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { LogWriter } from '../../system/log/log.ts';
import type { Runs } from '../../agent/runs/runs.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { SyncPort } from '../../sync/sync-port.ts';
import type { SystemEvents } from '../../agent/system-events/system-events.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { getHeartbeatStatus, type HeartbeatStatus } from './heartbeat-status.ts';
import { Heartbeat } from './heartbeat.ts';
import type { ChecklistDeps } from './heartbeat-checklist.ts';
import { HEARTBEAT, JobRuns, toJobId, toJobRun } from './job-runs.ts';
import { Jobs } from './jobs.ts';
import { Scheduler } from './scheduler.ts';
import { deliverOutcome, type OutcomeDeliveryDeps } from '../deliveries/outcome-delivery.ts';
import { JobCoordinator } from './job-coordinator.ts';

export interface CronServiceDeps {
  vault: Vault;
  hub: EventBus;
  clock: Clock;
  sync: SyncPort | undefined;
  runs: Pick<Runs, 'send' | 'abortRun'>;
  agents: Agents;
  events: SystemEvents;
  settings(): Settings;
  deliveries: OutcomeDeliveryDeps['deliveries'];
  models: ChecklistDeps['models'];
  findSmallModel: ChecklistDeps['findSmallModel'];
  labels: ChecklistDeps['labels'];
  /** Consolidates the memory of an agent. */
  dream(agentId: string): Promise<void>;
  /** Summarizes an agent's past days. */
  summarise(agentId: string): Promise<void>;
  timeZone(): string;
  log: LogWriter;
  fault(error: unknown): RpcError;
}

/** Scheduled jobs and the heartbeat, with the scheduler that runs them. */
export class CronService {
  readonly jobs: Jobs;
  readonly #deps: CronServiceDeps;
  readonly #scheduler: Scheduler;
  readonly #cleanups: (() => void)[];

  /** Checks for due jobs at once, and from then on. */
  constructor(deps: CronServiceDeps) {
    const { vault, hub, clock, sync, timeZone } = deps;
    this.#deps = deps;
    const records = new JobRuns(vault.collection('jobRuns'));
    const coordinator = new JobCoordinator(sync, clock);
    const notify = (jobId: string): void => hub.emit({ event: 'cron.changed', payload: { jobId } }, null);
    const system = {
      getDefinitions: () => [
        ...createDreamingJobs(deps.settings(), deps.agents, clock.now()),
        ...createDailySummaryJobs(deps.settings(), deps.agents),
      ],
      run: ({ agentId, system }: CronJobDefinition) => (system === 'dreaming' ? deps.dream(agentId) : deps.summarise(agentId)),
    };
    this.#scheduler = new Scheduler({
      ...deps,
      records,
      coordinator,
      system,
      heartbeat: new Heartbeat({ ...deps, coordinator }),
      async deliver(job, run, { status, messageId, error }) {
        const { deliver: options } = job;
        if (!options) return {};
        const previous = (await records.listByJob(job.id)).findLast(({ id, resultHash }) => id !== run.id && resultHash !== undefined);
        const resultHash = await deliverOutcome(deps, {
          ...{ key: `job:${run.id}`, options, source: { kind: 'job', id: job.id }, by: job.actsFor, title: job.name },
          outcome: { isSuccess: status === 'completed', messageId, error },
          previousHash: previous?.resultHash,
          ...(run.agentId !== undefined && run.sessionId !== undefined ? { path: `/chat/${run.agentId}/${run.sessionId}` } : {}),
        });
        return resultHash === undefined ? {} : { resultHash };
      },
      onChange: notify,
    });
    const changed = (jobId: string): void => {
      notify(jobId);
      this.refresh();
    };
    this.jobs = new Jobs({
      jobs: vault.collection('jobs'),
      records,
      agents: deps.agents,
      clock,
      timeZone,
      settings: deps.settings,
      onChange: changed,
    });
    this.#cleanups = [
      () => this.#scheduler.stop(),
      () => coordinator.stop(),
      sync?.watch(() => void this.#scheduler.checkDue({ hosts: true })) ?? (() => {}),
      vault.onRemoteChanges((changes) => {
        const changedJobIds = changes.flatMap(({ store, key }) => (store === 'jobs' ? [key] : store === 'jobRuns' ? [toJobId(key)] : []));
        for (const jobId of new Set(changedJobIds)) if (jobId !== HEARTBEAT) notify(jobId);
        if (changedJobIds.length > 0) this.refresh();
      }),
    ];
    this.refresh();
  }

  /** Called when jobs or settings may have changed. */
  refresh(): void {
    void this.#scheduler.checkDue();
  }

  stop(): void {
    for (const stop of this.#cleanups) stop();
  }

  /** The heartbeat, with what it has cost. */
  getHeartbeat(): Promise<HeartbeatStatus> {
    return getHeartbeatStatus(this.#deps, this.#deps.events.agentId);
  }

  /** Runs a job manually. Throws `NOT_FOUND`, and `ALREADY_EXISTS` while it is running. */
  async run(jobId: string): Promise<CronRun> {
    return toJobRun(await this.#scheduler.run(await this.jobs.get(jobId)));
  }
}
