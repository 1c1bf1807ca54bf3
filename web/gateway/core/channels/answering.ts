import { RpcError } from '#shared/rpc/errors.ts';
import { matchesWildcard } from '#shared/wildcard.ts';
import { MAIN } from '../agents.ts';
import type { Approvals } from '../approvals/approvals.ts';
import { LIMIT_MS } from '../cron/speak.ts';
import { abortable, pause } from '../providers/watchdog.ts';
import type { Runs } from '../runs/runs.ts';
import type { Settings } from '../settings.ts';
import { sessionKey } from '../vault.ts';
import { backOff } from './back-off.ts';
import { deliver, type DeliveryDeps, filesOf } from './delivery.ts';
import { findHeldSources, MAX_HELD, toHeldReply, toReplyText } from './held-replies.ts';
import { TakenOver } from './inbox.ts';
import { PlatformError } from './platform.ts';
import { mayWrite } from './senders.ts';
import type { PendingMessage } from './state.ts';

/** Maximum number of conversations that are answered concurrently. */
const AT_ONCE = 4;
/** Maximum number of attempts for a run that fails for a temporary reason. */
const RUNS = 3;
/** Age at which an unanswered message is dropped. */
const EXPIRED_MS = 24 * 3_600_000;
/** Interval of typing notifications: a platform shows one for a few seconds. */
const TYPING_MS = 4_000;
const SORRY = 'Sorry, I couldn’t answer that. Please try again later.';

export interface AnsweringDeps extends DeliveryDeps {
  channelId: string;
  runs: Pick<Runs, 'send' | 'abort' | 'abortRun'>;
  approvals(): Promise<Pick<Approvals, 'hold'>>;
  settings(): Settings;
  /** Whether the channel is closing: no new messages are started. */
  closing(): boolean;
  /** Reports why answers do not reach the platform; undefined if they do. */
  tell(problem: string | undefined): void;
  /** Called when another host has taken over the channel. */
  lost(): void;
  fault(error: unknown): RpcError;
}

/** Answers waiting messages: those of one conversation one after another, each message once. */
export class Answering {
  readonly #deps: AnsweringDeps;
  /** Messages in progress, by conversation; commands have a queue of their own. */
  readonly #active = new Map<string, Promise<void>>();
  /** Messages whose answers are held until a person decides. */
  readonly #held = new Set<string>();

  constructor(deps: AnsweringDeps) {
    this.#deps = deps;
  }

  /** Starts every waiting message that can be started. */
  look(): void {
    const { inbox, signal, closing } = this.#deps;
    for (const message of inbox.state.pending) {
      if (signal.aborted || closing()) return;
      if (message.held) {
        void this.#hold(message);
        continue;
      }
      const line = message.command ? `/${message.id}` : message.conversation;
      if (this.#active.has(line) || (!message.command && this.#active.size >= AT_ONCE)) continue;
      const work = this.#settle(message).finally(() => {
        this.#active.delete(line);
        this.look();
      });
      this.#active.set(line, work);
    }
  }

  /** Resolves when no message is in progress. */
  async idle(): Promise<void> {
    while (this.#active.size > 0) await Promise.all(this.#active.values());
  }

  /** Answers a message, and retries as often as the platform fails. Never rejects. */
  async #settle({ id }: PendingMessage): Promise<void> {
    const { inbox, signal, adapter, tell, clock, note, fault } = this.#deps;
    for (let failures = 0; ;) {
      try {
        // The previous attempt may have changed the record.
        const message = inbox.pending(id);
        if (!message || signal.aborted) return;
        if (clock.now() - message.at > EXPIRED_MS && failures > 0) {
          note('Dropped a message that could not be answered within a day', { message: id });
          return await inbox.settle(id, 'messages_failed', clock.now());
        }
        if (!message.answer) await this.#answer(message);
        const answered = inbox.pending(id);
        if (!answered?.answer) return;
        await deliver(this.#deps, id);
        tell(undefined);
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof TakenOver) return this.#deps.lost();
        failures++;
        if (this.#deps.closing()) return;
        const asked = error instanceof PlatformError ? error.retryAfterMs : undefined;
        tell(error instanceof PlatformError ? error.message : fault(error).message);
        await pause(clock, asked ?? backOff(failures, adapter.leastWaitMs), signal).catch(() => {});
      }
    }
  }

  /** Runs the agent and stores its answer. */
  async #answer(message: PendingMessage): Promise<void> {
    const { inbox, adapter, clock } = this.#deps;
    const { id } = message;
    // The message may have waited since before the sender lost access, or since an older build that let everyone write.
    if (!mayWrite(this.#deps.settings().channels[this.#deps.channelId], message)) return inbox.settle(id, null, clock.now());
    if (message.command) return this.#command(message, message.command);
    const typing = this.#typing(message);
    try {
      const { messageId, runId } = await this.#run(message);
      const { channelId, settings, note } = this.#deps;
      const reply = await this.#deps.vault.messages.get(messageId);
      const files = reply && adapter.sendFile ? filesOf(reply.content).length : 0;
      const text = reply ? toReplyText(channelId, message, reply) : '';
      const parts = adapter.split(text, message).filter((part) => part.trim() !== '');
      if (!reply || parts.length + files === 0) return await inbox.settle(id, 'messages_failed', clock.now());
      const answer = { parts, sent: [], ...(files > 0 ? { files: { messageId, sent: 0 } } : {}) };
      const outside = findHeldSources(channelId, message, reply, settings());
      if (outside.length === 0) return await inbox.update(id, (before) => ({ ...before, answer }));
      if (inbox.state.pending.filter(({ held }) => held).length >= MAX_HELD) {
        note(`Dropped a reply: ${MAX_HELD} others are already waiting for approval`, { message: id });
        return await inbox.settle(id, 'messages_failed', clock.now());
      }
      const held = { approvalId: crypto.randomUUID(), expiresAt: clock.now() + EXPIRED_MS, runId, outside, answer };
      await inbox.update(id, (before) => ({ ...before, held }));
    } catch (error) {
      if (error instanceof RpcError) await this.#failed(message, error);
      else throw error;
    } finally {
      typing();
    }
  }

  /** Waits for a person's decision about a held answer, then sends or drops it. Never rejects. */
  async #hold({ id }: PendingMessage): Promise<void> {
    const { inbox, signal, clock, adapter, settings, channelId, note, lost, fault } = this.#deps;
    if (this.#held.has(id)) return;
    this.#held.add(id);
    try {
      for (let failures = 0; !signal.aborted;) {
        try {
          const message = inbox.pending(id);
          if (!message?.held) return;
          const { agentId, sessionId } = placeOf(channelId, message, settings());
          const { answer } = message.held;
          const reply = answer.files && (await this.#deps.vault.messages.get(answer.files.messageId));
          const files = reply ? filesOf(reply.content).map(({ filename }) => filename ?? 'file') : [];
          const question = toHeldReply(channelId, message, message.held, { agentId, sessionId, files });
          if (await (await this.#deps.approvals()).hold(question, signal))
            await inbox.update(id, ({ held: _, ...before }) => ({ ...before, answer }));
          else {
            note('A reply was not approved', { message: id });
            await inbox.settle(id, 'messages_failed', clock.now());
          }
          return;
        } catch (error) {
          if (signal.aborted) return;
          if (error instanceof TakenOver) return lost();
          fault(error);
          await pause(clock, backOff(++failures, adapter.leastWaitMs), signal).catch(() => {});
        }
      }
    } finally {
      this.#held.delete(id);
      this.look();
    }
  }

  async #failed(message: PendingMessage, error: RpcError): Promise<void> {
    const { inbox, clock, signal, note } = this.#deps;
    const { id, failures = 0 } = message;
    // This host is shutting down: the next one starts it again.
    signal.throwIfAborted();
    if (error.code === 'ABORTED' && error.message !== TOO_LONG) {
      note('The reply to a message was stopped', { message: id });
      return inbox.settle(id, null, clock.now());
    }
    if (error.code === 'INTERNAL_ERROR' && failures + 1 < RUNS) {
      await inbox.update(id, (before) => ({ ...before, failures: failures + 1 }));
      throw error;
    }
    note('Could not answer a message', { message: id, error: error.message });
    if (message.isPublic) return inbox.settle(id, 'messages_failed', clock.now());
    await inbox.update(id, (before) => ({ ...before, answer: { parts: [SORRY], sent: [], isApology: true } }));
  }

  async #run(message: PendingMessage): Promise<{ messageId: string; runId: string }> {
    const { channelId, runs, clock, settings, signal } = this.#deps;
    let runId: string | undefined;
    const cancel = clock.after(LIMIT_MS, () => void (runId !== undefined && runs.abortRun(runId, TOO_LONG)));
    const title = message.title.slice(0, 200);
    try {
      // The run itself continues: the host that takes over the channel finds its result.
      const sent = runs.send({
        ...placeOf(channelId, message, settings()),
        message: message.text,
        principal: `channel:${channelId}`,
        conversation: message.conversation,
        // By id only: a name can pass to another account.
        isOwnerAccount: message.isForwarded !== true && (settings().channels[channelId]?.owners?.includes(message.user.id) ?? false),
        tools: settings().channels[channelId]?.tools ?? [],
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
    let said = adapter.help ?? '';
    if (command !== 'help') {
      const { agentId, sessionId } = placeOf(channelId, message, settings());
      const waiting = inbox.state.pending.filter(
        (each) => each.conversation === conversation && !each.command && !each.answer && !each.held,
      );
      const ended = await runs.abort(sessionKey(agentId, sessionId));
      said = command === 'new' ? 'Started a new chat.' : ended.length + waiting.length > 0 ? 'Stopped.' : 'Nothing to stop.';
    }
    await inbox.change((state) => ({
      ...state,
      ...(command === 'new' ? { sessions: { ...state.sessions, [conversation]: message.session + 1 } } : {}),
      pending: state.pending
        // Earlier messages are not answered any more; later ones belong to the new session.
        .filter(
          (each) =>
            command === 'help' || each.conversation !== conversation || each.command || each.answer || each.held || each.at > message.at,
        )
        .map((each) => {
          if (each.id === message.id) return { ...each, answer: { parts: [said], sent: [], isApology: true } };
          return command === 'new' && each.conversation === conversation && each.at > message.at
            ? { ...each, session: message.session + 1 }
            : each;
        }),
    }));
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
        await pause(clock, TYPING_MS, both).catch(() => {});
      }
    };
    void show();
    return () => ends.abort();
  }
}

const TOO_LONG = 'Timed out after 10 minutes.';
/**
 * Agent and session for a message: by the first binding that matches `<channel>:<name>`, `<channel>:<id>` or the channel, else by the
 * channel's own setting.
 */
export function placeOf(
  channelId: string,
  { user, conversation, session }: Pick<PendingMessage, 'user' | 'conversation' | 'session'>,
  { bindings, channels }: Pick<Settings, 'bindings' | 'channels'>,
): { agentId: string; sessionId: string } {
  const names = [channelId, `${channelId}:${user.name}`, `${channelId}:${user.id}`];
  const bound = bindings.find(({ pattern }) => names.some((name) => matchesWildcard(pattern, name)));
  return {
    agentId: bound?.agentId ?? channels[channelId]?.agentId ?? MAIN,
    sessionId: `${channelId}-${conversation}${session === 0 ? '' : `-${session}`}`.slice(0, 128),
  };
}
