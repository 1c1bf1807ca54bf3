import { z } from '#shared/rpc/zod.ts';
import { PlatformError } from '../platform-request.ts';
import type { MatrixApi } from './matrix-api.ts';
import { type MatrixEvent, type RoomInfo } from './matrix-events.ts';

/** Invitations that are answered per poll, since a room on another server may take seconds to join. */
const MAX_INVITES = 5;
/** Attempts to join a room. */
const MAX_ATTEMPTS = 3;
const JOIN_TIMEOUT_MS = 20_000;

const joinedMembers = z.object({ joined: z.record(z.string(), z.object({ display_name: z.string().nullish() }).catch({})) });
const directRooms = z.record(z.string(), z.array(z.string()).catch([]));
const anything = z.unknown();

/** A room that the account has left, or with too many members to list, counts as a group. */
function toUnknownMembers(error: unknown): null {
  if (error instanceof PlatformError && error.refused) return null;
  throw error;
}

interface Invite {
  inviter: string;
  isDirect: boolean;
  attempts: number;
}

interface MatrixRoomsDeps {
  api: MatrixApi;
  /** Whether a user may invite the account: to any room, only to a private chat, or not. */
  checkInviter(userId: string): 'any' | 'direct' | 'none';
}

/** The rooms of the account: who is in them, invitations, and private chats with a person. */
export class MatrixRooms {
  readonly #deps: MatrixRoomsDeps;
  readonly #infos = new Map<string, RoomInfo>();
  readonly #invites = new Map<string, Invite>();

  constructor(deps: MatrixRoomsDeps) {
    this.#deps = deps;
  }

  async getInfo(roomId: string, signal: AbortSignal): Promise<RoomInfo> {
    const known = this.#infos.get(roomId);
    if (known) return known;
    const { api } = this.#deps;
    const path = `/rooms/${encodeURIComponent(roomId)}`;
    const [members, name] = await Promise.all([
      api.request('GET', `${path}/joined_members`, joinedMembers, { signal }).catch(toUnknownMembers),
      api.find(`${path}/state/m.room.name`, z.object({ name: z.string() }).catch({ name: '' }), signal),
    ]);
    const names = Object.entries(members?.joined ?? {}).map(([id, { display_name }]) => [id, display_name ?? ''] as const);
    const info = { name: name?.name ?? '', isGroup: members === null || names.length > 2, members: new Map(names) };
    this.#infos.set(roomId, info);
    return info;
  }

  /** Forgets what is known of a room, because an event changed it. */
  forget(roomId: string): void {
    this.#infos.delete(roomId);
  }

  addInvite(roomId: string, self: string, state: readonly MatrixEvent[]): void {
    const invite = state.find(({ type, state_key }) => type === 'm.room.member' && state_key === self);
    if (invite) this.#invites.set(roomId, { inviter: invite.sender, isDirect: invite.content['is_direct'] === true, attempts: 0 });
  }

  /** Accepts invitations of people who may invite the account, and declines others. A failed one is tried again by the next call. */
  async answerInvites(self: string, signal: AbortSignal): Promise<void> {
    for (const [roomId, invite] of [...this.#invites].slice(0, MAX_INVITES)) {
      try {
        await this.#answerInvite(roomId, invite, self, signal);
        this.#invites.delete(roomId);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof PlatformError)) throw error;
        if (error.refused || ++invite.attempts >= MAX_ATTEMPTS) this.#invites.delete(roomId);
      }
    }
  }

  async #answerInvite(roomId: string, { inviter, isDirect }: Invite, self: string, signal: AbortSignal): Promise<void> {
    const { api, checkInviter } = this.#deps;
    const allowed = checkInviter(inviter);
    const path = `/rooms/${encodeURIComponent(roomId)}`;
    const leave = (): Promise<unknown> =>
      api.request('POST', `${path}/leave`, anything, { body: { reason: 'I only join rooms that people I know invite me to.' }, signal });
    if (allowed === 'none' || (allowed === 'direct' && !isDirect)) return void (await leave());
    await api.request('POST', `${path}/join`, anything, { body: {}, signal, timeoutMs: JOIN_TIMEOUT_MS });
    this.forget(roomId);
    // A stranger may have called a group a private chat.
    if (allowed === 'direct' && (await this.getInfo(roomId, signal)).isGroup) return void (await leave());
    if (isDirect) await this.#addDirect(inviter, roomId, self, signal).catch(() => {});
  }

  /** The room of a private chat with a user, created if there is none. */
  async resolve(to: string, self: string, signal: AbortSignal): Promise<string> {
    if (!to.startsWith('@')) return to;
    const { api } = this.#deps;
    const rooms = (await this.#loadDirect(self, signal))[to] ?? [];
    for (const roomId of rooms.toReversed()) {
      const { isGroup, members } = await this.getInfo(roomId, signal);
      // The user may have left, and someone else may be there. A user who has not answered the invitation is not a member yet.
      if (!isGroup && [...members.keys()].every((member) => member === self || member === to)) return roomId;
    }
    const created = await api.request('POST', '/createRoom', z.object({ room_id: z.string() }), {
      body: { is_direct: true, invite: [to], preset: 'trusted_private_chat' },
      signal,
    });
    await this.#addDirect(to, created.room_id, self, signal);
    return created.room_id;
  }

  async #loadDirect(self: string, signal: AbortSignal): Promise<z.infer<typeof directRooms>> {
    return (await this.#deps.api.find(`/user/${encodeURIComponent(self)}/account_data/m.direct`, directRooms, signal)) ?? {};
  }

  /** Marks a room as the private chat with a user, as other clients of the account expect it. */
  async #addDirect(userId: string, roomId: string, self: string, signal: AbortSignal): Promise<void> {
    const direct = await this.#loadDirect(self, signal);
    const rooms = direct[userId] ?? [];
    if (rooms.includes(roomId)) return;
    await this.#deps.api.request('PUT', `/user/${encodeURIComponent(self)}/account_data/m.direct`, anything, {
      body: { ...direct, [userId]: [...rooms, roomId] },
      signal,
    });
  }
}
