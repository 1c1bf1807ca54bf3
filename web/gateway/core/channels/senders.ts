import { RpcError } from '#shared/rpc/errors.ts';
import { sha256 } from '#shared/sha256.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { canonicalCode, isSameText, newCode } from '../devices/code.ts';
import { mergePatch, patchAt } from '../merge.ts';
import { RateLimit } from '../rate-limit.ts';
import type { Settings } from '../settings.ts';
import type { Vault } from '../vault.ts';
import { isNamed } from './inbox.ts';
import { type StartableChannel, STARTABLE } from './settings.ts';
import type { ChannelState, Incoming, SenderRequest } from './state.ts';

/** Lifetime of a code; a sender gets no other one in that time. */
export const CODE_MS = 60 * 60_000;
/** Maximum number of pending codes per channel; further senders get no reply until one expires. */
export const MAX_CODES = 20;
/** Maximum number of confirmed senders per channel. */
const MAX_PAIRED = 1000;
const TRIES = { perMinute: 2, burst: 10 };

type ChannelAccess = Pick<NonNullable<Settings['channels'][string]>, 'allowedUsers' | 'pairedUsers'>;

/** Access mode of a channel: `ask` answers senders that the owner has confirmed, `listed` those in `allowedUsers`. */
export function accessTo({ allowedUsers = null }: ChannelAccess): 'ask' | 'listed' | 'everyone' {
  if (allowedUsers === null) return 'ask';
  return allowedUsers.length === 0 ? 'everyone' : 'listed';
}

export function mayWrite(settings: ChannelAccess | undefined, { user }: Pick<Incoming, 'user'>): boolean {
  const { allowedUsers, pairedUsers = [] } = settings ?? {};
  switch (accessTo({ allowedUsers })) {
    case 'everyone':
      return true;
    case 'listed':
      return isNamed(allowedUsers ?? [], user);
    case 'ask':
      return pairedUsers.some(({ id }) => id === user.id);
  }
}

/** The code that answers a stranger’s message; nothing of the message is stored. */
export interface CodeReply {
  request: SenderRequest;
  code: string;
}

/** Creates codes for the senders among `messages` that have none, up to the channel’s limit. */
export async function createCodes(messages: readonly Incoming[], state: ChannelState, now: number): Promise<Map<string, CodeReply>> {
  const waiting = openRequests(state, now);
  const replies = new Map<string, CodeReply>();
  const known = new Set(waiting.map(({ user }) => user.id));
  for (const { id, user } of messages) {
    if (known.has(user.id) || state.seen.includes(id) || known.size >= MAX_CODES) continue;
    known.add(user.id);
    const code = newCode();
    replies.set(id, { code, request: { codeHash: await hashCode(code), user, createdAt: now, expiresAt: now + CODE_MS } });
  }
  return replies;
}

export const openRequests = ({ requests = [] }: Pick<ChannelState, 'requests'>, now: number): SenderRequest[] =>
  requests.filter(({ expiresAt }) => expiresAt > now);

export const codeText = (code: string): string =>
  `I don’t know you yet. To chat with me, give this code to my owner: ${code}\nIt works for one hour. Then send your message again.`;

const hashCode = (code: string): Promise<string> => sha256(canonicalCode(code));

export interface SendersDeps {
  vault: Pick<Vault, 'collection'>;
  config: Pick<Config, 'edit'>;
  clock: Clock;
  settings(): Settings;
}

/** Senders that wait for confirmation, and confirmed ones. */
export class Senders {
  readonly #deps: SendersDeps;
  readonly #tries = new Map<string, RateLimit>();

  constructor(deps: SendersDeps) {
    this.#deps = deps;
  }

  async list() {
    const { settings, clock } = this.#deps;
    const channels = STARTABLE.filter((id) => settings().channels[id]);
    const waiting = await Promise.all(
      channels.map(async (channelId) =>
        openRequests(await this.#state(channelId), clock.now()).map(({ user, createdAt, expiresAt }) => ({
          ...{ channelId, userId: user.id, name: user.name, createdAt, expiresAt },
        })),
      ),
    );
    const paired = channels.flatMap((channelId) =>
      (settings().channels[channelId]?.pairedUsers ?? []).map(({ id, name }) => ({ channelId, userId: id, name })),
    );
    return { waiting: waiting.flat(), paired };
  }

  /**
   * Confirms the sender that got the code, which is then used up. Throws `NOT_FOUND` for a wrong or expired code, and `RATE_LIMITED` after
   * too many attempts.
   */
  async confirm(channelId: string, code: string): Promise<{ id: string; name: string }> {
    const { vault, config, clock } = this.#deps;
    const channel = this.#known(channelId);
    const wait = this.#limit(channel).take();
    if (wait > 0)
      throw new RpcError('RATE_LIMITED', 'Too many codes were tried. Wait a moment and try again.', {
        retryable: true,
        retryAfterMs: wait,
      });
    const hash = await hashCode(code);
    let found: SenderRequest | undefined;
    await vault.collection('channelStates').update(channel, (before) => {
      found = before && openRequests(before, clock.now()).find(({ codeHash }) => isSameText(codeHash, hash));
      return found && before ? { ...before, requests: openRequests(before, clock.now()).filter((each) => each !== found) } : undefined;
    });
    if (!found) throw new RpcError('NOT_FOUND', 'The code is wrong, already used or expired. Ask the sender to write again.');
    const { user } = found;
    const paired = (this.#deps.settings().channels[channel]?.pairedUsers ?? []).filter(({ id }) => id !== user.id);
    const pairedUsers = [...paired, user].slice(-MAX_PAIRED);
    await config.edit((document) => mergePatch(document, patchAt(['channels', channel, 'pairedUsers'], pairedUsers)));
    return user;
  }

  /** Removes a confirmed sender. Throws `NOT_FOUND`. */
  async remove(channelId: string, userId: string): Promise<void> {
    const channel = this.#known(channelId);
    const paired = this.#deps.settings().channels[channel]?.pairedUsers ?? [];
    if (!paired.some(({ id }) => id === userId)) throw new RpcError('NOT_FOUND', 'This sender was not let in.');
    const left = paired.filter(({ id }) => id !== userId);
    await this.#deps.config.edit((document) => mergePatch(document, patchAt(['channels', channel, 'pairedUsers'], left)));
  }

  #known(channelId: string): StartableChannel {
    const channel = STARTABLE.find((id) => id === channelId && this.#deps.settings().channels[id]);
    if (!channel) throw new RpcError('NOT_FOUND', `Channel "${channelId}" is not set up, or has no senders to confirm.`);
    return channel;
  }

  #limit(channel: string): RateLimit {
    const known = this.#tries.get(channel) ?? new RateLimit(this.#deps.clock, TRIES);
    this.#tries.set(channel, known);
    return known;
  }

  async #state(channelId: string): Promise<Pick<ChannelState, 'requests'>> {
    return (await this.#deps.vault.collection('channelStates').get(channelId)) ?? {};
  }
}
