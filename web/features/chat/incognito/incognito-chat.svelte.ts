import { RpcError } from '#shared/rpc/rpc-error.ts';
import { PROTOCOL_LIMITS } from '#shared/rpc/limits.ts';
import type { IncognitoMessage } from '#shared/rpc/methods/incognito-contracts.ts';
import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';
import { toChatItems } from '#app/state/chat-items.ts';
import { formatBytes } from '#app/files/attachment-limits.ts';
import { getContentText, withPickedFiles } from '#app/files/message-files.ts';
import { stopReply } from '../stop-reply.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { collectAttachments } from '#app/trust/collect-sources.ts';
import { MAIN_AGENT } from '#app/state/agents.svelte.ts';
import { announcer } from '#app/state/announcer.svelte.ts';
import type { ListedChat } from '../listed-chat.ts';
import { LiveRun } from '../live-run.svelte.ts';
import type { PickedFile } from '#app/state/page-db.ts';

/** Bytes reserved for the rest of a frame, around the messages. */
const FRAME_OVERHEAD_BYTES = 4096;

/** A chat that only this page holds: each request sends the gateway all messages, and the gateway stores nothing. */
export class IncognitoChat implements ListedChat {
  readonly agentId = MAIN_AGENT;
  readonly sessionId = null;
  messages = $state.raw<HistoryMessage[]>([]);
  live = $state.raw<LiveRun | null>(null);
  problem = $state<(Problem & { retry: (() => void) | null }) | null>(null);
  readonly edits: Record<string, string | undefined> = $state({});
  readonly #keys = new Map<string, string>();
  readonly items = $derived(toChatItems(this.messages, this.#keys));
  readonly busy = $derived(this.live !== null);

  // Members that only stored chats fill.
  readonly phase = 'ready';
  readonly versions = {};
  readonly cursor = null;
  readonly loadingOlder = false;
  readonly asking = false;
  readonly elsewhere = false;
  readonly outgoing = [];
  readonly queued = [];

  readonly #unsubscribers = [
    gateway.on('incognito.delta', ({ runId, delta, offset }) => runId === this.live?.runId && this.live.addText(delta, offset)),
    gateway.on('incognito.reasoning', ({ runId, delta, offset }) => runId === this.live?.runId && this.live.addReasoning(delta, offset)),
  ];

  /** Sends a message and requests a reply, one at a time. `model` null: the default model. */
  async send(text: string, files: readonly PickedFile[], model: string | null): Promise<void> {
    if (this.busy) return;
    const message: HistoryMessage = { id: crypto.randomUUID(), role: 'user', content: text, timestamp: Date.now() };
    const attachments = files.map(({ filename, mimeType, size }) => ({ filename, mimeType, size }));
    this.messages = [...this.messages, files.length === 0 ? message : { ...withPickedFiles(message, files), attachments }];
    await this.#requestReply(model);
  }

  /** Requests a new reply to a message of the person, without `messageId` to the last one. Removes the earlier reply and all later messages. */
  async resend(model: string | null, messageId?: string): Promise<void> {
    if (this.busy) return;
    const at = messageId === undefined ? this.#lastUserIndex : this.messages.findIndex(({ id }) => id === messageId);
    this.messages = this.messages.slice(0, at + 1);
    await this.#requestReply(model);
  }

  /** Replaces the text of a message of the person and requests a new reply. Removes all later messages. */
  async edit(messageId: string, text: string, model: string | null): Promise<void> {
    if (this.busy) return;
    const at = this.messages.findIndex(({ id }) => id === messageId);
    this.messages = this.messages
      .slice(0, at + 1)
      .map((message, index) => (index === at ? { ...message, content: withText(message.content, text) } : message));
    await this.#requestReply(model);
  }

  async stop(): Promise<void> {
    const { live } = this;
    if (!live) return;
    live.isStopping = true;
    try {
      await stopReply({
        abort: async () => (await gateway.call('incognito.abort', { runId: live.runId })).aborted,
        isRunning: () => this.live === live,
      });
    } catch (error) {
      live.isStopping = false;
      this.problem = { ...toProblem(error, m.chat_doing_stop()), retry: () => void this.stop() };
    }
  }

  /** Removes all messages and ends the running reply. */
  forget(): void {
    const { live } = this;
    this.live = null;
    this.messages = [];
    this.problem = null;
    this.#keys.clear();
    announcer.announce('');
    if (!live) return;
    live.settle();
    void gateway.call('incognito.abort', { runId: live.runId }).catch(() => {});
  }

  /** Removes all messages and event listeners. */
  dispose(): void {
    this.forget();
    for (const unsubscribe of this.#unsubscribers) unsubscribe();
  }

  loadOlder(): Promise<void> {
    return Promise.resolve();
  }

  choose(): Promise<void> {
    return Promise.resolve();
  }

  find(): Promise<boolean> {
    return Promise.resolve(false);
  }

  /** Never needed: all files are in this page. */
  fetchFile(): Promise<string> {
    return Promise.resolve('');
  }

  /** Never needed: all texts are in this page. */
  fetchText(): Promise<void> {
    return Promise.resolve();
  }

  get #lastUserIndex(): number {
    return this.messages.findLastIndex(({ role }) => role === 'user');
  }

  async #requestReply(model: string | null): Promise<void> {
    this.problem = null;
    const live = (this.live = new LiveRun(crypto.randomUUID()));
    const startedAt = performance.now();
    const finish = (end: Partial<HistoryMessage>): void => {
      // The chat may have been discarded in the meantime.
      if (this.live !== live) return;
      this.#endRun(live, { ...end, elapsedMs: performance.now() - startedAt });
      if (end.aborted) announcer.announce(m.chat_reply_stopped());
      else if (!end.error && !end.interrupted) void announcer.announceReply(live.text);
    };
    try {
      const params = { runId: live.runId, messages: toHistory(this.messages), ...(model === null ? {} : { model }) };
      const size = new Blob([JSON.stringify(params)]).size + FRAME_OVERHEAD_BYTES;
      if (size > PROTOCOL_LIMITS.maxPayload)
        return finish({
          error: {
            code: 'INVALID_PARAMS',
            message: m.incognito_too_large({ size: formatBytes(size), most: formatBytes(PROTOCOL_LIMITS.maxPayload) }),
          },
        });
      const reply = await gateway.call('incognito.send', params);
      finish({ model: reply.model, usage: reply.usage });
    } catch (error) {
      if (isConnectionLost(error)) finish({ interrupted: true });
      else if (error instanceof RpcError && error.code === 'ABORTED') finish({ aborted: true });
      else if (error instanceof RpcError) finish({ error: { code: error.code, message: error.message } });
      else finish({ error: { code: 'INTERNAL_ERROR', message: error instanceof Error ? error.message : String(error) } });
    }
  }

  #endRun(live: LiveRun, end: Partial<HistoryMessage>): void {
    live.settle();
    const id = `end:${live.runId}`;
    this.#keys.set(id, `run:${live.runId}`);
    const newMessages = live.toMessages({ id });
    const sources = collectAttachments(this.messages);
    const outside = sources.length > 0 ? { outside: sources } : {};
    this.messages = [...this.messages, ...newMessages.map((message) => ({ ...message, ...outside, ...(message.id === id ? end : {}) }))];
    this.live = null;
  }
}

const withText = (content: HistoryMessage['content'], text: string): HistoryMessage['content'] =>
  typeof content === 'string' ? text : [{ type: 'text', text }, ...content.filter(({ type }) => type !== 'text')];

/** The conversation in the form that the gateway takes; replies without text are left out. */
function toHistory(messages: readonly HistoryMessage[]): IncognitoMessage[] {
  return messages.flatMap(({ role, content }): IncognitoMessage[] => {
    const text = getContentText(content);
    if (role === 'assistant') return text.trim() === '' ? [] : [{ role, content: text }];
    if (role !== 'user') return [];
    const parts = typeof content === 'string' ? [] : content.filter((part) => part.type !== 'text');
    const attachments = parts.map(({ filename = 'file', mimeType, data }) => ({ filename, mimeType, content: data }));
    return [{ role, content: text, ...(attachments.length > 0 ? { attachments } : {}) }];
  });
}
