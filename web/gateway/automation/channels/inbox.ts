import type { Collection } from '../../storage/vault-interface.ts';
import type { DeletedMessage, SearchBudget, PollResult } from './channel-adapter.ts';
import { getPendingRequests } from './senders.ts';
import {
  type ChannelState,
  type IncomingMessage,
  createChannelState,
  type PendingMessage,
  type SenderRequest,
} from '../../storage/records/channel-state.ts';

/** A text sent in reply to a message without asking an agent. `request`: of the unknown sender that gets a code. */
export interface FixedReply {
  text: string;
  request?: SenderRequest;
}

/** A message with a fixed answer. Its text is dropped, so no model gets it. */
const toFixedReply = ({ files: _, ...message }: IncomingMessage, { text }: FixedReply): Omit<PendingMessage, 'session'> => ({
  ...message,
  ...{ text: '', title: '', command: 'help' as const },
  answer: { parts: [text], sent: [], isApology: true },
});

/** Number of message ids that are remembered: a platform repeats a message soon, if at all. */
const MAX_SEEN_IDS = 500;
/** Number of conversations whose last message is remembered. */
const MAX_LAST = 500;

/** Another host has taken over the channel and continues what was started here. */
export class TakenOverError extends Error {
  override name = 'TakenOverError';
}

/** The stored state of a channel, in one record; every change is strict. */
export class Inbox {
  readonly #states: Collection<ChannelState>;
  readonly #id: string;
  #state: ChannelState;
  /** Messages whose runs have been started here: an edit comes too late for them. */
  readonly #started = new Set<string>();

  private constructor(states: Collection<ChannelState>, state: ChannelState) {
    this.#states = states;
    this.#id = state.id;
    this.#state = state;
  }

  /** Takes over the record from the previous host. */
  static async open(states: Collection<ChannelState>, id: string): Promise<Inbox> {
    const opened = await states.update(id, (before = createChannelState(id)) => ({
      ...before,
      fence: before.fence + 1,
      metrics: { ...before.metrics, connected_since: null },
    }));
    return new Inbox(states, opened ?? createChannelState(id));
  }

  get state(): ChannelState {
    return this.#state;
  }

  pending(id: string): PendingMessage | undefined {
    return this.#state.pending.find((message) => message.id === id);
  }

  /** Changes the state. Throws `TakenOverError`. */
  async change(change: (state: ChannelState) => ChannelState): Promise<void> {
    const { fence } = this.#state;
    let isLost = false;
    const stored = await this.#states.update(this.#id, (before) => {
      // After the data was cleared, start with a new state.
      if (before && before.fence !== fence) {
        isLost = true;
        return undefined;
      }
      return change(before ?? { ...createChannelState(this.#id), fence });
    });
    if (isLost || !stored) throw new TakenOverError('Another gateway has taken over the channel');
    this.#state = stored;
  }

  /** Stores new messages and read positions in one write, without deleted ones; repeated messages are ignored. */
  async add(
    {
      messages,
      deleted = [],
      cursors,
      replies = new Map(),
    }: Pick<PollResult, 'messages' | 'deleted' | 'cursors'> & { replies?: ReadonlyMap<string, FixedReply> },
    now: number,
  ): Promise<void> {
    const same = Object.entries(cursors).every(([name, value]) => this.#state.cursors[name] === value);
    if (same && messages.length + deleted.length === 0) return;
    await this.change((state) => {
      const seenIds = new Set(state.seen);
      const pending = [...state.pending];
      const last = new Map(Object.entries(state.last ?? {}));
      const requests = [...replies.values()].flatMap(({ request }) => request ?? []);
      let receivedCount = 0;
      for (const message of messages) {
        if (seenIds.has(message.id)) continue;
        seenIds.add(message.id);
        const { conversation, platformId } = message;
        const reply = replies.get(message.id);
        if (message.isEdit) {
          const edited = pending.findIndex((each) => this.#isWaitingFor(each, message));
          const before = pending[edited];
          if (before) pending[edited] = { ...before, text: message.text };
          // Of the answered messages only the last one is answered again.
          if (before || platformId === undefined || last.get(conversation) !== platformId) continue;
        } else if (platformId !== undefined) {
          last.delete(conversation);
          last.set(conversation, platformId);
        }
        pending.push({ ...(reply ? toFixedReply(message, reply) : message), session: state.sessions[conversation] ?? 0 });
        if (!reply) receivedCount++;
      }
      const { metrics } = state;
      return {
        ...state,
        cursors: { ...state.cursors, ...cursors },
        pending: pending.filter((message) => !deleted.some((each) => this.#isDeleted(message, each))),
        seen: [...seenIds].slice(-MAX_SEEN_IDS),
        ...(last.size > 0 ? { last: Object.fromEntries([...last].slice(-MAX_LAST)) } : {}),
        ...(requests.length > 0 ? { requests: [...getPendingRequests(state, now), ...requests] } : {}),
        metrics:
          receivedCount === 0
            ? metrics
            : { ...metrics, messages_received: metrics.messages_received + receivedCount, last_message_at: now },
      };
    });
  }

  /** Reports that a message's run starts. */
  markStarted(id: string): void {
    this.#started.add(id);
  }

  /** Whether a message was deleted before its run has started. */
  #isDeleted({ id, to, platformId, answer, held }: PendingMessage, deleted: DeletedMessage): boolean {
    return to === deleted.to && platformId === deleted.platformId && !answer && !held && !this.#started.has(id);
  }

  /** Whether an edit can still replace a message's text. */
  #isWaitingFor({ id, platformId, user, answer, held }: PendingMessage, edit: IncomingMessage): boolean {
    return platformId === edit.platformId && user.id === edit.user.id && !answer && !held && !this.#started.has(id);
  }

  /** Changes a waiting message; no effect if it is gone. */
  update(id: string, change: (message: PendingMessage) => PendingMessage): Promise<void> {
    return this.change((state) => ({ ...state, pending: state.pending.map((message) => (message.id === id ? change(message) : message)) }));
  }

  /** Removes a finished message. */
  remove(id: string, counted: 'messages_sent' | 'messages_failed' | null, now: number): Promise<void> {
    this.#started.delete(id);
    return this.change((state) => {
      const { metrics } = state;
      const pending = state.pending.filter((message) => message.id !== id);
      if (counted === null) return { ...state, pending };
      const sentAt = counted === 'messages_sent' ? { last_message_at: now } : {};
      return { ...state, pending, metrics: { ...metrics, [counted]: metrics[counted] + 1, ...sentAt } };
    });
  }

  setBudget(budget: SearchBudget): Promise<void> {
    return this.change((state) => ({ ...state, budget }));
  }

  /** Stores the channel's status if it has changed. */
  async setStatus(problem: string | undefined, connectedSince: number | null): Promise<void> {
    const { state } = this;
    if (state.problem === problem && state.metrics.connected_since === connectedSince) return;
    await this.change(({ problem: _, ...before }) => ({
      ...before,
      status: problem === undefined ? 'running' : 'error',
      ...(problem === undefined ? {} : { problem }),
      metrics: { ...before.metrics, connected_since: connectedSince },
    }));
  }
}

/**
 * Whether a list contains a user, by id or by name, ignoring case and the at sign of names. A bare number is an id, since anybody can choose
 * a name of digits.
 */
export function includesUser(allowed: readonly string[], user: IncomingMessage['user']): boolean {
  const plain = (name: string): string => name.replace(/^@/, '').toLowerCase();
  return allowed.some(
    (sender) => sender === user.id || (!/^-?\d+$/.test(sender) && user.name !== '' && plain(sender) === plain(user.name)),
  );
}
