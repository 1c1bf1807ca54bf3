import { RpcError } from '#shared/rpc/errors.ts';
import { type Agents, MAIN } from '../agents.ts';
import { isPerson } from '../approvals/person.ts';
import type { Clock } from '../clock.ts';
import type { LogWriter } from '../log/log.ts';
import type { WaitingEvents } from '../runs/deps.ts';
import type { Runs } from '../runs/runs.ts';
import { sanitize } from '../runs/sanitize.ts';
import type { Settings } from '../settings.ts';
import { toSource } from '../trust/sources.ts';
import { sessionKey, type SystemEvent, type Vault } from '../vault.ts';

/** Maximum number of queued events. */
const MOST = 1000;
/** Maximum characters of events in one run; the rest waits for the next. */
const MOST_CHARS = 20_000;

export interface SystemEventsDeps {
  vault: Pick<Vault, 'collection'>;
  clock: Clock;
  agents: Pick<Agents, 'list'>;
  settings(): Pick<Settings, 'heartbeat'>;
  log: LogWriter;
  fault(error: unknown): RpcError;
}

/**
 * Queue of notices for the next run of the main session. They are stored immediately, and removed when a run that received them has
 * completed: a crash may repeat notices, but loses none.
 */
export class SystemEvents implements WaitingEvents {
  readonly #deps: SystemEventsDeps;
  /** Events about to be sent by a run of their own. */
  readonly #held = new Set<string>();

  constructor(deps: SystemEventsDeps) {
    this.#deps = deps;
  }

  /** The agent whose main session gets the events and the heartbeat. */
  get agentId(): string {
    const { agents, settings } = this.#deps;
    const wanted = settings().heartbeat.agentId;
    return agents.list().find(({ id }) => id === wanted)?.id ?? MAIN;
  }

  async waiting(key: string): ReturnType<WaitingEvents['waiting']> {
    if (key !== sessionKey(this.agentId, MAIN)) return undefined;
    const told: SystemEvent[] = [];
    let chars = 0;
    for (const event of await this.#list()) {
      chars += event.text.length;
      if (told.length > 0 && chars > MOST_CHARS) break;
      told.push(event);
    }
    if (told.length === 0) return undefined;
    // A line within an event must not look like another event.
    const lines = told.map(({ at, text }) => `- ${new Date(at).toISOString()}: ${text.replaceAll('\n', '\n  ')}`);
    return {
      sources: told.every(({ principal = '' }) => isPerson(principal)) ? [] : [toSource('program', 'a system event')],
      text: ['System events since your last turn; programs told them, not the person:', ...lines].join('\n'),
      told: async () => void (await Promise.all(told.map(({ id }) => this.#events.remove(id)))),
    };
  }

  /** Whether any events are queued. */
  async any(): Promise<boolean> {
    return (await this.#list()).length > 0;
  }

  /** Throws `INVALID_PARAMS` for an invalid text, `RATE_LIMITED` if too many are queued. */
  async add(text: string, caller: string): Promise<void> {
    await this.#store(sanitize(text, { param: 'text' }), caller);
  }

  /**
   * Stores an event and starts a run in the main session for it, as `caller` if that is a key, so that its limits apply. Until that run
   * begins, the event is queued like the others.
   */
  async now(text: string, runs: Pick<Runs, 'send'>, caller: string): Promise<void> {
    const clean = sanitize(text, { param: 'text' });
    const id = crypto.randomUUID();
    this.#held.add(id);
    try {
      await this.#store(clean, caller, id);
    } catch (error) {
      this.#held.delete(id);
      throw error;
    }
    let begun: Promise<unknown> | undefined;
    const principal = caller.startsWith('key:') ? caller : 'system';
    const request = { agentId: this.agentId, sessionId: MAIN, message: `System event: ${clean}`, principal, idempotencyKey: id };
    // The run's outcome is reported by its own events and stored in the session.
    void runs
      .send({ ...request, onbegin: () => (begun = this.#events.remove(id)) })
      .catch((thrown: unknown) => {
        if (!begun) this.#waits(this.#deps.fault(thrown));
      })
      .then(() => begun)
      .catch(() => {})
      .finally(() => this.#held.delete(id));
  }

  /** No run has begun, so no event reports the reason. */
  #waits({ code, message }: RpcError): void {
    if (code === 'ABORTED') return;
    this.#deps.log.write('warn', 'system', `A system event is queued for the next run: ${message}`, { agentId: this.agentId, code });
  }

  get #events() {
    return this.#deps.vault.collection('systemEvents');
  }

  async #store(text: string, principal: string, id: string = crypto.randomUUID()): Promise<void> {
    if ((await this.#events.list()).length >= MOST) {
      throw new RpcError('RATE_LIMITED', `${MOST} events are already queued for the next run.`, { retryable: true });
    }
    await this.#events.put({ id, text, at: this.#deps.clock.now(), principal });
  }

  /** Oldest first. */
  async #list(): Promise<SystemEvent[]> {
    const events = await this.#events.list();
    return events.filter(({ id }) => !this.#held.has(id)).sort((a, b) => a.at - b.at);
  }
}
