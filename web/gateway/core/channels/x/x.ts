import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '../../clock.ts';
import { backOff } from '../back-off.ts';
import type { ChannelAdapter, Look, LookContext, SentBefore } from '../adapter.ts';
import { PlatformError } from '../platform.ts';
import type { XSettings } from '../settings.ts';
import { splitText } from '../split-text.ts';
import type { PendingMessage } from '../state.ts';
import { id, XApi, type XApiDeps } from './api.ts';
import { budgetAt, BUSY_MS, intervalOf, monthEnd, spent } from './budget.ts';
import { newDirectMessages } from './direct-messages.ts';
import { newMentions, type Self } from './mentions.ts';
import { threadOf } from './weighted.ts';

/** Maximum length of a direct message. */
const MOST_DIRECT = 10_000;
/** Maximum delay between two polls. */
const MOST_WAIT_MS = 3_600_000;

const user = z.object({ data: z.object({ id, username: z.string() }) });
const posted = z.object({ data: z.object({ id }) });
const written = z.object({ data: z.object({ dm_event_id: id }) });
const timeline = z.object({
  data: z.array(z.object({ id, referenced_tweets: z.array(z.object({ type: z.string(), id })).optional() })).optional(),
});
const conversation = z.object({
  data: z.array(z.object({ id, text: z.string().optional(), sender_id: id.optional() })).optional(),
});

export interface XDeps extends XApiDeps {
  clock: Clock;
  /** `bearerToken`: an app's token, which can only read, or an account's. */
  token: string;
  settings: XSettings;
  /** The account's own token from its OAuth 2.0 authorization; undefined if there is none. Rejects if it cannot be refreshed. */
  accountToken(signal: AbortSignal): Promise<string | undefined>;
}

/** X: polls for mentions of the account and for direct messages to it. */
export class XAdapter implements ChannelAdapter {
  readonly name = 'X';
  readonly leastWaitMs = 60_000;
  readonly #deps: XDeps;
  readonly #api: XApi;
  /** The account. */
  #self: Self | undefined;
  /** Monotonic time of the last mention. */
  #busySince = -Infinity;
  /** Monotonic time of the next poll for direct messages. */
  #directAt = 0;
  #directProblem: string | undefined;
  /** Monotonic time of the next poll for mentions, if direct messages are polled too. */
  #mentionsAt = 0;
  #mentionsProblem: string | undefined;
  /** Consecutive failed searches for mentions. */
  #failures = 0;

  constructor(deps: XDeps) {
    this.#deps = deps;
    this.#api = new XApi(deps);
  }

  async look(context: LookContext): Promise<Look> {
    const { settings, clock } = this.#deps;
    const look: Look = { messages: [], cursors: {}, nextMs: MOST_WAIT_MS };
    const merge = ({ messages, cursors, nextMs, problem }: Look): void => {
      look.messages.push(...messages);
      Object.assign(look.cursors, cursors);
      look.nextMs = Math.min(look.nextMs, nextMs);
      if (problem !== undefined) look.problem ??= problem;
    };
    if (settings.monitorMentions && !settings.monitorDMs) merge(await this.#mentions(context));
    else if (settings.monitorMentions) await this.#mentionsBeside(context, merge);
    if (settings.monitorDMs) {
      if (clock.monotonic() >= this.#directAt) await this.#direct(context, merge);
      merge({
        messages: [],
        cursors: {},
        nextMs: Math.max(1_000, this.#directAt - clock.monotonic()),
        ...(this.#directProblem === undefined ? {} : { problem: this.#directProblem }),
      });
    }
    const [one, other] = [this.#mentionsProblem, this.#directProblem];
    if (one === undefined || other === undefined) return look;
    throw new PlatformError(one === other ? one : `${one} ${other}`, { retryAfterMs: look.nextMs });
  }

  split(text: string, { isPublic }: { isPublic: boolean }): string[] {
    return isPublic ? threadOf(text) : splitText(text, MOST_DIRECT);
  }

  async send(message: PendingMessage, part: string, { sent, signal }: SentBefore): Promise<string> {
    const token = await this.#writingToken(signal);
    if (!message.isPublic) {
      const answer = await this.#api.post(`/2/dm_conversations/with/${message.to}/messages`, { text: part }, written, { token, signal });
      return answer.data.dm_event_id;
    }
    const reply = { in_reply_to_tweet_id: sent.at(-1) ?? message.to };
    const { data } = await this.#api.post('/2/tweets', { text: part, reply }, posted, { token, signal });
    return data.id;
  }

  /** Asks X, since a failed connection does not tell whether the piece was sent. */
  async findSent(message: PendingMessage, part: string, { sent, signal }: SentBefore): Promise<string | null> {
    const token = await this.#writingToken(signal);
    const self = await this.#account(token, signal);
    if (message.isPublic) {
      const to = sent.at(-1) ?? message.to;
      const query = { since_id: to, max_results: '100', 'tweet.fields': 'referenced_tweets' };
      const { data = [] } = await this.#api.get(`/2/users/${self.id}/tweets`, query, timeline, { token, signal });
      const isAnswer = ({ referenced_tweets = [] }: (typeof data)[number]): boolean =>
        referenced_tweets.some((other) => other.type === 'replied_to' && other.id === to);
      return data.find(isAnswer)?.id ?? null;
    }
    const query = { event_types: 'MessageCreate', max_results: '100', 'dm_event.fields': 'id,text,sender_id' };
    const path = `/2/dm_conversations/with/${message.to}/dm_events`;
    const { data = [] } = await this.#api.get(path, query, conversation, { token, signal });
    const after = BigInt(sent.at(-1) ?? message.id.slice('dm:'.length));
    return data.find((event) => event.sender_id === self.id && event.text === part && BigInt(event.id) > after)?.id ?? null;
  }

  /** Polls for mentions; a failure does not affect direct messages. */
  async #mentionsBeside(context: LookContext, merge: (look: Look) => void): Promise<void> {
    const { clock } = this.#deps;
    if (clock.monotonic() >= this.#mentionsAt) {
      try {
        merge(await this.#mentions(context));
        this.#mentionsProblem = undefined;
        return;
      } catch (error) {
        context.signal.throwIfAborted();
        if (!(error instanceof PlatformError)) throw error;
        this.#mentionsProblem = error.message;
        this.#mentionsAt = clock.monotonic() + (error.retryAfterMs ?? backOff(this.#failures, this.leastWaitMs));
      }
    }
    const nextMs = Math.max(1_000, this.#mentionsAt - clock.monotonic());
    merge({ messages: [], cursors: {}, nextMs, ...(this.#mentionsProblem === undefined ? {} : { problem: this.#mentionsProblem }) });
  }

  /** Polls for mentions when the interval has passed, within the month's budget. */
  async #mentions({ cursors, budget: kept, spend, signal }: LookContext): Promise<Look> {
    const { settings, clock, token } = this.#deps;
    const now = clock.now();
    let budget = budgetAt(kept, now);
    const wait = (): number => {
      const busy = clock.monotonic() - this.#busySince < BUSY_MS;
      const limits = { perMonth: settings.searchesPerMonth, leastMs: settings.pollIntervalSeconds * 1000, busy };
      // A clock that was set back must not delay the next search.
      const since = Math.max(0, clock.now() - budget.lastAt);
      return Math.min(MOST_WAIT_MS, Math.max(0, intervalOf(budget, clock.now(), limits) - since));
    };
    const later = (problem?: string): Look => ({
      messages: [],
      cursors: {},
      nextMs: Math.max(1_000, wait()),
      ...(problem === undefined ? {} : { problem }),
    });
    if (budget.used >= settings.searchesPerMonth) return later(this.#usedUp(now));
    // The first poll of a host, and the one after a failure, is made at once to report the status.
    if (this.#self && this.#failures === 0 && wait() > 0) return later();
    this.#failures++;
    const self = await this.#account(token, signal);
    const more = async (): Promise<void> => {
      if (budget.used >= settings.searchesPerMonth) throw new PlatformError(this.#usedUp(now), { retryAfterMs: MOST_WAIT_MS });
      budget = spent(budget, clock.now());
      await spend(budget);
    };
    const { messages, cursor } = await newMentions({ api: this.#api, token, self, signal, now }, cursors['mentions'], more);
    this.#failures = 0;
    if (messages.length > 0) this.#busySince = clock.monotonic();
    return { messages, cursors: { mentions: cursor }, nextMs: Math.max(1_000, wait()) };
  }

  #usedUp(now: number): string {
    const again = new Date(monthEnd(now)).toISOString().slice(0, 10);
    return `All ${this.#deps.settings.searchesPerMonth} searches of this month are used. Mentions are checked again on ${again}, 00:00 UTC.`;
  }

  /** Polls for direct messages; a failure does not affect mentions. */
  async #direct({ cursors, signal }: LookContext, merge: (look: Look) => void): Promise<void> {
    const { settings, clock, accountToken } = this.#deps;
    this.#directAt = clock.monotonic() + settings.pollIntervalSeconds * 1000;
    this.#directProblem = undefined;
    try {
      const token = await accountToken(signal);
      if (token === undefined)
        throw new PlatformError('Direct messages need authorization by the account. Authorize it in Channels (channels.authorize).');
      const self = await this.#account(token, signal);
      const given = await newDirectMessages({ api: this.#api, token, self, signal, now: clock.now() }, cursors['direct']);
      merge({ messages: given.messages, cursors: { direct: given.cursor }, nextMs: MOST_WAIT_MS });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof PlatformError)) throw error;
      this.#directProblem = error.message;
      if (error.retryAfterMs !== undefined) this.#directAt = Math.max(this.#directAt, clock.monotonic() + error.retryAfterMs);
      // If only direct messages are monitored, the channel itself has failed.
      if (!settings.monitorMentions) throw error;
    }
  }

  async #writingToken(signal: AbortSignal): Promise<string> {
    return (await this.#deps.accountToken(signal)) ?? this.#deps.token;
  }

  /** The account to monitor; without a name in the settings, the token's account. */
  async #account(token: string, signal: AbortSignal): Promise<Self> {
    const { socialUsername } = this.#deps.settings;
    const path = socialUsername === '' ? '/2/users/me' : `/2/users/by/username/${encodeURIComponent(socialUsername)}`;
    return (this.#self ??= (await this.#api.get(path, {}, user, { token, signal })).data);
  }
}
