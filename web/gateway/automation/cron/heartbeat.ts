import { MAIN_AGENT_ID } from '../../config/main-agent.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { LogWriter } from '../../system/log/log.ts';
import type { SystemEvents } from '../../agent/system-events/system-events.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { HEARTBEAT, toRunId } from './job-runs.ts';
import { GRACE_MS } from './schedule-plan.ts';
import { runUnattended, type UnattendedRunDeps } from './unattended-run.ts';
import { getTicks } from '#shared/cron-schedule.ts';
import type { JobCoordinator } from './job-coordinator.ts';

const DEFAULT_MESSAGE = 'Heartbeat: check what is waiting for you and act on it. If nothing needs to be done, say so in one word.';

interface HeartbeatDeps extends UnattendedRunDeps {
  vault: Pick<Vault, 'collection'>;
  settings(): Pick<Settings, 'heartbeat'>;
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
    if (await coordinator.canStart(id, fence)) await this.#beat();
    return next;
  }

  async #beat(): Promise<void> {
    const { settings, events, log } = this.#deps;
    const { message } = settings().heartbeat;
    // The run of the last beat has not ended yet.
    if (this.#isRunning || (message === undefined && !(await events.hasEvents()))) return;
    this.#isRunning = true;
    let hasStarted = false;
    const request = { agentId: events.agentId, sessionId: MAIN_AGENT_ID, message: message ?? DEFAULT_MESSAGE, principal: HEARTBEAT };
    void runUnattended(this.#deps, { ...request, onbegin: () => (hasStarted = true) })
      .then(({ error }) => {
        // Once a run has started, its own events report its end.
        if (error !== undefined && !hasStarted)
          log.write('warn', 'heartbeat', `Could not start the heartbeat: ${error}`, { agentId: events.agentId });
      })
      .finally(() => (this.#isRunning = false));
  }
}
