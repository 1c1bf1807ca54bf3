import { RpcError } from '#shared/rpc/rpc-error.ts';
import { type Agents } from '../agents.ts';
import { MAIN_AGENT_ID } from '../../config/main-agent.ts';
import { isPerson } from '../../system/person.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { LogWriter } from '../../system/log/log.ts';
import type { QueuedNotices } from '../runs/run-types.ts';
import type { Runs } from '../runs/runs.ts';
import { sanitizeMessage } from '../runs/sanitize.ts';
import type { Settings } from '../../config/settings-schema.ts';
import { toSource } from '../trust/content-sources.ts';
import type { SystemEvent, Vault } from '../../storage/vault-interface.ts';
import { toSessionKey } from '../../storage/chat-records.ts';

/** Maximum number of queued events. */
const MAX_EVENTS = 1000;
/** Maximum characters of events in one run; the rest waits for the next. */
const MAX_RUN_CHARS = 20_000;

interface SystemEventsDeps {
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
export class SystemEvents implements QueuedNotices {
  readonly #deps: SystemEventsDeps;
  /** Events about to be sent by a run of their own. */
  readonly #inFlight = new Set<string>();

  constructor(deps: SystemEventsDeps) {
    this.#deps = deps;
  }

  /** The agent whose main session gets the events and the heartbeat. */
  get agentId(): string {
    const { agents, settings } = this.#deps;
    const configuredId = settings().heartbeat.agentId;
    return agents.list().find(({ id }) => id === configuredId)?.id ?? MAIN_AGENT_ID;
  }

  async getQueued(key: string): ReturnType<QueuedNotices['getQueued']> {
    if (key !== toSessionKey(this.agentId, MAIN_AGENT_ID)) return undefined;
    const included: SystemEvent[] = [];
    let chars = 0;
    for (const event of await this.#listQueued()) {
      chars += event.text.length;
      if (included.length > 0 && chars > MAX_RUN_CHARS) break;
      included.push(event);
    }
    if (included.length === 0) return undefined;
    // A line within an event must not look like another event.
    const lines = included.map(({ at, text }) => `- ${new Date(at).toISOString()}: ${text.replaceAll('\n', '\n  ')}`);
    return {
      sources: included.every(({ principal = '' }) => isPerson(principal)) ? [] : [toSource('program', 'a system event')],
      text: ['System events since your last turn; programs told them, not the person:', ...lines].join('\n'),
      markDelivered: async () => void (await Promise.all(included.map(({ id }) => this.#events.remove(id)))),
    };
  }

  /** Whether any events are queued. */
  async hasEvents(): Promise<boolean> {
    return (await this.#listQueued()).length > 0;
  }

  /** Throws `INVALID_PARAMS` for an invalid text, `RATE_LIMITED` if too many are queued. */
  async add(text: string, caller: string): Promise<void> {
    await this.#storeEvent(sanitizeMessage(text, { param: 'text' }), caller);
  }

  /**
   * Stores an event and starts a run in the main session for it, as `caller` if that is a key, so that its limits apply. Until that run
   * begins, the event is queued like the others.
   */
  async sendNow(text: string, runs: Pick<Runs, 'send'>, caller: string): Promise<void> {
    const sanitized = sanitizeMessage(text, { param: 'text' });
    const id = crypto.randomUUID();
    this.#inFlight.add(id);
    try {
      await this.#storeEvent(sanitized, caller, id);
    } catch (error) {
      this.#inFlight.delete(id);
      throw error;
    }
    let removal: Promise<unknown> | undefined;
    const principal = caller.startsWith('key:') ? caller : 'system';
    const request = {
      agentId: this.agentId,
      sessionId: MAIN_AGENT_ID,
      message: `System event: ${sanitized}`,
      principal,
      idempotencyKey: id,
    };
    // The run's outcome is reported by its own events and stored in the session.
    void runs
      .send({ ...request, onbegin: () => (removal = this.#events.remove(id)) })
      .catch((error: unknown) => {
        if (!removal) this.#logQueued(this.#deps.fault(error));
      })
      .then(() => removal)
      .catch(() => {})
      .finally(() => this.#inFlight.delete(id));
  }

  /** No run has begun, so no event reports the reason. */
  #logQueued({ code, message }: RpcError): void {
    if (code === 'ABORTED') return;
    this.#deps.log.write('warn', 'system', `A system event is queued for the next run: ${message}`, { agentId: this.agentId, code });
  }

  get #events() {
    return this.#deps.vault.collection('systemEvents');
  }

  async #storeEvent(text: string, principal: string, id: string = crypto.randomUUID()): Promise<void> {
    if ((await this.#events.list()).length >= MAX_EVENTS) {
      throw new RpcError('RATE_LIMITED', `${MAX_EVENTS} events are already queued for the next run.`, { retryable: true });
    }
    await this.#events.put({ id, text, at: this.#deps.clock.now(), principal });
  }

  /** Oldest first. */
  async #listQueued(): Promise<SystemEvent[]> {
    const events = await this.#events.list();
    return events.filter(({ id }) => !this.#inFlight.has(id)).sort((a, b) => a.at - b.at);
  }
}
