import { MAIN_AGENT_ID } from '../../config/main-agent.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { LogWriter } from '../../system/log/log.ts';
import type { SystemEvents } from '../../agent/system-events/system-events.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { HEARTBEAT, toRunId } from './job-runs.ts';
import { GRACE_MS } from './schedule-plan.ts';
import { runUnattended, type UnattendedRunDeps } from './unattended-run.ts';
import { getTicks } from '#shared/cron-schedule.ts';
import { type ChecklistDeps, readChecklist, runChecklist } from './heartbeat-checklist.ts';
import type { JobCoordinator } from './job-coordinator.ts';

const DEFAULT_MESSAGE = 'Heartbeat: check what is waiting for you and act on it. If nothing needs to be done, say so in one word.';

interface HeartbeatDeps extends UnattendedRunDeps, ChecklistDeps {
  vault: Pick<Vault, 'collection'> & ChecklistDeps['vault'];
  settings(): Pick<Settings, 'heartbeat' | 'deliveries'>;
  events: Pick<SystemEvents, 'hasEvents' | 'agentId'>;
  coordinator: JobCoordinator;
  log: LogWriter;
}

/** At each beat, tells the main session to look at pending events. Beats that were missed are skipped. */
export class Heartbeat {
  readonly #deps: HeartbeatDeps;
  #isRunning = false;

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps;
  }

  /**
   * Beats if it is time. Resolves with the time of the next beat, or of one that is due but belongs to another host for now; null if the
   * heartbeat is disabled.
   */
  async beatIfDue(): Promise<number | null> {
    const { clock, settings, vault, coordinator } = this.#deps;
    const { enabled, everyMs } = settings().heartbeat;
    if (!enabled) return null;
    const ticks = getTicks({ kind: 'every', everyMs }, 0, 'UTC');
    const now = clock.now();
    const tick = ticks.upTo(now);
    const next = ticks.after(now);
    const records = vault.collection('jobRuns');
    if (tick === null || now - tick > GRACE_MS || (await records.get(HEARTBEAT))?.scheduledAt === tick) return next;
    if (!coordinator.isActive()) return next;
    const id = toRunId(HEARTBEAT, tick);
    const fence = await coordinator.claim(id);
    if (fence === null) return tick;
    if ((await records.get(HEARTBEAT))?.scheduledAt === tick) return next;
    const times = { startedAt: now, completedAt: now };
    await records.put({ id: HEARTBEAT, jobId: HEARTBEAT, scheduledAt: tick, status: 'completed', ...times });
    if (await coordinator.canStart(id, fence)) await this.#beat(id);
    return next;
  }

  /** Starts what there is to do at a beat; its end is recorded later. */
  async #beat(id: string): Promise<void> {
    const { settings, events, fault } = this.#deps;
    // The runs of the last beat have not ended yet.
    if (this.#isRunning) return;
    const { message } = settings().heartbeat;
    const agentId = events.agentId;
    const checklist = await readChecklist(this.#deps, agentId);
    const hasMessage = message !== undefined || (await events.hasEvents());
    if (checklist === undefined && !hasMessage) return;
    this.#isRunning = true;
    const work = async (): Promise<void> => {
      if (hasMessage) await this.#runMain(agentId, message ?? DEFAULT_MESSAGE);
      if (checklist !== undefined) await this.#check(id, agentId, checklist);
    };
    void work()
      .catch(fault)
      .finally(() => (this.#isRunning = false));
  }

  /** Runs the main session. */
  async #runMain(agentId: string, message: string): Promise<void> {
    let hasStarted = false;
    const request = { agentId, sessionId: MAIN_AGENT_ID, message, principal: HEARTBEAT };
    const { error } = await runUnattended(this.#deps, { ...request, onbegin: () => (hasStarted = true) });
    // Once a run has started, its own events report its end.
    if (error !== undefined && !hasStarted) this.#warn(agentId, error);
  }

  /** Goes through the checklist, and records what came of it. */
  async #check(id: string, agentId: string, checklist: string): Promise<void> {
    const { clock, vault, hub } = this.#deps;
    const { isSilent, error } = await runChecklist(this.#deps, { id, agentId, checklist });
    if (error !== undefined) this.#warn(agentId, error);
    await vault.collection('jobRuns').update(HEARTBEAT, (record) => {
      if (!record) return undefined;
      const { error: _, isSilent: __, ...before } = record;
      return {
        ...before,
        ...{ status: error === undefined ? 'completed' : 'failed', completedAt: clock.now() },
        ...(error === undefined ? { isSilent } : { error }),
      };
    });
    hub.emit({ event: 'cron.changed', payload: { jobId: HEARTBEAT } }, null);
  }

  #warn(agentId: string, error: string): void {
    this.#deps.log.write('warn', 'heartbeat', `Could not start the heartbeat: ${error}`, { agentId });
  }
}
