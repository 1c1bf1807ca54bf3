import { MAIN } from '../agents.ts';
import type { Settings } from '../settings.ts';
import type { LogWriter } from '../log/log.ts';
import type { SystemEvents } from '../system/events.ts';
import type { Vault } from '../vault.ts';
import { HEARTBEAT, runIdOf } from './job-runs.ts';
import { GRACE_MS } from './plan.ts';
import { speak, type SpeakDeps } from './speak.ts';
import { ticksOf } from './schedule.ts';
import type { Turn } from './turn.ts';

const MESSAGE = 'Heartbeat: check what is waiting for you and act on it. If nothing needs to be done, say so in one word.';

export interface HeartbeatDeps extends SpeakDeps {
  vault: Pick<Vault, 'collection'>;
  settings(): Pick<Settings, 'heartbeat'>;
  events: Pick<SystemEvents, 'any' | 'agentId'>;
  turn: Turn;
  log: LogWriter;
}

/** At each beat, tells the main session to look at pending events. Beats that were missed are skipped. */
export class Heartbeat {
  readonly #deps: HeartbeatDeps;
  #speaking = false;

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps;
  }

  /**
   * Beats if it is time. Resolves with the time of the next beat, or of one that is due but belongs to another host for now; null if the
   * heartbeat is disabled.
   */
  async look(): Promise<number | null> {
    const { clock, settings, vault, turn } = this.#deps;
    const { enabled, everyMs } = settings().heartbeat;
    if (!enabled) return null;
    const ticks = ticksOf({ kind: 'every', everyMs }, 0, 'UTC');
    const now = clock.now();
    const tick = ticks.upTo(now);
    const next = ticks.after(now);
    const records = vault.collection('jobRuns');
    if (tick === null || now - tick > GRACE_MS || (await records.get(HEARTBEAT))?.scheduledAt === tick) return next;
    if (!turn.serves()) return next;
    const id = runIdOf(HEARTBEAT, tick);
    const fence = await turn.take(id);
    if (fence === null) return tick;
    if ((await records.get(HEARTBEAT))?.scheduledAt === tick) return next;
    const at = { startedAt: now, completedAt: now };
    await records.put({ id: HEARTBEAT, jobId: HEARTBEAT, scheduledAt: tick, status: 'completed', ...at });
    if (await turn.mayBegin(id, fence)) await this.#beat();
    return next;
  }

  async #beat(): Promise<void> {
    const { settings, events, log } = this.#deps;
    const { message } = settings().heartbeat;
    // The run of the last beat has not ended yet.
    if (this.#speaking || (message === undefined && !(await events.any()))) return;
    this.#speaking = true;
    let begun = false;
    const request = { agentId: events.agentId, sessionId: MAIN, message: message ?? MESSAGE, principal: HEARTBEAT };
    void speak(this.#deps, { ...request, onbegin: () => (begun = true) })
      .then(({ error }) => {
        // Once a run has started, its own events report its end.
        if (error !== undefined && !begun)
          log.write('warn', 'heartbeat', `Could not start the heartbeat: ${error}`, { agentId: events.agentId });
      })
      .finally(() => (this.#speaking = false));
  }
}
