import { RpcError } from '#shared/rpc/rpc-error.ts';
import { matchesWildcard } from '#shared/wildcard.ts';
import { MAIN_AGENT_ID } from '../../config/main-agent.ts';
import type { Approvals } from '../../agent/approvals/approvals.ts';
import { RUN_TIMEOUT_MS } from '../cron/unattended-run.ts';
import { abortable, sleep } from '#shared/async/watchdog.ts';
import type { Runs } from '../../agent/runs/runs.ts';
import type { Settings } from '../../config/settings-schema.ts';
import { toSessionKey } from '../../storage/chat-records.ts';
import { computeBackoff } from '#shared/async/backoff.ts';
import { deliverAnswer, type DeliveryDeps, getFiles } from './delivery.ts';
import { findHeldSources, MAX_HELD, toHeldReply, toReplyText } from './held-replies.ts';
import { TakenOverError } from './inbox.ts';
import { type ChannelMedia, MAX_SPOKEN_CHARS } from './media/channel-media.ts';
import type { ReadMessage } from './media/read-files.ts';
import { PlatformError } from './platform-request.ts';
import { canWrite } from './senders.ts';
import type { PendingMessage } from '../../storage/records/channel-state.ts';
import type { Lazy } from '../../system/modules.ts';

/** Maximum number of conversations that are answered concurrently. */
const MAX_CONCURRENT = 4;
/** Maximum number of attempts for a run that fails for a temporary reason. */
const MAX_ATTEMPTS = 3;
/** Age at which an unanswered message is dropped. */
const MAX_AGE_MS = 24 * 3_600_000;
/** Interval of typing notifications: a platform shows one for a few seconds. */
const TYPING_INTERVAL_MS = 4_000;
/** Shown on a message while it is answered. */
const WORKING_EMOJI = '👀';
const NO_TEXT = '[The message has no text. Its content can’t be shown here.]';
const APOLOGY = 'Sorry, I couldn’t answer that. Please try again later.';

interface ChannelResponderDeps extends DeliveryDeps {
  channelId: string;
  runs: Pick<Runs, 'send' | 'abort' | 'abortRun'>;
  media: ChannelMedia;
  approvalService: Lazy<{ approvals: Pick<Approvals, 'hold'> }>;
  settings(): Settings;
  /** Whether the channel is closing: no new messages are started. */
  isClosing(): boolean;
  /** Reports why answers do not reach the platform; undefined if they do. */
  reportProblem(problem: string | undefined): void;
  /** Called when another host has taken over the channel. */
  onTakenOver(): void;
  fault(error: unknown): RpcError;
}

/** Answers waiting messages: those of one conversation one after another, each message once. */
export class ChannelResponder {
  readonly #deps: ChannelResponderDeps;
  /** Messages in progress, by conversation; commands have a queue of their own. */
  readonly #active = new Map<string, Promise<void>>();
  /** Messages whose answers are held until a person decides. */
  readonly #awaitingApproval = new Set<string>();

  constructor(deps: ChannelResponderDeps) {
    this.#deps = deps;
  }

  /** Starts every waiting message that can be started. */
  startPending(): void {
    const { inbox, signal, isClosing } = this.#deps;
    for (const message of inbox.state.pending) {
      if (signal.aborted || isClosing()) return;
      if (message.held) {
        void this.#hold(message);
        continue;
      }
      const queueKey = message.command ? `/${message.id}` : message.conversation;
      if (this.#active.has(queueKey) || (!message.command && this.#active.size >= MAX_CONCURRENT)) continue;
      const work = this.#process(message).finally(() => {
        this.#active.delete(queueKey);
        this.startPending();
      });
      this.#active.set(queueKey, work);
    }
  }

  /** Resolves when no message is in progress. */
  async whenIdle(): Promise<void> {
    while (this.#active.size > 0) await Promise.all(this.#active.values());
  }

  /** Answers a message, and retries as often as the platform fails. Never rejects. */
  async #process({ id }: PendingMessage): Promise<void> {
    const { inbox, signal, adapter, reportProblem, clock, warn, fault } = this.#deps;
    for (let failures = 0; ;) {
      try {
        // The previous attempt may have changed the record.
        const message = inbox.pending(id);
        if (!message || signal.aborted) return;
        if (clock.now() - message.at > MAX_AGE_MS && failures > 0) {
          warn('Dropped a message that could not be answered within a day', { message: id });
          return await inbox.remove(id, 'messages_failed', clock.now());
        }
        if (!message.answer) await this.#answer(message);
        const pending = inbox.pending(id);
        if (!pending?.answer) return;
        await deliverAnswer(this.#deps, id);
        reportProblem(undefined);
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof TakenOverError) return this.#deps.onTakenOver();
        failures++;
        if (this.#deps.isClosing()) return;
        const retryAfterMs = error instanceof PlatformError ? error.retryAfterMs : undefined;
        reportProblem(error instanceof PlatformError ? error.message : fault(error).message);
        await sleep(clock, retryAfterMs ?? computeBackoff(failures, adapter.minRetryMs), signal).catch(() => {});
      }
    }
  }

  /** Runs the agent and stores its answer. */
  async #answer(message: PendingMessage): Promise<void> {
    const { inbox, adapter, clock } = this.#deps;
    const { id } = message;
    // The message may have waited since before the sender lost access, or since an older build that let everyone write.
    if (!canWrite(this.#deps.settings().channels[this.#deps.channelId], message)) return inbox.remove(id, null, clock.now());
    if (message.command) return this.#command(message, message.command);
    inbox.markStarted(id);
    const stops = [this.#typing(message), this.#react(message)];
    try {
      const { channelId, settings, warn } = this.#deps;
      const read = await this.#readFiles(message);
      if (read.text === '' && read.attachments.length === 0) {
        const parts = adapter.split(read.problems.join('\n'), message);
        return await inbox.update(id, (before) => ({ ...before, answer: { parts, sent: [], isApology: true } }));
      }
      const { messageId, runId } = await this.#run(message, read);
      const reply = await this.#deps.vault.messages.get(messageId);
      const files = reply && adapter.sendFile ? getFiles(reply.content).length : 0;
      const text = reply ? [toReplyText(channelId, message, reply), ...read.problems].join('\n\n').trim() : '';
      const parts = adapter.split(text, message).filter((part) => part.trim() !== '');
      if (!reply || parts.length + files === 0) return await inbox.remove(id, 'messages_failed', clock.now());
      const answer = { parts, sent: [], ...(files > 0 ? { files: { messageId, sent: 0 } } : {}), ...this.#toSpoken(message, text) };
      const outside = findHeldSources(channelId, message, reply, settings());
      if (outside.length === 0) return await inbox.update(id, (before) => ({ ...before, answer }));
      if (inbox.state.pending.filter(({ held }) => held).length >= MAX_HELD) {
        warn(`Dropped a reply: ${MAX_HELD} others are already waiting for approval`, { message: id });
        return await inbox.remove(id, 'messages_failed', clock.now());
      }
      const held = { approvalId: crypto.randomUUID(), expiresAt: clock.now() + MAX_AGE_MS, runId, outside, answer };
      await inbox.update(id, (before) => ({ ...before, held }));
    } catch (error) {
      if (error instanceof RpcError) await this.#handleFailure(message, error);
      else throw error;
    } finally {
      for (const stop of stops) stop();
    }
  }

  /** Waits for a person's decision about a held answer, then sends or drops it. Never rejects. */
  async #hold({ id }: PendingMessage): Promise<void> {
    const { inbox, signal, clock, adapter, settings, channelId, warn, onTakenOver, fault } = this.#deps;
    if (this.#awaitingApproval.has(id)) return;
    this.#awaitingApproval.add(id);
    try {
      for (let failures = 0; !signal.aborted;) {
        try {
          const message = inbox.pending(id);
          if (!message?.held) return;
          const { agentId, sessionId } = resolveSession(channelId, message, settings());
          const { answer } = message.held;
          const reply = answer.files && (await this.#deps.vault.messages.get(answer.files.messageId));
          const files = reply ? getFiles(reply.content).map(({ filename }) => filename ?? 'file') : [];
          const question = toHeldReply(channelId, message, message.held, { agentId, sessionId, files });
          if (await (await this.#deps.approvalService.load()).approvals.hold(question, signal))
            await inbox.update(id, ({ held: _, ...before }) => ({ ...before, answer }));
          else {
            warn('A reply was not approved', { message: id });
            await inbox.remove(id, 'messages_failed', clock.now());
          }
          return;
        } catch (error) {
          if (signal.aborted) return;
          if (error instanceof TakenOverError) return onTakenOver();
          fault(error);
          await sleep(clock, computeBackoff(++failures, adapter.minRetryMs), signal).catch(() => {});
        }
      }
    } finally {
      this.#awaitingApproval.delete(id);
      this.startPending();
    }
  }

  async #handleFailure(message: PendingMessage, error: RpcError): Promise<void> {
    const { inbox, clock, signal, warn } = this.#deps;
    const { id, failures = 0 } = message;
    // This host is shutting down: the next one starts it again.
    signal.throwIfAborted();
    if (error.code === 'ABORTED' && error.message !== TIMED_OUT) {
      warn('The reply to a message was stopped', { message: id });
      return inbox.remove(id, null, clock.now());
    }
    if (error.code === 'INTERNAL_ERROR' && failures + 1 < MAX_ATTEMPTS) {
      await inbox.update(id, (before) => ({ ...before, failures: failures + 1 }));
      throw error;
    }
    warn('Could not answer a message', { message: id, error: error.message });
    if (message.isPublic) return inbox.remove(id, 'messages_failed', clock.now());
    await inbox.update(id, (before) => ({ ...before, answer: { parts: [APOLOGY], sent: [], isApology: true } }));
  }

  /** The message with the content of its files. */
  async #readFiles(message: PendingMessage): Promise<ReadMessage> {
    if (!message.files?.length) return { text: message.text || NO_TEXT, attachments: [], outside: [], problems: [] };
    const { adapter, media, channelId, signal } = this.#deps;
    const { readFiles } = await import('./media/read-files.ts');
    return readFiles(message, { adapter, media, principal: `channel:${channelId}`, signal });
  }

  /** A message sent by voice is answered by voice too, unless the reply is long. */
  #toSpoken({ isVoice }: PendingMessage, text: string): { spoken?: string } {
    const { adapter, media, channelId, settings } = this.#deps;
    const isWanted = isVoice === true && settings().channels[channelId]?.voiceReplies !== false;
    return isWanted && adapter.sendVoice && media.canSpeak && text !== '' && text.length <= MAX_SPOKEN_CHARS ? { spoken: text } : {};
  }

  async #run(message: PendingMessage, { text, attachments, outside }: ReadMessage): Promise<{ messageId: string; runId: string }> {
    const { channelId, runs, clock, settings, signal } = this.#deps;
    let runId: string | undefined;
    const cancel = clock.after(RUN_TIMEOUT_MS, () => void (runId !== undefined && runs.abortRun(runId, TIMED_OUT)));
    const title = message.title.slice(0, 200);
    // By id only: a name can pass to another account.
    const isOwnerAccount = message.isForwarded !== true && (settings().channels[channelId]?.owners?.includes(message.user.id) ?? false);
    try {
      // The run itself continues: the host that takes over the channel finds its result.
      const sent = runs.send({
        ...resolveSession(channelId, message, settings()),
        message: text,
        attachments,
        principal: `channel:${channelId}`,
        conversation: message.conversation,
        isOwnerAccount,
        // All that a stranger sends comes from the conversation.
        ...(isOwnerAccount ? { quotedOutside: outside } : {}),
        tools: settings().channels[channelId]?.tools ?? [],
        sourceParameters: settings().channels[channelId]?.parameters,
        idempotencyKey: message.id,
        onrun: (id) => (runId = id),
        ...(title === '' ? {} : { title }),
      });
      return await abortable(sent, signal);
    } finally {
      cancel();
    }
  }

  async #command(message: PendingMessage, command: NonNullable<PendingMessage['command']>): Promise<void> {
    const { inbox, adapter, runs, channelId, settings } = this.#deps;
    const { conversation } = message;
    let text = adapter.help ?? '';
    if (command !== 'help') {
      const { agentId, sessionId } = resolveSession(channelId, message, settings());
      const pendingMessages = inbox.state.pending.filter(
        (pendingMessage) =>
          pendingMessage.conversation === conversation && !pendingMessage.command && !pendingMessage.answer && !pendingMessage.held,
      );
      const ended = await runs.abort(toSessionKey(agentId, sessionId));
      text = command === 'new' ? 'Started a new chat.' : ended.length + pendingMessages.length > 0 ? 'Stopped.' : 'Nothing to stop.';
    }
    await inbox.change((state) => ({
      ...state,
      ...(command === 'new' ? { sessions: { ...state.sessions, [conversation]: message.session + 1 } } : {}),
      pending: state.pending
        // Earlier messages are not answered any more; later ones belong to the new session.
        .filter(
          (pendingMessage) =>
            command === 'help' ||
            pendingMessage.conversation !== conversation ||
            pendingMessage.command ||
            pendingMessage.answer ||
            pendingMessage.held ||
            pendingMessage.at > message.at,
        )
        .map((each) => {
          if (each.id === message.id) return { ...each, answer: { parts: [text], sent: [], isApology: true } };
          return command === 'new' && each.conversation === conversation && each.at > message.at
            ? { ...each, session: message.session + 1 }
            : each;
        }),
    }));
  }

  /** Reacts to a message while it is answered, if the settings say so; returns a function that removes the reaction. */
  #react(message: PendingMessage): () => void {
    const { adapter, settings, channelId, signal } = this.#deps;
    if (!adapter.react || settings().channels[channelId]?.reactions !== true) return () => {};
    // Best effort.
    const shown = adapter.react(message, WORKING_EMOJI, signal).catch(() => {});
    return () => void shown.then(() => adapter.react?.(message, null, signal)).catch(() => {});
  }

  /** Shows a typing indicator; returns a function that stops it. */
  #typing(message: PendingMessage): () => void {
    const { adapter, clock, signal } = this.#deps;
    if (!adapter.typing) return () => {};
    const ends = new AbortController();
    const both = AbortSignal.any([signal, ends.signal]);
    const show = async (): Promise<void> => {
      while (!both.aborted) {
        // Best effort.
        await adapter.typing?.(message, both).catch(() => {});
        await sleep(clock, TYPING_INTERVAL_MS, both).catch(() => {});
      }
    };
    void show();
    return () => ends.abort();
  }
}

const TIMED_OUT = 'Timed out after 10 minutes.';
/**
 * Agent and session for a message: by the first binding that matches `<channel>:<name>`, `<channel>:<id>` or the channel, else by the
 * channel's own setting.
 */
function resolveSession(
  channelId: string,
  { user, conversation, session }: Pick<PendingMessage, 'user' | 'conversation' | 'session'>,
  { bindings, channels }: Pick<Settings, 'bindings' | 'channels'>,
): { agentId: string; sessionId: string } {
  const names = [channelId, `${channelId}:${user.name}`, `${channelId}:${user.id}`];
  const bound = bindings.find(({ pattern }) => names.some((name) => matchesWildcard(pattern, name)));
  return {
    agentId: bound?.agentId ?? channels[channelId]?.agentId ?? MAIN_AGENT_ID,
    sessionId: `${channelId}-${conversation}${session === 0 ? '' : `-${session}`}`.slice(0, 128),
  };
}
