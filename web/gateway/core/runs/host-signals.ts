import { chatEvents } from '#shared/rpc/chat-events.ts';
import type { AnyEvent } from '#shared/rpc/events.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '../clock.ts';
import type { Hub } from '../hub.ts';
import type { SyncPort } from '../sync.ts';
import { sessionKey, type Vault } from '../vault.ts';
import type { ForeignRuns } from './foreign-runs.ts';
import type { Runs } from './runs.ts';

/** How long an event that tells of a message waits for the message itself, which comes through the journal. */
const STORED_MS = 5_000;

const told = <E extends keyof typeof chatEvents>(event: E) => z.object({ event: z.literal(event), payload: chatEvents[event] });
/** What a host tells the one that serves of its runs. */
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

/** What hosts say to one another of runs. */
const hostSignal = z.discriminatedUnion('type', [
  /** End this run, which you execute. */
  z.object({ type: z.literal('abort'), runId: z.string() }),
  /** End what you execute in this session, and what waits in line there. */
  z.object({ type: z.literal('abort-session'), sessionKey: z.string() }),
  /** Tell the text of this run from its beginning. */
  z.object({ type: z.literal('text'), runId: z.string() }),
  /** Each is read by itself: another build may have events that this one does not know. */
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
 * Runs of a host that does not serve reach the clients of the one that does: their events are passed on, and aborts come back (design.md, "One vault").
 * What other hosts say is validated, for they may be of another build.
 */
export class HostSignals {
  readonly #deps: HostSignalsDeps;
  /** Events of runs here, on their way to the host that serves. */
  #outgoing: RunEvent[] = [];
  #sending = false;
  /** Events of one session go out in order. */
  readonly #tails = new Map<string, Promise<void>>();
  /** Messages that events wait for. */
  readonly #awaited = new Map<string, () => void>();
  /** Runs whose text was asked for. */
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

  /** While one batch is on its way the next one gathers. */
  #pass(event: RunEvent): void {
    this.#outgoing.push(event);
    if (!this.#sending) void this.#send();
  }

  async #send(): Promise<void> {
    this.#sending = true;
    // What is told in one turn goes together.
    await Promise.resolve();
    while (this.#outgoing.length > 0) {
      // Where nobody serves nobody listens: who does later asks for the text.
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
    // This host has told its end already.
    if (foreign.isTaken(payload.runId)) return;
    if (event === 'chat.delta') return this.#relayDelta(payload, key, from);
    if ('messageId' in payload && payload.messageId !== undefined) await this.#stored(payload.messageId);
    if (event === 'chat.done' || event === 'chat.error') {
      foreign.note(payload.runId, null);
      this.#asked.delete(payload.runId);
    }
    hub.emit(item, key);
  }

  /** Goes on where the text so far ends; where something is missing in between, its beginning is asked for. */
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

  /** Resolves when the message is here, or after a while: who reads the history upon the event is to find it there. */
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
