import { chatEvents } from '#shared/rpc/chat-events.ts';
import type { AnyEvent } from '#shared/rpc/events.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '../clock.ts';
import type { Hub } from '../hub.ts';
import type { SyncPort } from '../sync.ts';
import { sessionKey, type Vault } from '../vault.ts';
import type { ForeignRuns } from './foreign-runs.ts';
import type { Runs } from './runs.ts';

/** How long, in milliseconds, an event that refers to a message waits for the message, which arrives through the journal. */
const STORED_MS = 5_000;

const told = <E extends keyof typeof chatEvents>(event: E) => z.object({ event: z.literal(event), payload: chatEvents[event] });
/** Events of its runs that a host sends to the active one. */
const runEvent = z.discriminatedUnion('event', [
  told('chat.message'),
  told('chat.recalled'),
  told('chat.reasoning'),
  told('chat.delta'),
  told('chat.tool_pending'),
  told('chat.tool_call'),
  told('chat.tool_result'),
  told('chat.done'),
  told('chat.error'),
  told('sessions.changed'),
]);
type RunEvent = z.infer<typeof runEvent>;

/** Messages between hosts about runs. */
const hostSignal = z.discriminatedUnion('type', [
  /** Abort this run, which you execute. */
  z.object({ type: z.literal('abort'), runId: z.string() }),
  /** Abort your runs of this session, including queued ones. */
  z.object({ type: z.literal('abort-session'), sessionKey: z.string() }),
  /** Send the text of this run from its beginning. */
  z.object({ type: z.literal('text'), runId: z.string() }),
  /** Each is parsed separately: another build may have unknown events. */
  z.object({ type: z.literal('events'), events: z.array(z.unknown()) }),
]);

export interface HostSignalsDeps {
  vault: Pick<Vault, 'messages' | 'onforeign'>;
  hub: Hub;
  clock: Clock;
  sync: SyncPort;
  runs: Runs;
  foreign: ForeignRuns;
  fault(error: unknown): unknown;
}

/**
 * Makes runs of another host visible to the clients of the active one: forwards their events, and aborts in the other direction. Messages
 * of other hosts are validated, as their build may differ.
 */
export class HostSignals {
  readonly #deps: HostSignalsDeps;
  /** Events of runs here that still have to be sent to the active host. */
  #outgoing: RunEvent[] = [];
  #sending = false;
  /** Queues, which keep the events of a session in order. */
  readonly #tails = new Map<string, Promise<void>>();
  /** Messages that events wait for. */
  readonly #awaited = new Map<string, () => void>();
  /** Runs whose text was requested. */
  readonly #asked = new Set<string>();
  readonly #stops: (() => void)[];

  constructor(deps: HostSignalsDeps) {
    this.#deps = deps;
    this.#stops = [
      deps.hub.add({ all: true, follows: () => true, push: (event) => this.#push(event) }),
      deps.sync.onsignal((from, payload) => this.#receive(from, payload)),
      deps.vault.onforeign((changes) => {
        for (const { store, key } of changes) if (store === 'messages') this.#awaited.get(key)?.();
      }),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  #push(event: AnyEvent): void {
    if (this.#deps.sync.state().role !== 'replica') return;
    const parsed = runEvent.safeParse(event);
    if (parsed.success && this.#isOurs(parsed.data)) this.#pass(parsed.data);
  }

  #isOurs({ event, payload }: RunEvent): boolean {
    const { runs } = this.#deps;
    const key = sessionKey(payload.agentId, payload.sessionId);
    return event === 'sessions.changed' ? runs.has(key) : runs.has(key, payload.runId);
  }

  /** While one batch is being sent, the next one is collected. */
  #pass(event: RunEvent): void {
    this.#outgoing.push(event);
    if (!this.#sending) void this.#send();
  }

  async #send(): Promise<void> {
    this.#sending = true;
    // Events of one turn of the event loop are sent together.
    await Promise.resolve();
    while (this.#outgoing.length > 0) {
      // Without an active host nobody listens: the next active one requests the text.
      await this.#deps.sync.signal(undefined, { type: 'events', events: this.#outgoing.splice(0) }).catch(() => false);
    }
    this.#sending = false;
  }

  #receive(from: string, payload: unknown): void {
    const signal = hostSignal.safeParse(payload);
    if (!signal.success) return;
    if (signal.data.type === 'abort') return this.#deps.runs.abortRun(signal.data.runId, 'The run was aborted.');
    if (signal.data.type === 'abort-session') return void this.#deps.runs.abortHere(signal.data.sessionKey);
    if (signal.data.type === 'text') return this.#tell(signal.data.runId);
    for (const item of signal.data.events) {
      const event = runEvent.safeParse(item);
      if (event.success) this.#inOrder(event.data, from);
    }
  }

  #tell(runId: string): void {
    const run = this.#deps.runs.find(runId);
    if (!run?.started) return;
    this.#pass({ event: 'chat.delta', payload: { ...run.ids, delta: run.text, role: 'assistant', offset: 0 } });
  }

  #inOrder(event: RunEvent, from: string): void {
    const key = sessionKey(event.payload.agentId, event.payload.sessionId);
    const tail = (this.#tails.get(key) ?? Promise.resolve())
      .then(() => this.#relay(event, key, from))
      .catch((error: unknown) => void this.#deps.fault(error))
      .finally(() => this.#tails.get(key) === tail && this.#tails.delete(key));
    this.#tails.set(key, tail);
  }

  async #relay(item: RunEvent, key: string, from: string): Promise<void> {
    const { hub, foreign, sync } = this.#deps;
    const { event, payload } = item;
    if (event === 'sessions.changed') return hub.emit(item, key);
    if (event === 'chat.delta' && foreign.isUnwanted(payload.runId))
      void sync.signal(from, { type: 'abort', runId: payload.runId }).catch(() => false);
    // This host has already reported the run's end.
    if (foreign.isTaken(payload.runId)) return;
    if (event === 'chat.delta') return this.#relayDelta(payload, key, from);
    if ('messageId' in payload && payload.messageId !== undefined) await this.#stored(payload.messageId);
    if (event === 'chat.done' || event === 'chat.error') {
      foreign.note(payload.runId, null);
      this.#asked.delete(payload.runId);
    }
    hub.emit(item, key);
  }

  /** Continues at the end of the text so far; if a part is missing in between, requests the text from its beginning. */
  #relayDelta(payload: Extract<RunEvent, { event: 'chat.delta' }>['payload'], key: string, from: string): void {
    const { hub, foreign, sync } = this.#deps;
    const { runId, delta, offset } = payload;
    const known = foreign.textOf(runId);
    if (offset > known.length) {
      if (this.#asked.has(runId)) return;
      this.#asked.add(runId);
      const again = (): unknown => this.#asked.delete(runId);
      return void sync.signal(from, { type: 'text', runId }).then((delivered) => delivered || again(), again);
    }
    this.#asked.delete(runId);
    const more = delta.slice(known.length - offset);
    if (more === '') return;
    foreign.note(runId, known + more);
    hub.emit({ event: 'chat.delta', payload: { ...payload, delta: more, offset: known.length } }, key);
  }

  /** Resolves when the message is stored here, or after a time-out: clients that read the history on the event should find it. */
  #stored(messageId: string): Promise<void> {
    const { vault, clock } = this.#deps;
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        this.#awaited.delete(messageId);
        resolve();
      };
      const cancel = clock.after(STORED_MS, done);
      this.#awaited.set(messageId, done);
      vault.messages.get(messageId).then((message) => message && done(), done);
    });
  }
}
