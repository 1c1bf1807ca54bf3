import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { AttachmentInput, RunningRun } from '#shared/rpc/methods/chat-contracts.ts';
import { isChannel } from '../../system/person.ts';
import { getAttachmentSources, getMessageSources, mergeSources, toChannelSource } from '../trust/content-sources.ts';
import { type MessageRecord, type SessionRecord, toSessionKey } from '../../storage/chat-records.ts';
import { getFirstText, createSession, isUnnamed, toFirstTitle } from '../../storage/session-views.ts';
import { parseAttachments } from './attachments.ts';
import type { RunResult, RunPosition, RunRequest, RunsDeps, SelectedModel } from './run-types.ts';
import { findProject } from '../projects/chat-workspaces.ts';
import type { Agent } from '../agents.ts';
import { KeyedQueue } from '#shared/async/keyed-queue.ts';
import { createNotLoadedError, lazy } from '#shared/async/lazy.ts';
import { resolveIdempotentSend, toSender } from './idempotent-send.ts';
import { Run } from './run.ts';
import { sanitizeMessage } from './sanitize.ts';

export interface SendRequest extends RunRequest {
  message: string;
  attachments?: readonly AttachmentInput[];
  abortPrevious?: boolean;
  /** The active run ends at its next step, and this message continues from there, ahead of all queued ones. */
  steer?: boolean;
  /**
   * If the message repeats one whose reply failed, it replaces it, because clients retry automatically; the failed reply stays as a branch.
   */
  repeats?: boolean;
}

const loadExecution = lazy(() => import('./run-execution.ts'));

/** How long, in milliseconds, to wait for another host's run to end before the session is cleared. */
const CLEAR_TIMEOUT_MS = 5_000;

/**
 * Runs belong to sessions, not to connections: one at a time in each session, in order; each ends with exactly one terminal event, after
 * its output was stored.
 */
export class Runs {
  readonly #deps: RunsDeps;
  readonly #queue = new KeyedQueue<Run>();
  /** Limits of the sessions of sub-agents that are working. */
  readonly #sessionLimits = new Map<string, (request: RunRequest) => RunRequest>();
  #draining = false;

  constructor(deps: RunsDeps) {
    this.#deps = deps;
  }

  get active(): number {
    return this.#queue.size;
  }

  /**
   * Active runs of a session, here or on another host, with their text, and for runs here the thoughts and calls so far. Synchronous, so
   * that no delta is missed.
   */
  listActive(key: string): RunningRun[] {
    const { remoteRuns } = this.#deps;
    const progress = this.#queue.current(key)?.progress;
    if (progress) return [progress];
    return remoteRuns
      .listBySession(key)
      .map(({ id }) => ({ runId: id, text: remoteRuns.getText(id), reasoning: '', calls: [], pending: [] }));
  }

  /** Whether a session has an active or queued run, here or on another host. */
  isRunning(key: string): boolean {
    return this.has(key) || this.#deps.remoteRuns.listBySession(key).length > 0;
  }

  /** Whether this host has any run, or this one, in a session. */
  has(key: string, runId?: string): boolean {
    return this.#queue.list(key).some(({ id }) => runId === undefined || id === runId);
  }

  /** A run of this host, active or queued. */
  find(runId: string): Run | undefined {
    return this.#queue.listAll().find(({ id }) => id === runId);
  }

  /** Resolves when the run has completed; rejects with the reason if it failed. */
  async send(request: SendRequest): Promise<RunResult> {
    const attached = parseAttachments(request.attachments ?? []);
    const content = sanitizeMessage(request.message, { wordless: attached.parts.length > 0 });
    const key = toSessionKey(request.agentId, request.sessionId);
    // The new run is queued until those have settled.
    if (request.abortPrevious) void this.abort(key);
    const getPosition = (at: number): Promise<RunPosition | RunResult> =>
      resolveIdempotentSend(this.#deps.vault, request, key, at, async (id) => {
        const session = await this.#getSession(key, request, request.title ?? getFirstText(content, attached.info[0]?.filename), at);
        const { quotedUrls } = request;
        const message = {
          ...createUserMessage(id, key, content, attached, at),
          ...(await this.#toOutside(request, attached.info)),
          ...(quotedUrls ? { quotedUrls: [...quotedUrls] } : {}),
        };
        const head = await this.#getMessage(session.headId);
        return toPosition(session, request.repeats ? await this.#findRepeatParent(head, message) : head, message);
      });
    return this.#enqueue(key, request, getPosition, request.steer);
  }

  /** The session of a message, or a new record for one that begins with `first`. */
  async #getSession(key: string, { agentId, sessionId }: RunRequest, first: string, at: number): Promise<SessionRecord> {
    const { sessions } = this.#deps.vault;
    const session = await sessions.get(key);
    if (!session) return createSession(agentId, sessionId, first, at);
    return (isUnnamed(session) && (await sessions.update(key, { title: toFirstTitle(first) }))) || session;
  }

  /** Answers the user's last message, or `messageId`, again. The earlier reply, and all that followed it, stays as a branch. */
  resend(request: RunRequest & { messageId?: string | undefined }): Promise<RunResult> {
    const key = toSessionKey(request.agentId, request.sessionId);
    return this.#enqueue(key, request, async () => {
      const { session, user } = await this.#findUserMessage(key, request.messageId);
      return { session, message: null, user };
    });
  }

  /** Adds an alternative to the user's last message, or to `messageId`, and answers it; the earlier one stays as a branch. */
  edit(request: RunRequest & { message: string; messageId?: string | undefined }): Promise<RunResult> {
    const content = sanitizeMessage(request.message);
    const key = toSessionKey(request.agentId, request.sessionId);
    return this.#enqueue(key, request, (at) =>
      resolveIdempotentSend(this.#deps.vault, request, key, at, async (id) => {
        const { session, user } = await this.#findUserMessage(key, request.messageId);
        const parent = await this.#getMessage(user.parentId);
        const parts = typeof user.content === 'string' ? [] : user.content.filter((part) => part.type !== 'text');
        const info = user.attachments ?? [];
        const outside = await this.#toOutside(request, info, getMessageSources(user));
        const message = { ...createUserMessage(id, key, content, { parts, info }, at), ...outside };
        return toPosition(session, parent, message);
      }),
    );
  }

  /** Makes the branch through a message the active one. Resolves with the id of its last message. Fails if there is an active run. */
  async selectBranch(key: string, messageId: string): Promise<string> {
    if (this.isRunning(key)) throw new RpcError('ALREADY_EXISTS', 'A reply is in progress in this session. Wait for it or stop it.');
    const headId = await this.#queue.runExclusive(key, () => this.#deps.vault.messages.selectBranch(key, messageId));
    if (headId === undefined) throw new RpcError('NOT_FOUND', `No message with id "${messageId}" in this session.`);
    return headId;
  }

  /** Aborts active and queued runs of a session, here (immediately) or on another host. Resolves with the ids of the aborted runs. */
  async abort(key: string): Promise<string[]> {
    const local = this.abortLocal(key);
    return [...local, ...(await this.#deps.remoteRuns.abort(key))];
  }

  /** Aborts this host's active and queued runs of a session; returns their ids. */
  abortLocal(key: string): string[] {
    const runs = this.#queue.list(key);
    for (const run of runs) run.abort(new RpcError('ABORTED', 'The run was aborted.'));
    return runs.map((run) => run.id);
  }

  /** Removes a queued message by the idempotency key of its call; nothing of it is stored. Returns the ids of its runs. */
  withdraw(key: string, principal: string, idempotencyKey: string): string[] {
    const queuedRuns = this.#queue.list(key).filter((run) => run.isSentWith(toSender(principal), idempotencyKey));
    const reason = new RpcError('ABORTED', 'The message was withdrawn before it was sent.', { details: { reason: 'taken_back' } });
    return queuedRuns.filter((run) => this.#queue.remove(key, run, reason)).map(({ id }) => id);
  }

  /** Aborts one run of this host, active or queued. */
  abortRun(runId: string, reason: string): void {
    this.find(runId)?.abort(new RpcError('ABORTED', reason));
  }

  /** Aborts all runs that a principal started on this host, active or queued. */
  abortByPrincipal(principal: string, reason: string): void {
    for (const run of this.#queue.listAll()) if (run.isStartedBy(principal)) run.abort(new RpcError('ABORTED', reason));
  }

  /** Ends active and queued runs of a session, then calls `work`; messages sent meanwhile come after it. */
  async clear<R>(key: string, work: () => Promise<R>): Promise<R> {
    const { remoteRuns, clock } = this.#deps;
    void this.abort(key);
    return this.#queue.runExclusive(key, async () => {
      const timeout = new AbortController();
      const cancel = clock.after(CLEAR_TIMEOUT_MS, () => timeout.abort());
      // Clears even if another host does not end its run in time.
      await remoteRuns.waitUntilEnded(key, timeout.signal).catch(() => {});
      cancel();
      const result = await work();
      remoteRuns.release(key);
      return result;
    });
  }

  /** Changes all requests to a session by `limit`, which may throw, until the result is called. */
  limitSession(key: string, limit: (request: RunRequest) => RunRequest): () => void {
    this.#sessionLimits.set(key, limit);
    return () => this.#sessionLimits.delete(key);
  }

  /** Resolves when the session has no run on this host. */
  async whenSettled(key: string): Promise<void> {
    while (this.has(key)) await this.#queue.runExclusive(key, () => Promise.resolve());
  }

  /** Rejects new runs; resolves when active ones have ended, or aborts them after `ms` milliseconds. */
  async drain(ms: number): Promise<void> {
    this.#draining = true;
    const cancel = this.#deps.clock.after(ms, () => {
      for (const run of this.#queue.listAll()) run.abort(new RpcError('ABORTED', 'The gateway is restarting with a newer version.'));
    });
    await this.#queue.whenIdle();
    cancel();
  }

  /** Queued before anything else: a message or abort that follows immediately must find it. */
  async #enqueue(
    key: string,
    sent: RunRequest,
    getPosition: (at: number) => Promise<RunPosition | RunResult>,
    isPriority = false,
  ): Promise<RunResult> {
    if (this.#draining)
      throw new RpcError('INTERNAL_ERROR', 'The gateway is restarting with a newer version. Try again.', {
        retryable: true,
        retryAfterMs: 1000,
      });
    const request = this.#sessionLimits.get(key)?.(sent) ?? sent;
    const agent = this.#deps.agent(request.agentId);
    const chosen = this.#resolveModel(key, request, agent);
    chosen.catch(() => {});
    const deps = { ...this.#deps, hasSteering: () => this.#queue.getNextPriority(key) !== undefined };
    const run = new Run({ key, request, agent, getPosition, deps });
    request.onrun?.(run.id);
    const ended = this.#queue.run(key, run, async () => this.#execute(run, await chosen), isPriority);
    if (isPriority) this.#queue.current(key)?.yieldToSteering();
    return ended;
  }

  /** Runs to the end. The single terminal event is emitted after the outcome is stored, and before this settles. */
  async #execute(run: Run, chosen: SelectedModel): Promise<RunResult> {
    const { queued, ids, signal } = run;
    const { RunExecution } = await loadExecution().catch((cause: unknown) => {
      const error = createNotLoadedError(cause);
      this.#deps.hub.emit({ event: 'chat.error', payload: { ...ids, error: error.toShape() } }, queued.key);
      throw error;
    });
    run.execution = new RunExecution({ ...queued, ids, chosen, signal, yieldReason: () => run.yieldReason });
    return run.execution.execute();
  }

  /** The model of the request, or else of the session's project, or else of the agent. Throws `NOT_FOUND`. */
  async #resolveModel(key: string, { model, provider }: RunRequest, agent: Agent): Promise<SelectedModel> {
    const { models, vault } = this.#deps;
    const project = model === undefined ? await findProject(vault, await vault.sessions.get(key)) : undefined;
    return models.resolve(model ?? project?.model ?? agent.model, provider);
  }

  async #getMessage(id: string | null): Promise<MessageRecord | undefined> {
    return id === null ? undefined : this.#deps.vault.messages.get(id);
  }

  /**
   * Outside sources of a message: channel senders other than the owner, keys without full access, quotations, attachments, and the message
   * that it edits, since an edit keeps words of it.
   */
  async #toOutside(
    { principal, actsFor = principal, isOwnerAccount = false, conversation = '', quotedOutside, quotedUrls }: RunRequest,
    attachments: NonNullable<MessageRecord['attachments']>,
    edited: readonly string[] = [],
  ): Promise<Pick<MessageRecord, 'outside'>> {
    const isFromStranger = isChannel(principal) && !isOwnerAccount && !quotedUrls;
    const channel = isFromStranger ? [toChannelSource(principal.slice('channel:'.length), conversation)] : [];
    // Files of a stranger come from the conversation, as its texts do.
    const own = [edited, quotedOutside, isFromStranger ? [] : getAttachmentSources({ content: '', attachments })];
    const outside = mergeSources(channel, await this.#deps.keySources(actsFor), ...own);
    // An empty list distinguishes a message of the owner from one of a build that stored no sources.
    return outside.length > 0 || isOwnerAccount ? { outside } : {};
  }

  /** The parent of a failed message that is being repeated; otherwise the head. */
  async #findRepeatParent(head: MessageRecord | undefined, { content }: MessageRecord): Promise<MessageRecord | undefined> {
    if (head?.role !== 'assistant' || !(head.error || head.aborted)) return head;
    const previous = await this.#getMessage(head.parentId);
    const same = previous?.role === 'user' && JSON.stringify(previous.content) === JSON.stringify(content);
    return same ? this.#getMessage(previous.parentId) : head;
  }

  /** A user message by its id; by default the last of the branch. */
  async #findUserMessage(key: string, messageId: string | undefined): Promise<{ session: SessionRecord; user: MessageRecord }> {
    const session = await this.#deps.vault.sessions.get(key);
    if (!session) throw new RpcError('NOT_FOUND', `No session with id "${key.split('/').at(-1) ?? key}".`);
    if (messageId !== undefined) {
      const user = await this.#deps.vault.messages.get(messageId);
      if (user?.sessionKey === key && user.role === 'user') return { session, user };
      throw new RpcError('NOT_FOUND', `No user message with id "${messageId}" in this session.`);
    }
    for (let id = session.headId; id !== null;) {
      const message = await this.#deps.vault.messages.get(id);
      if (message?.role === 'user') return { session, user: message };
      id = message?.parentId ?? null;
    }
    throw new RpcError('NOT_FOUND', 'The session has no message to reply to.');
  }
}

function toPosition(session: SessionRecord, parent: MessageRecord | undefined, message: MessageRecord): RunPosition {
  const linked = { ...message, parentId: parent?.id ?? null, depth: parent ? parent.depth + 1 : 0 };
  return { session, message: linked, user: linked };
}

function createUserMessage(
  id: string,
  key: string,
  text: string,
  { parts, info }: ReturnType<typeof parseAttachments>,
  timestamp: number,
): MessageRecord {
  return {
    id,
    sessionKey: key,
    parentId: null,
    depth: 0,
    role: 'user',
    content: parts.length === 0 ? text : [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...parts],
    timestamp,
    ...(info.length === 0 ? {} : { attachments: info }),
  };
}
