import { z } from '#shared/rpc/zod.ts';
import { parseJson } from '../../../providers/upstream-http.ts';
import { PlatformError } from '../platform-request.ts';
import type { SlackApi } from './slack-api.ts';
import { isDirectChannel, type SlackMessage, slackMessage, timestamp } from './slack-messages.ts';

/** Number of channels and threads whose last message is remembered: each is asked for after an outage. */
const MAX_PLACES = 30;
/** Age of messages that are not answered any more. */
const MAX_AGE_MS = 24 * 3_600_000;
const PAGE_SIZE = 200;

const stored = z.record(z.string().regex(/^[A-Z0-9]+(?:\/[\d.]+)?$/), timestamp);
const page = z.object({ messages: z.array(z.unknown()).catch([]) });

/** The last message of the chats in which the account was addressed, to fetch what was written while there was no connection. */
export class MissedMessages {
  readonly #api: SlackApi;
  /** By channel, or by channel and thread. */
  readonly #last: Map<string, string>;

  constructor(api: SlackApi, text = '{}') {
    this.#api = api;
    this.#last = new Map(Object.entries(stored.safeParse(parseJson(text)).data ?? {}));
  }

  note({ channel, thread_ts, ts }: SlackMessage): void {
    // In a channel the answer begins a thread.
    const thread = thread_ts ?? (isDirectChannel(channel) ? undefined : ts);
    for (const place of thread === undefined ? [channel] : [channel, `${channel}/${thread}`]) {
      const before = this.#last.get(place) ?? '0';
      this.#last.delete(place);
      this.#last.set(place, Number(before) > Number(ts) ? before : ts);
    }
    for (const place of this.#last.keys()) {
      if (this.#last.size <= MAX_PLACES) break;
      this.#last.delete(place);
    }
  }

  /** Messages after the remembered ones, in order. */
  async fetch(now: number, signal: AbortSignal): Promise<SlackMessage[]> {
    const found: SlackMessage[] = [];
    for (const [place, last] of this.#last) {
      const [channel = '', thread] = place.split('/');
      const oldest = Math.max(Number(last), (now - MAX_AGE_MS) / 1000).toFixed(6);
      const [method, chat] =
        thread === undefined ? ['conversations.history', { channel }] : ['conversations.replies', { channel, ts: thread }];
      const { messages } = await this.#api
        .call(method, page, { args: { ...chat, oldest, limit: PAGE_SIZE }, signal })
        .catch((error: unknown) => {
          if (error instanceof PlatformError && error.refused) return { messages: [] };
          throw error;
        });
      for (const message of messages) {
        const { data } = slackMessage.safeParse({ ...Object(message), channel });
        if (data && Number(data.ts) > Number(oldest)) found.push(data);
      }
    }
    return found.sort((a, b) => Number(a.ts) - Number(b.ts));
  }

  toText(): string {
    return JSON.stringify(Object.fromEntries(this.#last));
  }
}
