import { z } from '#shared/rpc/zod.ts';
import { PlatformError } from '../platform-request.ts';
import type { DiscordApi } from './discord-api.ts';
import { discordMessage, type DiscordMessage, snowflake } from './discord-messages.ts';

/** Number of channels whose last message is remembered: each is asked for after an outage. */
const MAX_CHANNELS = 30;
/** Age of messages that are not answered any more. */
const MAX_AGE_MS = 24 * 3_600_000;
/** Milliseconds since 1970 at which Discord's ids begin. */
const DISCORD_EPOCH = 1_420_070_400_000;

const stored = z.record(snowflake, z.object({ id: snowflake, guild: snowflake.optional() }));

/** The last message of the channels in which the account was addressed, to fetch what was written while no session was open. */
export class MissedMessages {
  readonly #api: DiscordApi;
  readonly #last: Map<string, { id: string; guild?: string | undefined }>;

  constructor(api: DiscordApi, text = '{}') {
    this.#api = api;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      // Begins again.
    }
    this.#last = new Map(Object.entries(stored.safeParse(value).data ?? {}));
  }

  note({ id, channel_id, guild_id }: DiscordMessage): void {
    const before = this.#last.get(channel_id);
    this.#last.delete(channel_id);
    this.#last.set(channel_id, {
      id: before && BigInt(before.id) > BigInt(id) ? before.id : id,
      ...(guild_id === undefined ? {} : { guild: guild_id }),
    });
    const [oldest] = this.#last.keys();
    if (this.#last.size > MAX_CHANNELS && oldest !== undefined) this.#last.delete(oldest);
  }

  /** Messages after the remembered ones, in order. */
  async fetch(now: number, signal: AbortSignal): Promise<DiscordMessage[]> {
    const oldest = BigInt(Math.max(0, now - MAX_AGE_MS - DISCORD_EPOCH)) << 22n;
    const found: DiscordMessage[] = [];
    for (const [channel, { id, guild }] of this.#last) {
      const after = BigInt(id) > oldest ? id : `${oldest}`;
      const path = `/channels/${channel}/messages?limit=100&after=${after}`;
      const messages = await this.#api
        .request('GET', path, z.array(discordMessage.nullable().catch(null)), { signal })
        .catch((error: unknown) => {
          if (error instanceof PlatformError && error.refused) return [];
          throw error;
        });
      // These messages do not name their server. An edited one is new all the same.
      found.push(
        ...messages.flatMap((message) =>
          message ? { ...message, edited_timestamp: null, ...(guild === undefined ? {} : { guild_id: guild }) } : [],
        ),
      );
    }
    return found.sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
  }

  toText(): string {
    return JSON.stringify(Object.fromEntries(this.#last));
  }
}
