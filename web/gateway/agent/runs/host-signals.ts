import { chatEvents } from '#shared/rpc/chat-events.ts';
import type { AnyEvent } from '#shared/rpc/events.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { SyncPort } from '../../sync/sync-port.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { toSessionKey } from '../../storage/chat-records.ts';
import type { RemoteRuns } from './remote-runs.ts';
import type { Runs } from './runs.ts';

/** How long, in milliseconds, an event that refers to a message waits for the message, which arrives through the journal. */
const MESSAGE_WAIT_MS = 5_000;

const toEventSchema = <E extends keyof typeof chatEvents>(event: E) => z.object({ event: z.literal(event), payload: chatEvents[event] });
/** Events of its runs that a host sends to the active one. */
const runEvent = z.discriminatedUnion('event', [
  toEventSchema('chat.message'),
  toEventSchema('chat.recalled'),
  toEventSchema('chat.reasoning'),
  toEventSchema('chat.delta'),
  toEventSchema('chat.tool_pending'),
  toEventSchema('chat.tool_call'),
  toEventSchema('chat.tool_result'),
  toEventSchema('chat.sources'),
  toEventSchema('chat.sub_agent'),
  toEventSchema('chat.done'),
  toEventSchema('chat.error'),
  toEventSchema('sessions.changed'),
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

interface HostSignalsDeps {
  vault: Pick<Vault, 'messages' | 'onRemoteChanges'>;
  hub: EventBus;
  clock: Clock;
  sync: SyncPort;
  runs: Runs;
  remoteRuns: RemoteRuns;
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
  #isSending = false;
  /** Queues, which keep the events of a session in order. */
  readonly #queues = new Map<string, Promise<void>>();
  /** Messages that events wait for. */
  readonly #awaitedMessages = new Map<string, () => void>();
  /** Runs whose text was requested. */
  readonly #requestedTexts = new Set<string>();
  readonly #cleanups: (() => void)[];

  constructor(deps: HostSignalsDeps) {
    this.#deps = deps;
    this.#cleanups = [
      deps.hub.add({ all: true, follows: () => true, push: (event) => this.#push(event) }),
      deps.sync.onsignal((from, payload) => this.#receive(from, payload)),
      deps.vault.onRemoteChanges((changes) => {
        for (const { store, key } of changes) if (store === 'messages') this.#awaitedMessages.get(key)?.();
      }),
    ];
  }

  stop(): void {
    for (const stop of this.#cleanups) stop();
  }

  #push(event: AnyEvent): void {
    if (this.#deps.sync.state().role !== 'replica') return;
    const parsed = runEvent.safeParse(event);
    if (parsed.success && this.#isOwn(parsed.data)) this.#enqueue(parsed.data);
  }

  #isOwn({ event, payload }: RunEvent): boolean {
    const { runs } = this.#deps;
    const key = toSessionKey(payload.agentId, payload.sessionId);
    return event === 'sessions.changed' ? runs.has(key) : runs.has(key, payload.runId);
  }

  /** While one batch is being sent, the next one is collected. */
  #enqueue(event: RunEvent): void {
    this.#outgoing.push(event);
    if (!this.#isSending) void this.#send();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    // Events of one turn of the event loop are sent together.
    await Promise.resolve();
    while (this.#outgoing.length > 0) {
      // Without an active host no one listens; the next active host requests the text.
      await this.#deps.sync.signal(undefined, { type: 'events', events: this.#outgoing.splice(0) }).catch(() => false);
    }
    this.#isSending = false;
  }

  #receive(from: string, payload: unknown): void {
    const signal = hostSignal.safeParse(payload);
    if (!signal.success) return;
    if (signal.data.type === 'abort') return this.#deps.runs.abortRun(signal.data.runId, 'The run was aborted.');
    if (signal.data.type === 'abort-session') return void this.#deps.runs.abortLocal(signal.data.sessionKey);
    if (signal.data.type === 'text') return this.#sendText(signal.data.runId);
    for (const item of signal.data.events) {
      const event = runEvent.safeParse(item);
      if (event.success) this.#relayInOrder(event.data, from);
    }
  }

  #sendText(runId: string): void {
    const run = this.#deps.runs.find(runId);
    if (!run?.isStarted) return;
    this.#enqueue({ event: 'chat.delta', payload: { ...run.ids, delta: run.text, role: 'assistant', offset: 0 } });
  }

  #relayInOrder(event: RunEvent, from: string): void {
    const key = toSessionKey(event.payload.agentId, event.payload.sessionId);
    const tail = (this.#queues.get(key) ?? Promise.resolve())
      .then(() => this.#relay(event, key, from))
      .catch((error: unknown) => void this.#deps.fault(error))
      .finally(() => this.#queues.get(key) === tail && this.#queues.delete(key));
    this.#queues.set(key, tail);
  }

  async #relay(item: RunEvent, key: string, from: string): Promise<void> {
    const { hub, remoteRuns, sync } = this.#deps;
    const { event, payload } = item;
    if (event === 'sessions.changed') return hub.emit(item, key);
    if (event === 'chat.delta' && remoteRuns.isAborted(payload.runId))
      void sync.signal(from, { type: 'abort', runId: payload.runId }).catch(() => false);
    // This host has already reported the run's end.
    if (remoteRuns.isClaimed(payload.runId)) return;
    if (event === 'chat.delta') return this.#relayDelta(payload, key, from);
    if ('messageId' in payload && payload.messageId !== undefined) await this.#waitForMessage(payload.messageId);
    if (event === 'chat.done' || event === 'chat.error') {
      remoteRuns.setText(payload.runId, null);
      this.#requestedTexts.delete(payload.runId);
    }
    hub.emit(item, key);
  }

  /** Continues at the end of the text so far; if a part is missing in between, requests the text from its beginning. */
  #relayDelta(payload: Extract<RunEvent, { event: 'chat.delta' }>['payload'], key: string, from: string): void {
    const { hub, remoteRuns, sync } = this.#deps;
    const { runId, delta, offset } = payload;
    const current = remoteRuns.getText(runId);
    if (offset > current.length) {
      if (this.#requestedTexts.has(runId)) return;
      this.#requestedTexts.add(runId);
      const retry = (): unknown => this.#requestedTexts.delete(runId);
      return void sync.signal(from, { type: 'text', runId }).then((delivered) => delivered || retry(), retry);
    }
    this.#requestedTexts.delete(runId);
    const more = delta.slice(current.length - offset);
    if (more === '') return;
    remoteRuns.setText(runId, current + more);
    hub.emit({ event: 'chat.delta', payload: { ...payload, delta: more, offset: current.length } }, key);
  }

  /** Resolves when the message is stored here, or after a time-out: clients that read the history on the event should find it. */
  #waitForMessage(messageId: string): Promise<void> {
    const { vault, clock } = this.#deps;
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        this.#awaitedMessages.delete(messageId);
        resolve();
      };
      const cancel = clock.after(MESSAGE_WAIT_MS, done);
      this.#awaitedMessages.set(messageId, done);
      vault.messages.get(messageId).then((message) => message && done(), done);
    });
  }
}
