import type { EventPayload } from '#shared/rpc/events.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { readStoppedBudget } from '#shared/rpc/stopped-budget.ts';
import type { RunningRun } from '#shared/rpc/methods/chat-contracts.ts';
import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';
import { trimToLastUserMessage, mergePage, insertMessage } from '#app/state/branch.ts';
import { toChatItems } from '#app/state/chat-items.ts';
import { OmittedTexts } from './omitted-texts.svelte.ts';
import { type MessageFile, withPickedFiles } from '#app/files/message-files.ts';
import { stopReply } from './stop-reply.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { announcer } from '#app/state/announcer.svelte.ts';
import { LiveRun } from './live-run.svelte.ts';
import { outbox } from '#app/state/outbox.svelte.ts';
import type { OutboxEntry } from '#app/state/outbox-entries.svelte.ts';
import type { PickedFile } from '#app/state/page-db.ts';
import { browserStorage } from '#app/state/browser-storage.svelte.ts';

const PAGE_SIZE = 200;
/** Error codes of a missing chat; the address may contain an invalid id. */
const MISSING_CODES: readonly string[] = ['NOT_FOUND', 'INVALID_PARAMS'];
/** Messages that are loaded to catch up. */
const TAIL_SIZE = 40;
/** Minimum time between two reloads of a changed chat, in milliseconds. */
const REFRESH_MS = 300;

/** One chat on screen: its messages, the reply in progress, and messages that wait to be sent. */
export class Chat {
  readonly agentId: string;
  readonly sessionId: string;

  messages = $state.raw<HistoryMessage[]>([]);
  /** Ids of all versions of a message that has more than one, by message id. */
  versions = $state.raw<Readonly<Record<string, readonly string[]>>>({});
  /** Cursor of the page before the first loaded message; null if there is none. */
  cursor = $state<string | null>(null);
  live = $state.raw<LiveRun | null>(null);
  phase = $state<'loading' | 'ready' | 'missing' | 'deleted'>('loading');
  /** The last problem of this chat; failed replies show their own. */
  problem = $state<(Problem & { retry: (() => void) | null }) | null>(null);
  /** Texts of messages that are being edited, by message id. */
  readonly edits: Record<string, string | undefined> = $state({});
  loadingOlder = $state(false);
  /** A resend or an edit was requested, and its run has not begun. */
  asking = $state(false);
  /** The messages were read through the bridge and are not yet stored in this browser, whose own gateway is now active. */
  elsewhere = $state(false);

  /** The chat does not exist at the gateway yet: its first message creates it. */
  #isNew: boolean;
  readonly #keys = new Map<string, string>();
  readonly #omittedTexts = new OmittedTexts(async (messageId) => (await gateway.call('chat.text', { ...this.#ids, messageId })).text);
  readonly #unsubscribers: (() => void)[];
  #loadCount = 0;
  #loading: Promise<void> = Promise.resolve();
  #refreshTimer: ReturnType<typeof setTimeout> | undefined;
  /** Counts messages and ends of runs that events reported. */
  #changeCount = 0;
  #catchingUp = false;
  /** The run that was stopped last. */
  #stoppedRunId: string | undefined;

  readonly items = $derived(toChatItems(this.#omittedTexts.fillIn(this.messages), this.#keys));
  readonly outgoing = $derived.by(() => outbox.records.getEntries(this.agentId, this.sessionId));
  readonly busy = $derived(this.live !== null || this.asking);
  /** Messages queued behind the current reply or behind a message that is being sent. */
  readonly queued = $derived.by(() => {
    const waiting = this.outgoing.filter(({ state }) => state !== 'failed');
    return this.busy ? waiting : gateway.state === 'online' ? waiting.slice(1) : [];
  });

  /** `isNew`: the chat does not exist at the gateway yet. */
  constructor(agentId: string, sessionId: string, isNew: boolean) {
    this.agentId = agentId;
    this.sessionId = sessionId;
    this.#isNew = isNew;
    if (isNew) this.phase = 'ready';
    this.#unsubscribers = [
      gateway.on('chat.message', (event) => this.#isOwnEvent(event) && this.#onMessage(event)),
      gateway.on('chat.recalled', (event) => this.#isOwnEvent(event) && (this.#getRun(event.runId).recalled = event.memories)),
      gateway.on('chat.sources', (event) => this.#isOwnEvent(event) && this.#getRun(event.runId).addSources(event.sources)),
      gateway.on('chat.reasoning', (event) => this.#isOwnEvent(event) && this.#getRun(event.runId).addReasoning(event.delta, event.offset)),
      gateway.on('chat.delta', (event) => this.#isOwnEvent(event) && this.#onDelta(event)),
      gateway.on('chat.tool_pending', (event) => this.#isOwnEvent(event) && this.#getRun(event.runId).setPendingTools(event.tools)),
      gateway.on('chat.tool_call', (event) => this.#isOwnEvent(event) && this.#getRun(event.runId).addToolCall(event)),
      gateway.on('chat.tool_result', (event) => this.#isOwnEvent(event) && this.#getRun(event.runId).setToolResult(event)),
      gateway.on('chat.done', (event) => this.#isOwnEvent(event) && this.#onEnd(event.runId, event.messageId, { usage: event.usage })),
      gateway.on('chat.error', (event) => this.#isOwnEvent(event) && this.#onError(event)),
      gateway.on('sessions.changed', (event) => this.#isThis(event) && this.#onChanged(event.deleted ?? false)),
      // A chat that is missing while this browser catches up may turn out to be deleted.
      gateway.on('sync.changed', () => this.phase === 'missing' && void this.load()),
      gateway.on('sessions.compacted', (event) => this.#isThis(event) && this.#onCompacted(event)),
      outbox.onStored((entry, messageId) => this.#attachFiles(entry, messageId)),
    ];
  }

  get key(): string {
    return `${this.agentId}/${this.sessionId}`;
  }

  get #ids(): { agentId: string; sessionId: string } {
    return { agentId: this.agentId, sessionId: this.sessionId };
  }

  dispose(): void {
    clearTimeout(this.#refreshTimer);
    for (const unsubscribe of this.#unsubscribers) unsubscribe();
  }

  /** Loads the newest page and joins the running reply. If loading fails, the shown messages stay. A load that a later one overtakes ends with the later one. */
  load(limit = PAGE_SIZE): Promise<void> {
    return (this.#loading = this.#load(limit));
  }

  async #load(limit: number): Promise<void> {
    const loadId = ++this.#loadCount;
    const changes = this.#changeCount;
    try {
      const { messages, versions, cursor, runs } = await gateway.call('chat.history', { ...this.#ids, limit });
      await this.#omittedTexts.fetchNewest(messages);
      if (loadId !== this.#loadCount) return await this.#loading;
      // The page may be older than events that arrived in the meantime.
      if (changes !== this.#changeCount) return await this.load(limit);
      this.elsewhere = false;
      if (this.problem?.retry === this.#reload) this.problem = null;
      this.versions = { ...this.versions, ...versions };
      this.#show(messages, cursor, runs);
      this.phase = 'ready';
      this.#isNew = false;
      // This tab may have missed the event that the chat was created.
      outbox.records.markChatExists(this.agentId, this.sessionId).catch(() => {});
    } catch (error) {
      if (loadId !== this.#loadCount) return await this.#loading;
      if (error instanceof RpcError && MISSING_CODES.includes(error.code)) {
        // Messages in the outbox show that the chat existed.
        await outbox.records.read();
        if (loadId !== this.#loadCount) return await this.#loading;
        if (changes !== this.#changeCount) return await this.load(limit);
        this.#markMissing();
      } else if (!isConnectionLost(error) || this.messages.length === 0)
        this.problem = { ...toProblem(error, m.chat_doing_read()), retry: this.#reload };
    }
  }

  /** Loads the page before the first message. */
  async loadOlder(): Promise<void> {
    if (this.cursor === null || this.loadingOlder || this.elsewhere) return;
    this.loadingOlder = true;
    const before = this.cursor;
    try {
      const { messages, versions, cursor } = await gateway.call('chat.history', { ...this.#ids, limit: PAGE_SIZE, before });
      if (this.cursor !== before) return;
      this.versions = { ...this.versions, ...versions };
      this.messages = [...messages, ...this.messages];
      this.cursor = cursor;
    } catch (error) {
      this.problem = { ...toProblem(error, m.chat_doing_read_earlier()), retry: () => void this.loadOlder() };
    } finally {
      this.loadingOlder = false;
    }
  }

  /** Sends a message. `steer`: into the running reply. */
  async send(message: string, files: PickedFile[], model: string | null, steer = false): Promise<void> {
    this.problem = null;
    void browserStorage.requestOnce();
    const begins = this.#isNew || this.outgoing.some((entry) => entry.begins);
    // The gateway refuses NUL characters, which are invisible in pasted text.
    await outbox.add({ ...this.#ids, message: message.replaceAll('\0', ''), files, model, steer, begins });
  }

  /** Fetches the bytes of a stored file, as base64. */
  async fetchFile({ stored }: MessageFile): Promise<string> {
    return stored ? (await gateway.call('chat.attachment', { ...this.#ids, ...stored })).content : '';
  }

  /** Fetches the text of a message that the history omits. */
  fetchText(messageId: string): Promise<void> {
    return this.#omittedTexts.fetch(messageId);
  }

  /** Stops the running reply and holds back queued messages. */
  async stop(): Promise<void> {
    void outbox.holdAll(this.agentId, this.sessionId);
    await this.#stop(this.live);
  }

  async #stop(live: LiveRun | null): Promise<void> {
    if (live) live.isStopping = true;
    this.#stoppedRunId = live?.runId;
    try {
      await stopReply({
        abort: async () => (await gateway.call('chat.abort', this.#ids)).aborted,
        isRunning: () => (live ? this.live === live : this.asking),
      });
    } catch (error) {
      if (live) live.isStopping = false;
      this.#stoppedRunId = undefined;
      this.problem = { ...toProblem(error, m.chat_doing_stop()), retry: () => void this.stop() };
    }
  }

  /** Requests a new reply to a message of the person; without `messageId` to the last one. */
  resend(model: string | null, messageId?: string): Promise<void> {
    const options = { ...(model === null ? {} : { model }), ...(messageId === undefined ? {} : { messageId }) };
    return this.#startRun(m.chat_doing_answer_again(), () => gateway.call('chat.resend', { ...this.#ids, ...options }));
  }

  /** Replaces the text of a message of the person and requests a new reply. */
  edit(messageId: string, message: string, model: string | null): Promise<void> {
    // Without `messageId` the last message is edited; hosts of older builds only support that.
    const isLast = this.messages.findLast(({ role }) => role === 'user')?.id === messageId;
    const options = { ...(isLast ? {} : { messageId }), ...(model === null ? {} : { model }) };
    return this.#startRun(m.chat_doing_send_edited(), () => gateway.call('chat.edit', { ...this.#ids, message, ...options }));
  }

  /** Shows the branch through a message, one of `versions`. */
  async choose(messageId: string): Promise<void> {
    this.problem = null;
    try {
      await gateway.call('chat.branch', { ...this.#ids, messageId });
      await this.load();
    } catch (error) {
      this.problem = { ...toProblem(error, m.chat_doing_show_version()), retry: () => void this.choose(messageId) };
    }
  }

  /** Shows the branch that contains a message. Resolves to whether there is one. */
  async find(messageId: string): Promise<boolean> {
    try {
      await gateway.call('chat.branch', { ...this.#ids, messageId });
    } catch (error) {
      if (!(error instanceof RpcError && error.code === 'NOT_FOUND'))
        this.problem = { ...toProblem(error, m.chat_doing_show_version()), retry: () => void this.choose(messageId) };
      return false;
    }
    await this.load();
    return true;
  }

  async #startRun(doing: string, call: () => Promise<unknown>): Promise<void> {
    this.problem = null;
    this.asking = true;
    try {
      await call();
    } catch (error) {
      const aborted = error instanceof RpcError && error.code === 'ABORTED';
      // Once the run has begun, its own events report how it ends.
      if (!aborted && this.asking && !isConnectionLost(error))
        this.problem = { ...toProblem(error, doing), retry: () => void this.#startRun(doing, call) };
    } finally {
      this.asking = false;
    }
  }

  readonly #reload = (): void => {
    this.problem = null;
    void this.load();
  };

  #isThis(event: { agentId: string; sessionId: string }): boolean {
    return event.sessionId === this.sessionId && event.agentId === this.agentId;
  }

  #isOwnEvent(event: { agentId: string; sessionId: string }): boolean {
    return this.#isThis(event) && !this.elsewhere;
  }

  #show(page: HistoryMessage[], cursor: string | null, runs: readonly RunningRun[]): void {
    const { messages, isContinued } = mergePage(this.messages, page);
    if (!isContinued) this.cursor = cursor;
    const [running] = runs;
    if (!running) {
      this.live?.settle();
      this.live = null;
      this.messages = messages;
      return;
    }
    // While a reply is regenerated, the branch still ends with the earlier one.
    this.messages = trimToLastUserMessage(messages);
    if (this.live?.runId !== running.runId) this.live = this.#ensureRun(running.runId);
    this.live.catchUp(running);
  }

  #markMissing(): void {
    // Messages read through the bridge stay visible: they exist, and are synced once the bridge is back.
    const behind = gateway.bridge.isLinked && gateway.transport === 'browser' && gateway.host?.sync?.state !== 'synced';
    if (this.messages.length > 0 && behind) {
      this.elsewhere = true;
      this.phase = 'ready';
    } else if (this.messages.length > 0) this.#onDeleted();
    // The answer to a request from before the deletion can arrive after it.
    else if (this.phase !== 'deleted') this.phase = this.#getMissingPhase(behind);
    this.live = null;
  }

  /** Phase of a chat that the gateway does not know. */
  #getMissingPhase(behind: boolean): Chat['phase'] {
    this.#isNew ||= this.outgoing.some(({ begins }) => begins);
    const hasUnsent = this.outgoing.some(({ state }) => state !== 'failed');
    if (this.phase === 'ready' || this.#isNew || hasUnsent) return 'ready';
    return this.outgoing.length > 0 && !behind ? 'deleted' : 'missing';
  }

  #getRun(runId: string): LiveRun {
    if (this.live?.runId === runId) return this.live;
    // No message announced this run: it regenerates the reply to the last message or an earlier one.
    if (this.messages.at(-1)?.role !== 'user') this.messages = trimToLastUserMessage(this.messages);
    void this.#catchUp();
    this.asking = false;
    return (this.live = this.#ensureRun(runId));
  }

  #ensureRun(runId: string): LiveRun {
    const live = new LiveRun(runId);
    // A host that had not loaded the run yet may have reported that it had ended.
    if (runId === this.#stoppedRunId) queueMicrotask(() => void this.#stop(live));
    return live;
  }

  #onMessage({ messageId, parentId, content, timestamp, runId }: EventPayload<'chat.message'>): void {
    this.#changeCount++;
    this.phase = 'ready';
    this.#isNew = false;
    this.asking = false;
    const messages = insertMessage(this.messages, { id: messageId, role: 'user', content, timestamp, parentId }, parentId);
    this.live = new LiveRun(runId);
    if (messages) this.messages = messages;
    else void this.load(TAIL_SIZE);
  }

  #onDelta({ runId, delta, offset }: EventPayload<'chat.delta'>): void {
    if (!this.#getRun(runId).addText(delta, offset)) void this.#catchUp();
  }

  /** Loads the beginning of the run, and its message. One load at a time: in a fast stream each delta would start another and outdate the previous one. */
  async #catchUp(): Promise<void> {
    if (this.#catchingUp) return;
    this.#catchingUp = true;
    await this.load(TAIL_SIZE);
    this.#catchingUp = false;
  }

  #onError({ runId, messageId, error }: EventPayload<'chat.error'>): void {
    const budget = readStoppedBudget(error.details);
    const failure = { code: error.code, message: error.message, ...(budget ? { budget } : {}) };
    const end = error.code === 'ABORTED' ? { aborted: true } : { error: failure };
    if (messageId !== undefined) return this.#onEnd(runId, messageId, end);
    if (this.live?.runId !== runId) return;
    // The reply could not be stored; show the received part with its error.
    this.#onEnd(runId, `unstored:${runId}`, end, false);
  }

  #onEnd(runId: string, messageId: string, end: Pick<HistoryMessage, 'aborted' | 'error' | 'usage'>, stored = true): void {
    this.#changeCount++;
    this.asking = false;
    if (this.live?.runId === runId) {
      const { live } = this;
      live.settle();
      this.#keys.set(messageId, `run:${runId}`);
      this.messages = [...this.messages, ...live.toMessages({ id: messageId, ...end })];
      this.live = null;
      // A failed reply announces its own error.
      if (end.aborted) announcer.announce(m.chat_reply_stopped());
      else if (!end.error) void announcer.announceReply(live.text);
    }
    // The stored messages contain more than the events: the model, stored tool results, files.
    if (stored) void this.load(TAIL_SIZE);
  }

  /** Also called for changes by other hosts. */
  #onChanged(deleted: boolean): void {
    if (deleted) return this.elsewhere ? undefined : this.#onDeleted();
    this.#refreshTimer ??= setTimeout(() => {
      this.#refreshTimer = undefined;
      if (!this.live && this.phase !== 'loading') void this.load(TAIL_SIZE);
    }, REFRESH_MS);
  }

  #onCompacted({ messageId, compaction }: EventPayload<'sessions.compacted'>): void {
    this.#changeCount++;
    this.#replace(messageId, (message) => ({ ...message, compaction }));
  }

  #replace(id: string, change: (message: HistoryMessage) => HistoryMessage): void {
    this.messages = this.messages.map((message) => (message.id === id ? change(message) : message));
  }

  #onDeleted(): void {
    // A history that is being loaded was requested before.
    this.#changeCount++;
    this.phase = 'deleted';
    this.live = null;
    this.messages = [];
    this.cursor = null;
  }

  #attachFiles(entry: OutboxEntry, messageId: string): void {
    if (!this.#isOwnEvent(entry) || entry.files.length === 0) return;
    // The listener of `chat.message` may run before or after this one: wait until it has added the message.
    queueMicrotask(() => this.#replace(messageId, (message) => withPickedFiles(message, entry.files)));
  }
}
