import { RpcError } from '#shared/rpc/errors.ts';
import type { AttachmentInput, RunUnder } from '#shared/rpc/methods/chat.ts';
import { isChannel } from '../approvals/person.ts';
import { getAttachmentSources, mergeSources, toChannelSource } from '../trust/sources.ts';
import { type MessageRecord, type SessionRecord, sessionKey } from '../vault.ts';
import { firstWords, newSession } from '../sessions.ts';
import { readAttachments } from './attachments.ts';
import type { Completed, Place, RunRequest, RunsDeps } from './deps.ts';
import { Lanes } from './lanes.ts';
import { once, senderOf } from './once.ts';
import { Run } from './run.ts';
import { sanitize } from './sanitize.ts';

export interface SendRequest extends RunRequest {
  message: string;
  attachments?: readonly AttachmentInput[];
  abortPrevious?: boolean;
  /** It is taken in by the run under way: that one ends at its next step, and this one goes on from there, ahead of all that waits. */
  steer?: boolean;
  /** The same message behind its own reply that failed takes its place, for programs ask again by themselves; what failed stays as a branch. */
  repeats?: boolean;
}

/** How long what another host executes in a session may take to end before the session is cleared. */
const CLEAR_MS = 5_000;

/**
 * Runs belong to sessions, not to sockets: one at a time in each session, first come first served; each ends with exactly one
 * terminal event, after what it left was stored.
 */
export class Runs {
  readonly #deps: RunsDeps;
  readonly #lanes = new Lanes<Run>();
  #draining = false;

  constructor(deps: RunsDeps) {
    this.#deps = deps;
  }

  get active(): number {
    return this.#lanes.size;
  }

  /** Runs under way in a session, here or on another host, with the text, and of runs here the thoughts and calls so far; synchronous, so that no delta comes in between. */
  under(key: string): RunUnder[] {
    const { foreign } = this.#deps;
    const current = this.#lanes.current(key);
    if (current?.started) return [current.underWay];
    return foreign.of(key).map(({ id }) => ({ runId: id, text: foreign.textOf(id), reasoning: '', calls: [], pending: [] }));
  }

  /** A run is under way or waits in a session, here or on another host. */
  running(key: string): boolean {
    return this.has(key) || this.#deps.foreign.of(key).length > 0;
  }

  /** Whether this host has a run in a session: any, or that one. */
  has(key: string, runId?: string): boolean {
    return this.#lanes.all(key).some(({ id }) => runId === undefined || id === runId);
  }

  /** A run of this host, under way or waiting. */
  find(runId: string): Run | undefined {
    return this.#lanes.every().find(({ id }) => id === runId);
  }

  /** Resolves when the run has ended; rejects with what ended it otherwise. */
  async send(request: SendRequest): Promise<Completed> {
    const attached = readAttachments(request.attachments ?? []);
    const content = sanitize(request.message, { wordless: attached.parts.length > 0 });
    const key = sessionKey(request.agentId, request.sessionId);
    // The new one waits in line until those have settled.
    if (request.abortPrevious) void this.abort(key);
    const place = (at: number): Promise<Place | Completed> =>
      once(this.#deps.vault, request, key, at, async (id) => {
        const session =
          (await this.#deps.vault.sessions.get(key)) ??
          newSession(request.agentId, request.sessionId, request.title ?? firstWords(content, attached.info[0]?.filename), at);
        const message = { ...messageOf(id, key, content, attached, at), ...(await this.#toOutside(request, attached.info)) };
        const head = await this.#message(session.headId);
        return placed(session, request.repeats ? await this.#beforeFailed(head, message) : head, message);
      });
    return this.#enqueue(key, request, place, request.steer);
  }

  /** Answers the last message of the person again, or that of `messageId`; the earlier reply, and what followed it, stays as a branch. */
  resend(request: RunRequest & { messageId?: string | undefined }): Promise<Completed> {
    const key = sessionKey(request.agentId, request.sessionId);
    return this.#enqueue(key, request, async () => {
      const { session, user } = await this.#userOf(key, request.messageId);
      return { session, message: null, user };
    });
  }

  /** Puts another message beside the last one of the person, or beside that of `messageId`, and answers it; the earlier one stays as a branch. */
  edit(request: RunRequest & { message: string; messageId?: string | undefined }): Promise<Completed> {
    const content = sanitize(request.message);
    const key = sessionKey(request.agentId, request.sessionId);
    return this.#enqueue(key, request, (at) =>
      once(this.#deps.vault, request, key, at, async (id) => {
        const { session, user } = await this.#userOf(key, request.messageId);
        const parent = await this.#message(user.parentId);
        const parts = typeof user.content === 'string' ? [] : user.content.filter((part) => part.type !== 'text');
        const info = user.attachments ?? [];
        const message = { ...messageOf(id, key, content, { parts, info }, at), ...(await this.#toOutside(request, info)) };
        return placed(session, parent, message);
      }),
    );
  }

  /** Makes the branch through a message the active one; where it ends. Of no effect on a run: while there is one, it is refused. */
  async choose(key: string, messageId: string): Promise<string> {
    if (this.running(key)) throw new RpcError('ALREADY_EXISTS', 'A reply is in progress in this session. Wait for it or stop it.');
    const headId = await this.#lanes.between(key, () => this.#deps.vault.messages.choose(key, messageId));
    if (headId === undefined) throw new RpcError('NOT_FOUND', `No message with id "${messageId}" in this session.`);
    return headId;
  }

  /** Aborts what is under way or waits in a session, here (at once) or on another host. The ids of the runs that end by it. */
  async abort(key: string): Promise<string[]> {
    const here = this.abortHere(key);
    return [...here, ...(await this.#deps.foreign.abort(key))];
  }

  /** Aborts what this host executes in a session or has in line there; the ids. */
  abortHere(key: string): string[] {
    const runs = this.#lanes.all(key);
    for (const run of runs) run.abort(new RpcError('ABORTED', 'The run was aborted.'));
    return runs.map((run) => run.id);
  }

  /** Takes a message that waits in line back, by the key that its caller gave it; nothing of it is kept. The runs' ids. */
  takeBack(key: string, principal: string, idempotencyKey: string): string[] {
    const waiting = this.#lanes.all(key).filter((run) => run.isBy(senderOf(principal), idempotencyKey));
    const reason = new RpcError('ABORTED', 'The message was withdrawn before it was sent.', { details: { reason: 'taken_back' } });
    return waiting.filter((run) => this.#lanes.leave(key, run, reason)).map(({ id }) => id);
  }

  /** Aborts one run of this host, under way or waiting. */
  abortRun(runId: string, reason: string): void {
    this.find(runId)?.abort(new RpcError('ABORTED', reason));
  }

  /** Aborts what a principal has asked of this host, under way or waiting. */
  abortOf(principal: string, reason: string): void {
    for (const run of this.#lanes.every()) if (run.isOf(principal)) run.abort(new RpcError('ABORTED', reason));
  }

  /** Ends what is under way and waits in a session, then does `work` with it; what is sent meanwhile comes after. */
  async clear<R>(key: string, work: () => Promise<R>): Promise<R> {
    const { foreign, clock } = this.#deps;
    void this.abort(key);
    return this.#lanes.between(key, async () => {
      const patience = new AbortController();
      const cancel = clock.after(CLEAR_MS, () => patience.abort());
      // One that another host does not end in time is cleared away all the same.
      await foreign.ended(key, patience.signal).catch(() => {});
      cancel();
      const result = await work();
      foreign.release(key);
      return result;
    });
  }

  /** Takes no new runs; resolves when those under way have ended, or aborts them after `ms`. */
  async drain(ms: number): Promise<void> {
    this.#draining = true;
    const cancel = this.#deps.clock.after(ms, () => {
      for (const run of this.#lanes.every()) run.abort(new RpcError('ABORTED', 'The gateway is restarting with a newer version.'));
    });
    await this.#lanes.idle();
    cancel();
  }

  /** Takes its place in line before anything else: what comes right behind it, a message or an abort, must find it there. */
  async #enqueue(key: string, request: RunRequest, place: (at: number) => Promise<Place | Completed>, ahead = false): Promise<Completed> {
    if (this.#draining)
      throw new RpcError('INTERNAL_ERROR', 'The gateway is restarting with a newer version. Try again.', {
        retryable: true,
        retryAfterMs: 1000,
      });
    const agent = this.#deps.agent(request.agentId);
    const chosen = this.#deps.models.resolve(request.model ?? agent.model, request.provider);
    chosen.catch(() => {});
    const run = new Run(key, request, agent, place, { ...this.#deps, steered: () => this.#lanes.ahead(key) !== undefined });
    request.onrun?.(run.id);
    const ended = this.#lanes.run(key, run, async () => run.execute(await chosen), ahead);
    if (ahead) this.#lanes.current(key)?.makeWay();
    return ended;
  }

  async #message(id: string | null): Promise<MessageRecord | undefined> {
    return id === null ? undefined : this.#deps.vault.messages.get(id);
  }

  /** Marks a message of somebody on a channel, who may be anybody, of a key that is not allowed everything, and of whoever attaches a document or a picture. */
  async #toOutside(
    { principal, actsFor = principal, isOwnerAccount = false, conversation = '' }: RunRequest,
    attachments: NonNullable<MessageRecord['attachments']>,
  ): Promise<Pick<MessageRecord, 'outside'>> {
    const channel = isChannel(principal) && !isOwnerAccount ? [toChannelSource(principal.slice('channel:'.length), conversation)] : [];
    const outside = mergeSources(channel, await this.#deps.keySources(actsFor), getAttachmentSources({ content: '', attachments }));
    // An empty list tells a message of the owner from one of a build that stored no sources.
    return outside.length > 0 || isOwnerAccount ? { outside } : {};
  }

  /** What was there before a message that is asked again; else the head. */
  async #beforeFailed(head: MessageRecord | undefined, { content }: MessageRecord): Promise<MessageRecord | undefined> {
    if (head?.role !== 'assistant' || !(head.error || head.aborted)) return head;
    const asked = await this.#message(head.parentId);
    const same = asked?.role === 'user' && JSON.stringify(asked.content) === JSON.stringify(content);
    return same ? this.#message(asked.parentId) : head;
  }

  /** A message of the person by its id; without one the last of the branch. */
  async #userOf(key: string, messageId: string | undefined): Promise<{ session: SessionRecord; user: MessageRecord }> {
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

function placed(session: SessionRecord, parent: MessageRecord | undefined, message: MessageRecord): Place {
  const linked = { ...message, parentId: parent?.id ?? null, depth: parent ? parent.depth + 1 : 0 };
  return { session, message: linked, user: linked };
}

function messageOf(
  id: string,
  key: string,
  text: string,
  { parts, info }: ReturnType<typeof readAttachments>,
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
