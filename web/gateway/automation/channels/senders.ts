import { RpcError } from '#shared/rpc/rpc-error.ts';
import { sha256 } from '#shared/sha256.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Config } from '../../config/gateway-config.ts';
import { normalizePairingCode, isEqualConstantTime, createPairingCode } from '../../system/pairing-code.ts';
import { mergePatch, createPatch } from '#shared/merge-patch.ts';
import { RateLimit } from '../../system/rate-limit.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { includesUser } from './inbox.ts';
import { type StartableChannel, STARTABLE_CHANNELS } from '../../config/sections/channel-settings.ts';
import type { ChannelState, IncomingMessage, SenderRequest } from '../../storage/records/channel-state.ts';

/** Lifetime of a code; a sender gets no other one in that time. */
const CODE_TTL_MS = 60 * 60_000;
/** Maximum number of pending codes per channel; further senders get no reply until one expires. */
const MAX_CODES = 20;
/** Maximum number of confirmed senders per channel. */
const MAX_PAIRED = 1000;
const ATTEMPT_LIMIT = { perMinute: 2, burst: 10 };

export type ChannelAccess = Pick<NonNullable<Settings['channels'][string]>, 'allowedUsers' | 'pairedUsers' | 'rooms'>;

/** Access mode of a channel: `ask` answers senders that the owner has confirmed, `listed` those in `allowedUsers`. */
export function getAccessMode({ allowedUsers = null }: ChannelAccess): 'ask' | 'listed' | 'everyone' {
  if (allowedUsers === null) return 'ask';
  return allowedUsers.length === 0 ? 'everyone' : 'listed';
}

/** Whether the agent replies to a sender. */
export function canWrite(settings: ChannelAccess | undefined, { user, room }: Pick<IncomingMessage, 'user' | 'room'>): boolean {
  const { allowedUsers, pairedUsers = [], rooms } = settings ?? {};
  switch (getAccessMode({ allowedUsers })) {
    case 'everyone':
      return true;
    case 'listed':
      return includesUser(allowedUsers ?? [], user);
    case 'ask':
      return pairedUsers.some(({ id }) => id === user.id) || (room !== undefined && rooms?.includes(room) === true);
  }
}

/** The code sent in reply to an unknown sender. The sender's message is not stored. */
interface CodeReply {
  request: SenderRequest;
  code: string;
}

/** Creates codes for the senders among `messages` that have none, up to the channel’s limit. */
export async function createCodes(messages: readonly IncomingMessage[], state: ChannelState, now: number): Promise<Map<string, CodeReply>> {
  const pending = getPendingRequests(state, now);
  const replies = new Map<string, CodeReply>();
  const userIds = new Set(pending.map(({ user }) => user.id));
  for (const { id, user } of messages) {
    if (userIds.has(user.id) || state.seen.includes(id) || userIds.size >= MAX_CODES) continue;
    userIds.add(user.id);
    const code = createPairingCode();
    replies.set(id, { code, request: { codeHash: await hashCode(code), user, createdAt: now, expiresAt: now + CODE_TTL_MS } });
  }
  return replies;
}

/** Requests that have not expired. */
export const getPendingRequests = ({ requests = [] }: Pick<ChannelState, 'requests'>, now: number): SenderRequest[] =>
  requests.filter(({ expiresAt }) => expiresAt > now);

/** The reply to an unknown sender. */
export const toCodeMessage = (code: string): string =>
  `I don’t know you yet. To chat with me, give this code to my owner: ${code}\nIt works for one hour. Then send your message again.`;

const hashCode = (code: string): Promise<string> => sha256(normalizePairingCode(code));

/** Dependencies of `Senders`. */
export interface SendersDeps {
  vault: Pick<Vault, 'collection'>;
  config: Pick<Config, 'edit'>;
  clock: Clock;
  settings(): Settings;
}

/** Senders that wait for confirmation, and confirmed ones. */
export class Senders {
  readonly #deps: SendersDeps;
  readonly #attempts = new Map<string, RateLimit>();

  constructor(deps: SendersDeps) {
    this.#deps = deps;
  }

  async list() {
    const { settings, clock } = this.#deps;
    const channels = STARTABLE_CHANNELS.filter((id) => settings().channels[id]);
    const waiting = await Promise.all(
      channels.map(async (channelId) =>
        getPendingRequests(await this.#getState(channelId), clock.now()).map(({ user, createdAt, expiresAt }) => ({
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
    const channel = this.#requireChannel(channelId);
    const wait = this.#getLimit(channel).consume();
    if (wait > 0)
      throw new RpcError('RATE_LIMITED', 'Too many codes were tried. Wait a moment and try again.', {
        retryable: true,
        retryAfterMs: wait,
      });
    const hash = await hashCode(code);
    let request: SenderRequest | undefined;
    await vault.collection('channelStates').update(channel, (before) => {
      request = before && getPendingRequests(before, clock.now()).find(({ codeHash }) => isEqualConstantTime(codeHash, hash));
      return request && before
        ? { ...before, requests: getPendingRequests(before, clock.now()).filter((pendingRequest) => pendingRequest !== request) }
        : undefined;
    });
    if (!request) throw new RpcError('NOT_FOUND', 'The code is wrong, already used or expired. Ask the sender to write again.');
    const { user } = request;
    const paired = (this.#deps.settings().channels[channel]?.pairedUsers ?? []).filter(({ id }) => id !== user.id);
    const pairedUsers = [...paired, user].slice(-MAX_PAIRED);
    await config.edit((document) => mergePatch(document, createPatch(['channels', channel, 'pairedUsers'], pairedUsers)));
    return user;
  }

  /** Removes a confirmed sender. Throws `NOT_FOUND`. */
  async remove(channelId: string, userId: string): Promise<void> {
    const channel = this.#requireChannel(channelId);
    const paired = this.#deps.settings().channels[channel]?.pairedUsers ?? [];
    if (!paired.some(({ id }) => id === userId)) throw new RpcError('NOT_FOUND', 'This sender was not let in.');
    const remaining = paired.filter(({ id }) => id !== userId);
    await this.#deps.config.edit((document) => mergePatch(document, createPatch(['channels', channel, 'pairedUsers'], remaining)));
  }

  #requireChannel(channelId: string): StartableChannel {
    const channel = STARTABLE_CHANNELS.find((id) => id === channelId && this.#deps.settings().channels[id]);
    if (!channel) throw new RpcError('NOT_FOUND', `Channel "${channelId}" is not set up, or has no senders to confirm.`);
    return channel;
  }

  #getLimit(channel: string): RateLimit {
    const limit = this.#attempts.get(channel) ?? new RateLimit(this.#deps.clock, ATTEMPT_LIMIT);
    this.#attempts.set(channel, limit);
    return limit;
  }

  async #getState(channelId: string): Promise<Pick<ChannelState, 'requests'>> {
    return (await this.#deps.vault.collection('channelStates').get(channelId)) ?? {};
  }
}
