import type { Clock } from '#shared/async/clock.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { ChannelState, IncomingMessage } from '../../storage/records/channel-state.ts';
import type { FixedReply } from './inbox.ts';
import { canWrite, createCodes, getAccessMode, toCodeMessage } from './senders.ts';

const DEFAULT_LIMITS = { perMinute: 20, perHour: 200 };
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Number of senders whose recent messages are counted. */
const MAX_COUNTED_SENDERS = 2000;
const TOO_MANY = 'You are writing faster than I can answer. Please wait a few minutes, then write again.';

type ChannelSettings = Settings['channels'][string] | undefined;

interface AdmissionDeps {
  clock: Clock;
  /** Writes a line to the log. */
  warn(message: string, fields: Record<string, unknown>): void;
}

/** Messages to store, and those among them that get a fixed reply. */
interface Admitted {
  messages: IncomingMessage[];
  replies: Map<string, FixedReply>;
}

/** Decides which messages of a channel are answered: by the rules for groups, by sender, and within each sender's limits. */
export class Admission {
  readonly #deps: AdmissionDeps;
  /** Times of each sender's admitted messages within an hour, and whether the sender was asked to wait. */
  readonly #senders = new Map<string, { times: number[]; wasAsked: boolean }>();

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
  }

  async admit(messages: readonly IncomingMessage[], state: ChannelState, settings: ChannelSettings): Promise<Admitted> {
    const { clock, warn } = this.#deps;
    const unseen = messages.filter(({ id }) => !state.seen.includes(id));
    const addressed = unseen.filter((message) => isAnsweredInGroup(message, settings));
    const strangers = addressed.filter((message) => !canWrite(settings, message));
    const codes = settings && getAccessMode(settings) === 'ask' ? await createCodes(strangers, state, clock.now()) : new Map();
    if (codes.size > 0) warn('Unknown senders got a code to pair with', { count: codes.size });
    const replies = new Map<string, FixedReply>([...codes].map(([id, { code, request }]) => [id, { text: toCodeMessage(code), request }]));
    const admitted = addressed.filter((message) => {
      if (replies.has(message.id)) return true;
      if (strangers.includes(message)) return false;
      const verdict = this.#count(message, settings);
      if (verdict === 'asked') {
        warn('A sender reached the limit of messages', { user: message.user.id });
        replies.set(message.id, { text: TOO_MANY });
      } else if (message.notice !== undefined) replies.set(message.id, { text: message.notice });
      return verdict !== 'over';
    });
    return { messages: admitted, replies };
  }

  /** Counts a message. `asked`: the first one over the limit, which gets a reply that says so; `over`: a later one. */
  #count({ user, at, isPublic, command, isEdit = false }: IncomingMessage, settings: ChannelSettings): 'admitted' | 'asked' | 'over' {
    if (isEdit || command === 'stop' || settings?.owners?.includes(user.id)) return 'admitted';
    const { perMinute = DEFAULT_LIMITS.perMinute, perHour = DEFAULT_LIMITS.perHour } = settings?.limits ?? {};
    const sender = this.#senders.get(user.id) ?? { times: [], wasAsked: false };
    // By the platform's time, since messages also wait there while this gateway is off.
    const times = sender.times.filter((time) => Math.abs(at - time) < HOUR_MS);
    const isOver = times.length >= perHour || times.filter((time) => Math.abs(at - time) < MINUTE_MS).length >= perMinute;
    this.#senders.delete(user.id);
    this.#senders.set(user.id, isOver ? { times, wasAsked: true } : { times: [...times, at], wasAsked: false });
    for (const id of this.#senders.keys()) {
      if (this.#senders.size <= MAX_COUNTED_SENDERS) break;
      this.#senders.delete(id);
    }
    if (!isOver) return 'admitted';
    return sender.wasAsked || isPublic ? 'over' : 'asked';
  }
}

/** Whether the rules for groups let a message through; those of private chats pass. */
function isAnsweredInGroup({ isGroup = false, isMention = false, room }: IncomingMessage, settings: ChannelSettings): boolean {
  if (!isGroup) return true;
  const { groups = 'mentions', rooms = null } = settings ?? {};
  if (groups === 'off' || (rooms !== null && (room === undefined || !rooms.includes(room)))) return false;
  return groups === 'all' || isMention;
}
