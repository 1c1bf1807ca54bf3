import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '#shared/async/clock.ts';
import { computeBackoff } from '#shared/async/backoff.ts';
import type { ChannelAdapter, PollResult, PollContext, Post, SendContext } from '../channel-adapter.ts';
import { PlatformError } from '../platform-request.ts';
import type { XSettings } from '../../../config/sections/channel-settings.ts';
import { splitText } from '../split-text.ts';
import type { PendingMessage, IncomingMessage } from '../../../storage/records/channel-state.ts';
import { id, XApi, type XApiDeps } from './x-api.ts';
import { getBudget, BUSY_MS, computeInterval, getMonthEnd, addSearch } from './search-budget.ts';
import { fetchMentions, type XAccount, type XFetchContext, getLaterId } from './mentions.ts';
import { splitThread } from './post-weight.ts';

const MAX_PAGES = 5;

const page = z.object({
  data: z
    .array(
      z.object({
        id,
        event_type: z.string().optional(),
        text: z.string().optional(),
        sender_id: id.optional(),
        created_at: z.string().optional(),
      }),
    )
    .optional(),
  includes: z.object({ users: z.array(z.object({ id, username: z.string() })).optional() }).optional(),
  meta: z.object({ next_token: z.string().max(1000).optional(), result_count: z.number().int().optional() }).optional(),
});

/** Maximum length of a direct message. */
const MAX_DIRECT_CHARS = 10_000;
/** Start of the times in the ids of X, in milliseconds since the Unix epoch, and the bits after them. */
const ID_EPOCH_MS = 1_288_834_974_657;
const ID_TIME_SHIFT = 22n;
/** Maximum difference between X’s clock and this one. */
const CLOCK_TOLERANCE_MS = 60_000;
/** Maximum delay between two polls. */
const MAX_POLL_DELAY_MS = 3_600_000;

const user = z.object({ data: z.object({ id, username: z.string() }) });
const createdPost = z.object({ data: z.object({ id }) });
const sentDirectMessage = z.object({ data: z.object({ dm_event_id: id }) });
const timeline = z.object({
  data: z.array(z.object({ id, referenced_tweets: z.array(z.object({ type: z.string(), id })).optional() })).optional(),
});
const conversation = z.object({
  data: z.array(z.object({ id, text: z.string().optional(), sender_id: id.optional() })).optional(),
});

interface XAdapterDeps extends XApiDeps {
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
  readonly minRetryMs = 60_000;
  readonly confirmsPosts = true;
  readonly #deps: XAdapterDeps;
  readonly #api: XApi;
  /** The account. */
  #self: XAccount | undefined;
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

  constructor(deps: XAdapterDeps) {
    this.#deps = deps;
    this.#api = new XApi(deps);
  }

  async poll(context: PollContext): Promise<PollResult> {
    const { settings, clock } = this.#deps;
    const result: PollResult = { messages: [], cursors: {}, nextMs: MAX_POLL_DELAY_MS };
    const merge = ({ messages, cursors, nextMs, problem }: PollResult): void => {
      result.messages.push(...messages);
      Object.assign(result.cursors, cursors);
      result.nextMs = Math.min(result.nextMs, nextMs);
      if (problem !== undefined) result.problem ??= problem;
    };
    if (settings.monitorMentions && !settings.monitorDMs) merge(await this.#pollMentions(context));
    else if (settings.monitorMentions) await this.#pollMentionsSafely(context, merge);
    if (settings.monitorDMs) {
      if (clock.monotonic() >= this.#directAt) await this.#pollDirectMessages(context, merge);
      merge({
        messages: [],
        cursors: {},
        nextMs: Math.max(1_000, this.#directAt - clock.monotonic()),
        ...(this.#directProblem === undefined ? {} : { problem: this.#directProblem }),
      });
    }
    const [mentionsProblem, directProblem] = [this.#mentionsProblem, this.#directProblem];
    if (mentionsProblem === undefined || directProblem === undefined) return result;
    throw new PlatformError(mentionsProblem === directProblem ? mentionsProblem : `${mentionsProblem} ${directProblem}`, {
      retryAfterMs: result.nextMs,
    });
  }

  split(text: string, { isPublic }: { isPublic: boolean }): string[] {
    return isPublic ? splitThread(text) : splitText(text, MAX_DIRECT_CHARS);
  }

  async send(message: PendingMessage, part: string, { sent, signal }: SendContext): Promise<string> {
    const token = await this.#getWriteToken(signal);
    if (!message.isPublic) return this.#sendDirect(message.to, part, token, signal);
    const reply = { in_reply_to_tweet_id: sent.at(-1) ?? message.to };
    const { data } = await this.#api.post('/2/tweets', { text: part, reply }, createdPost, { token, signal });
    return data.id;
  }

  /** Asks X, since a failed connection does not tell whether the piece was sent. */
  async findSent(message: PendingMessage, part: string, { sent, signal }: SendContext): Promise<string | null> {
    const token = await this.#getWriteToken(signal);
    if (message.isPublic) {
      const self = await this.#getAccount(token, signal);
      const to = sent.at(-1) ?? message.to;
      const query = { since_id: to, max_results: '100', 'tweet.fields': 'referenced_tweets' };
      const { data = [] } = await this.#api.get(`/2/users/${self.id}/tweets`, query, timeline, { token, signal });
      const isAnswer = ({ referenced_tweets = [] }: (typeof data)[number]): boolean =>
        referenced_tweets.some((other) => other.type === 'replied_to' && other.id === to);
      return data.find(isAnswer)?.id ?? null;
    }
    return this.#findDirect(message.to, part, BigInt(sent.at(-1) ?? message.id.slice('dm:'.length)), token, signal);
  }

  /** Sends a direct message. `to`: the id of an account. */
  async post({ to }: Post, part: string, { signal }: SendContext): Promise<string> {
    if (!/^\d+$/.test(to)) throw new PlatformError('X needs the numeric id of the account to write to.', { isUnsent: true, refused: true });
    return this.#sendDirect(to, part, await this.#getWriteToken(signal), signal);
  }

  async findPosted({ to, createdAt }: Post, part: string, { sent, signal }: SendContext): Promise<string | null> {
    const token = await this.#getWriteToken(signal);
    const after = BigInt(Math.max(0, createdAt - CLOCK_TOLERANCE_MS - ID_EPOCH_MS)) << ID_TIME_SHIFT;
    return this.#findDirect(to, part, sent.length > 0 ? BigInt(sent.at(-1) ?? 0) : after, token, signal);
  }

  async #sendDirect(to: string, text: string, token: string, signal: AbortSignal): Promise<string> {
    const answer = await this.#api.post(`/2/dm_conversations/with/${to}/messages`, { text }, sentDirectMessage, { token, signal });
    return answer.data.dm_event_id;
  }

  /** The account’s direct message with that text after the id `after`; null if there is none. */
  async #findDirect(to: string, text: string, after: bigint, token: string, signal: AbortSignal): Promise<string | null> {
    const self = await this.#getAccount(token, signal);
    const query = { event_types: 'MessageCreate', max_results: '100', 'dm_event.fields': 'id,text,sender_id' };
    const { data = [] } = await this.#api.get(`/2/dm_conversations/with/${to}/dm_events`, query, conversation, { token, signal });
    return data.find((event) => event.sender_id === self.id && event.text === text && BigInt(event.id) > after)?.id ?? null;
  }

  /** Polls for mentions; a failure does not affect direct messages. */
  async #pollMentionsSafely(context: PollContext, merge: (result: PollResult) => void): Promise<void> {
    const { clock } = this.#deps;
    if (clock.monotonic() >= this.#mentionsAt) {
      try {
        merge(await this.#pollMentions(context));
        this.#mentionsProblem = undefined;
        return;
      } catch (error) {
        context.signal.throwIfAborted();
        if (!(error instanceof PlatformError)) throw error;
        this.#mentionsProblem = error.message;
        this.#mentionsAt = clock.monotonic() + (error.retryAfterMs ?? computeBackoff(this.#failures, this.minRetryMs));
      }
    }
    const nextMs = Math.max(1_000, this.#mentionsAt - clock.monotonic());
    merge({ messages: [], cursors: {}, nextMs, ...(this.#mentionsProblem === undefined ? {} : { problem: this.#mentionsProblem }) });
  }

  /** Polls for mentions when the interval has passed, within the month's budget. */
  async #pollMentions({ cursors, budget: storedBudget, spend, signal }: PollContext): Promise<PollResult> {
    const { settings, clock, token } = this.#deps;
    const now = clock.now();
    let budget = getBudget(storedBudget, now);
    const wait = (): number => {
      const busy = clock.monotonic() - this.#busySince < BUSY_MS;
      const limits = { perMonth: settings.searchesPerMonth, leastMs: settings.pollIntervalSeconds * 1000, busy };
      // A clock that was set back must not delay the next search.
      const since = Math.max(0, clock.now() - budget.lastAt);
      return Math.min(MAX_POLL_DELAY_MS, Math.max(0, computeInterval(budget, clock.now(), limits) - since));
    };
    const toIdleResult = (problem?: string): PollResult => ({
      messages: [],
      cursors: {},
      nextMs: Math.max(1_000, wait()),
      ...(problem === undefined ? {} : { problem }),
    });
    if (budget.used >= settings.searchesPerMonth) return toIdleResult(this.#toBudgetMessage(now));
    // The first poll of a host, and the one after a failure, is made at once to report the status.
    if (this.#self && this.#failures === 0 && wait() > 0) return toIdleResult();
    this.#failures++;
    const self = await this.#getAccount(token, signal);
    const spendSearch = async (): Promise<void> => {
      if (budget.used >= settings.searchesPerMonth)
        throw new PlatformError(this.#toBudgetMessage(now), { retryAfterMs: MAX_POLL_DELAY_MS });
      budget = addSearch(budget, clock.now());
      await spend(budget);
    };
    const { messages, cursor } = await fetchMentions({ api: this.#api, token, self, signal, now }, cursors['mentions'], spendSearch);
    this.#failures = 0;
    if (messages.length > 0) this.#busySince = clock.monotonic();
    return { messages, cursors: { mentions: cursor }, nextMs: Math.max(1_000, wait()) };
  }

  #toBudgetMessage(now: number): string {
    const nextMonth = new Date(getMonthEnd(now)).toISOString().slice(0, 10);
    return `All ${this.#deps.settings.searchesPerMonth} searches of this month are used. Mentions are checked again on ${nextMonth}, 00:00 UTC.`;
  }

  /** Polls for direct messages; a failure does not affect mentions. */
  async #pollDirectMessages({ cursors, signal }: PollContext, merge: (result: PollResult) => void): Promise<void> {
    const { settings, clock, accountToken } = this.#deps;
    this.#directAt = clock.monotonic() + settings.pollIntervalSeconds * 1000;
    this.#directProblem = undefined;
    try {
      const token = await accountToken(signal);
      if (token === undefined)
        throw new PlatformError('Direct messages need authorization by the account. Authorize it in Channels (channels.authorize).');
      const self = await this.#getAccount(token, signal);
      const found = await fetchDirectMessages({ api: this.#api, token, self, signal, now: clock.now() }, cursors['direct']);
      merge({ messages: found.messages, cursors: { direct: found.cursor }, nextMs: MAX_POLL_DELAY_MS });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof PlatformError)) throw error;
      this.#directProblem = error.message;
      if (error.retryAfterMs !== undefined) this.#directAt = Math.max(this.#directAt, clock.monotonic() + error.retryAfterMs);
      // If only direct messages are monitored, the channel itself has failed.
      if (!settings.monitorMentions) throw error;
    }
  }

  async #getWriteToken(signal: AbortSignal): Promise<string> {
    return (await this.#deps.accountToken(signal)) ?? this.#deps.token;
  }

  /** The account to monitor; without a name in the settings, the token's account. */
  async #getAccount(token: string, signal: AbortSignal): Promise<XAccount> {
    const { socialUsername } = this.#deps.settings;
    const path = socialUsername === '' ? '/2/users/me' : `/2/users/by/username/${encodeURIComponent(socialUsername)}`;
    return (this.#self ??= (await this.#api.get(path, {}, user, { token, signal })).data);
  }
}

/**
 * Direct messages after the cursor, oldest first (https://docs.x.com/x-api/direct-messages/get-dm-events); the API has no `since_id` for
 * them. None on the first call.
 */
async function fetchDirectMessages(
  { api, token, self, signal, now }: XFetchContext,
  cursor: string | undefined,
): Promise<{ messages: IncomingMessage[]; cursor: string }> {
  const found: IncomingMessage[] = [];
  let newest = cursor ?? '';
  let next: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const {
      data = [],
      includes,
      meta,
    } = await api.get(
      '/2/dm_events',
      {
        event_types: 'MessageCreate',
        max_results: '100',
        'dm_event.fields': 'id,text,event_type,sender_id,created_at',
        expansions: 'sender_id',
        'user.fields': 'username',
        ...(next === undefined ? {} : { pagination_token: next }),
      },
      page,
      { token, signal },
    );
    const names = new Map((includes?.users ?? []).map((user) => [user.id, user.username]));
    const isOld = (eventId: string): boolean => cursor !== undefined && cursor !== '' && BigInt(eventId) <= BigInt(cursor);
    for (const event of data) {
      newest = getLaterId(newest, event.id);
      const { sender_id, text } = event;
      if (isOld(event.id) || sender_id === undefined || text === undefined || sender_id === self.id) continue;
      const createdAt = Date.parse(event.created_at ?? '');
      const name = names.get(sender_id) ?? '';
      found.push({
        id: `dm:${event.id}`,
        conversation: `dm-${sender_id}`,
        user: { id: sender_id, name },
        text,
        isPublic: false,
        to: sender_id,
        title: `X direct message: @${name || sender_id}`,
        at: Number.isFinite(createdAt) ? Math.min(createdAt, now) : now,
      });
    }
    if (cursor === undefined) return { messages: [], cursor: newest };
    if (meta?.next_token === undefined || meta.next_token === next || data.some((event) => isOld(event.id))) break;
    next = meta.next_token;
  }
  return { messages: found.reverse(), cursor: newest };
}
