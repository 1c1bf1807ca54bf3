import type { Clock } from '../../shared/async/clock.ts';
import { type PlatformRequest, startPlatformServer } from './platform-server.ts';

export const MATRIX_TOKEN = 'syt_cGVyY2g_abcDEF123';
export const MATRIX_SELF = '@perch:matrix.test';
const ADA = '@ada:matrix.test';

interface StoredEvent {
  type: string;
  event_id: string;
  sender: string;
  origin_server_ts: number;
  state_key?: string;
  content: Record<string, unknown>;
}

interface Room {
  name: string | undefined;
  members: Map<string, string>;
  isDirect: boolean;
}

type StreamEntry = { roomId: string } & ({ event: StoredEvent } | { receipt: Record<string, unknown> } | { invitedBy: string });

const toToken = (position: number): string => `s${position}`;
const toPosition = (token: string | null): number => Number((token ?? 's0').slice(1));

/** A local server that responds like a homeserver (https://spec.matrix.org/v1.16/client-server-api/), with one account for the gateway. */
export async function startMatrixServer(clock: Pick<Clock, 'after' | 'now'>) {
  const rooms = new Map<string, Room>();
  const stream: StreamEntry[] = [];
  const transactions = new Map<string, string>();
  const media = new Map<string, { bytes: Buffer; mimeType: string }>();
  const typing: { roomId: string; typing: boolean }[] = [];
  const readByAccount: string[] = [];
  const left: { roomId: string; reason: unknown }[] = [];
  let direct: Record<string, string[]> = {};
  /** `repeats`: how many events before the position are sent again. `limit`: events of a room per response. */
  const options = { limit: 50, repeats: 0, slowMs: 0 };
  let lastEvent = 0;
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  const wait = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      waiting.add(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
      clock.after(ms, resolve);
    });
  const add = (entry: StreamEntry): void => {
    stream.push(entry);
    wake();
  };
  const addEvent = (roomId: string, event: Omit<StoredEvent, 'event_id' | 'origin_server_ts'>): string => {
    const event_id = `$event${++lastEvent}`;
    add({ roomId, event: { ...event, event_id, origin_server_ts: clock.now() } });
    return event_id;
  };
  const addMember = (roomId: string, userId: string, displayName: string): void => {
    rooms.get(roomId)?.members.set(userId, displayName);
    addEvent(roomId, {
      type: 'm.room.member',
      sender: userId,
      state_key: userId,
      content: { membership: 'join', displayname: displayName },
    });
  };
  const refuse = (status: number, errcode: string, error: string, more: object = {}) => ({ status, json: { errcode, error, ...more } });
  const getEvents = (roomId: string, from: number, to: number): { event: StoredEvent; position: number }[] =>
    stream
      .slice(from, to)
      .flatMap((entry, index) => (entry.roomId === roomId && 'event' in entry ? [{ event: entry.event, position: from + index }] : []));

  const sync = async (query: URLSearchParams, signal: AbortSignal) => {
    const since = query.get('since');
    const from = Math.max(0, toPosition(since) - (since === null ? 0 : options.repeats));
    if (options.slowMs > 0) await wait(options.slowMs, signal);
    if (since !== null && stream.length <= toPosition(since)) await wait(Number(query.get('timeout')), signal);
    const end = stream.length;
    const join: Record<string, unknown> = {};
    const invite: Record<string, unknown> = {};
    for (const [roomId, { members }] of rooms) {
      const recent = stream.slice(from, end).filter((entry) => entry.roomId === roomId);
      const invitation = recent.find((entry) => 'invitedBy' in entry);
      if (!members.has(MATRIX_SELF)) {
        if (invitation && 'invitedBy' in invitation)
          invite[roomId] = {
            invite_state: {
              events: [
                {
                  ...{ type: 'm.room.member', sender: invitation.invitedBy, state_key: MATRIX_SELF },
                  content: { membership: 'invite', is_direct: rooms.get(roomId)?.isDirect },
                },
              ],
            },
          };
        continue;
      }
      if (recent.length === 0) continue;
      const hasJoined = recent.some((entry) => 'event' in entry && entry.event.state_key === MATRIX_SELF);
      const all = getEvents(roomId, hasJoined ? 0 : from, end);
      const events = all.slice(-options.limit);
      join[roomId] = {
        timeline: {
          events: events.map(({ event }) => event),
          limited: hasJoined || all.length > events.length,
          prev_batch: toToken(events[0]?.position ?? end),
        },
        ephemeral: {
          events: recent.flatMap((entry) => ('receipt' in entry ? [{ type: 'm.receipt', sender: '', content: entry.receipt }] : [])),
        },
      };
    }
    return { json: { next_batch: toToken(end), rooms: { join, invite } } };
  };

  const serveRoom = (method: string, roomId: string, rest: string[], query: URLSearchParams, body: Record<string, never>) => {
    const room = rooms.get(roomId);
    if (!room) return refuse(404, 'M_NOT_FOUND', 'Unknown room');
    const [action = '', type = '', transaction = ''] = rest;
    if (action === 'join') {
      addMember(roomId, MATRIX_SELF, 'Perch');
      return { json: { room_id: roomId } };
    }
    if (action === 'leave') {
      room.members.delete(MATRIX_SELF);
      left.push({ roomId, reason: body['reason'] });
      return { json: {} };
    }
    if (!room.members.has(MATRIX_SELF)) return refuse(403, 'M_FORBIDDEN', 'You are not in this room');
    switch (action) {
      case 'joined_members':
        return { json: { joined: Object.fromEntries([...room.members].map(([id, display_name]) => [id, { display_name }])) } };
      case 'state':
        return room.name === undefined ? refuse(404, 'M_NOT_FOUND', 'No such state') : { json: { name: room.name } };
      case 'typing':
        typing.push({ roomId, typing: body['typing'] === true });
        return { json: {} };
      case 'receipt':
        readByAccount.push(transaction);
        return { json: {} };
      case 'event': {
        const found = getEvents(roomId, 0, stream.length).find(({ event }) => event.event_id === type);
        return found ? { json: found.event } : refuse(404, 'M_NOT_FOUND', 'Event not found');
      }
      case 'messages': {
        const filter = JSON.parse(query.get('filter') ?? '{}') as { senders?: string[]; types?: string[] };
        const found = getEvents(
          roomId,
          toPosition(query.get('to')),
          query.get('from') === null ? stream.length : toPosition(query.get('from')),
        )
          .filter(({ event }) => filter.senders?.includes(event.sender) ?? true)
          .filter(({ event }) => filter.types?.includes(event.type) ?? true)
          .reverse();
        const chunk = found.slice(0, Math.min(Number(query.get('limit') ?? 10), options.limit));
        return {
          json: {
            chunk: chunk.map(({ event }) => event),
            ...(chunk.length < found.length ? { end: toToken(chunk.at(-1)?.position ?? 0) } : {}),
          },
        };
      }
      case 'send':
      case 'redact': {
        const key = `${roomId} ${rest.join(' ')}`;
        const known = transactions.get(key);
        if (known !== undefined) return { json: { event_id: known } };
        if (JSON.stringify(body).length > 65_000) return refuse(413, 'M_TOO_LARGE', 'event too large');
        const content: Record<string, unknown> = action === 'redact' ? { redacts: type } : body;
        const id = addEvent(roomId, { type: action === 'redact' ? 'm.room.redaction' : type, sender: MATRIX_SELF, content });
        transactions.set(key, id);
        return { json: { event_id: id } };
      }
      default:
        return refuse(404, 'M_UNRECOGNIZED', `Unrecognized request ${method}`);
    }
  };

  const server = await startPlatformServer(async ({ method, path, query, headers, body }: PlatformRequest, signal) => {
    if (headers.authorization !== `Bearer ${MATRIX_TOKEN}`) return refuse(401, 'M_UNKNOWN_TOKEN', 'Invalid access token passed.');
    const [, , area = '', , ...parts] = path.split('/').map(decodeURIComponent);
    const [first = '', second = '', ...rest] = parts;
    if (area === 'media' && first === 'upload') {
      const id = `file${media.size + 1}`;
      media.set(id, { bytes: body, mimeType: headers['content-type'] ?? '' });
      return { json: { content_uri: `mxc://matrix.test/${id}` } };
    }
    if (first === 'media' && second === 'download') {
      const file = media.get(rest.at(-1) ?? '');
      return file ? { bytes: file.bytes, headers: { 'content-type': file.mimeType } } : refuse(404, 'M_NOT_FOUND', 'No such file');
    }
    const json = JSON.parse(body.toString() || '{}') as Record<string, never>;
    if (first === 'account') return { json: { user_id: MATRIX_SELF, device_id: 'PERCH' } };
    if (first === 'sync') return sync(query, signal);
    if (first === 'user') {
      if (method === 'PUT') direct = json;
      return method === 'GET' && Object.keys(direct).length === 0 ? refuse(404, 'M_NOT_FOUND', 'No account data') : { json: direct };
    }
    if (first === 'createRoom') {
      const { invite = [] }: { invite?: string[] } = json;
      const roomId = openRoom(invite);
      addMember(roomId, MATRIX_SELF, 'Perch');
      return { json: { room_id: roomId } };
    }
    return first === 'rooms' ? serveRoom(method, second, rest, query, json) : refuse(404, 'M_UNRECOGNIZED', 'Unrecognized request');
  });

  function openRoom(users: readonly string[], { name, isDirect = users.length === 1 }: { name?: string; isDirect?: boolean } = {}): string {
    const roomId = `!room${rooms.size + 1}:matrix.test`;
    rooms.set(roomId, { name, isDirect, members: new Map() });
    for (const user of users)
      addMember(
        roomId,
        user,
        (user.slice(1).split(':')[0] ?? '').replace(/^./, (letter) => letter.toUpperCase()),
      );
    return roomId;
  }

  return Object.assign(server, {
    options,
    typing,
    readByAccount,
    left,
    media,
    rooms,
    direct: () => direct,
    forgetTransactions: () => transactions.clear(),
    /** Opens a room of these users and, unless they invite it, the account. */
    openRoom(
      users: readonly string[] = [ADA],
      { isInvited = false, ...about }: { name?: string; isDirect?: boolean; isInvited?: boolean } = {},
    ): string {
      const roomId = openRoom(users, about);
      if (isInvited) add({ roomId, invitedBy: users[0] ?? ADA });
      else addMember(roomId, MATRIX_SELF, 'Perch');
      return roomId;
    },
    /** A message of a user; resolves with the id of the event. */
    write(
      roomId: string,
      text: string,
      { sender = ADA, type = 'm.room.message', ...content }: Record<string, unknown> & { sender?: string; type?: string } = {},
    ): string {
      return addEvent(roomId, { type, sender, content: { msgtype: 'm.text', body: text, ...content } });
    },
    markRead(roomId: string, eventId: string, userId = ADA): void {
      add({ roomId, receipt: { [eventId]: { 'm.read': { [userId]: { ts: clock.now() } } } } });
    },
    /** Events that the account sent. */
    sent: (type = 'm.room.message'): StoredEvent[] =>
      stream.flatMap((entry) => ('event' in entry && entry.event.sender === MATRIX_SELF && entry.event.type === type ? [entry.event] : [])),
  });
}

export const isMatrixCall =
  (part: string) =>
  ({ path }: PlatformRequest): boolean =>
    path.includes(`/${part}`);
