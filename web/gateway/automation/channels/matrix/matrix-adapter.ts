import { fromBase64 } from '#shared/base64.ts';
import { z } from '#shared/rpc/zod.ts';
import type { IncomingFile, IncomingMessage, PendingMessage } from '../../../storage/records/channel-state.ts';
import type { ButtonPress, ChannelAdapter, FilePart, PollContext, PollResult, Post, SendContext, SentReceipt } from '../channel-adapter.ts';
import { getHelpText } from '../chat-commands.ts';
import { canWrite, type ChannelAccess, getAccessMode } from '../senders.ts';
import { splitText } from '../split-text.ts';
import { MatrixApi, type MatrixApiDeps } from './matrix-api.ts';
import { getReactionTarget, toButtonPress, toMatrixButtons } from './matrix-buttons.ts';
import { PIECE_FIELD, toRelation, toTextContent } from './matrix-content.ts';
import {
  eventList,
  type JoinedRoom,
  matrixEvent,
  type MatrixEvent,
  createSyncFilter,
  syncResponse,
  toIncomingMessage,
} from './matrix-events.ts';
import { MatrixRooms } from './matrix-rooms.ts';
import { RoomHistory } from './room-history.ts';

/** Duration of a long poll. */
const LONG_POLL_MS = 30_000;
const REPEAT_PAUSE_MS = 1_000;
/** Maximum bytes of a message's text. */
const MAX_TEXT_BYTES = 20_000;
/** Maximum number of events of a room per sync. */
const MAX_ROOM_EVENTS = 50;
/** Pages of 100 events that are fetched if a sync left some out. */
const MAX_GAP_PAGES = 10;
/** Messages before the account joined a room are answered if they are at most this much older: the invitation's first words. */
const BEFORE_JOIN_MS = 10 * 60_000;
const MAX_FILE_BYTES = 20 * 1024 * 1024;
const UPLOAD_TIMEOUT_MS = 120_000;
const TYPING_MS = 10_000;

const sentEvent = z.object({ event_id: z.string() });
const messagesPage = z.object({ chunk: eventList, end: z.string().optional() });
const anything = z.unknown();
const encoder = new TextEncoder();

interface MatrixAdapterDeps extends MatrixApiDeps {
  access(): ChannelAccess & { owners?: string[] | null | undefined };
}

/** Matrix, by long polling of its client-server API, which servers open to browsers: works without a bridge. */
export class MatrixAdapter implements ChannelAdapter {
  readonly name = 'Matrix';
  readonly minRetryMs = 2_000;
  readonly help = getHelpText();
  readonly #deps: MatrixAdapterDeps;
  readonly #api: MatrixApi;
  readonly #rooms: MatrixRooms;
  readonly #history = new RoomHistory();
  /** Rooms that were told that encryption is not supported. */
  readonly #told = new Set<string>();
  /** Reactions of the account, by the message's id. */
  readonly #reactions = new Map<string, string>();
  #self: string | undefined;
  /** Whether the last poll succeeded: the next one may wait for events. */
  #isHealthy = false;

  constructor(deps: MatrixAdapterDeps) {
    this.#deps = deps;
    this.#api = new MatrixApi(deps);
    this.#rooms = new MatrixRooms({ api: this.#api, checkInviter: (userId) => this.#checkInviter(userId) });
  }

  async poll({ cursors, signal }: PollContext): Promise<PollResult> {
    const isHealthy = this.#isHealthy;
    this.#isHealthy = false;
    const self = await this.#getSelf(signal);
    // The position of another account is of no use.
    const since = cursors['user'] === self ? cursors['since'] : undefined;
    // The first poll, and the one after a failure, does not wait, to report the status soon.
    const timeout = isHealthy && since !== undefined ? LONG_POLL_MS : 0;
    const { next_batch: next, rooms } = await this.#api.request('GET', '/sync', syncResponse, {
      query: {
        timeout: `${timeout}`,
        filter: createSyncFilter(since === undefined ? 1 : MAX_ROOM_EVENTS),
        ...(since === undefined ? {} : { since }),
      },
      signal,
      timeoutMs: timeout + 30_000,
    });
    for (const [roomId, { invite_state }] of Object.entries(rooms?.invite ?? {})) this.#rooms.addInvite(roomId, self, invite_state.events);
    const messages: IncomingMessage[] = [];
    const presses: ButtonPress[] = [];
    const receipts: SentReceipt[] = [];
    for (const [roomId, room] of Object.entries(rooms?.join ?? {})) {
      const events = await this.#readEvents(roomId, room, self, since, signal);
      this.#history.add(roomId, self, events);
      const now = this.#deps.clock.now();
      // A message that comes back with the room's events is in the room.
      receipts.push(
        ...events
          .filter(({ sender, type }) => sender === self && type === 'm.room.message')
          .map(({ event_id }) => ({ sentId: event_id, state: 'delivered' as const, at: now })),
        ...this.#history.findRead(roomId, self, room.ephemeral?.events ?? []),
      );
      // Messages from before the channel was turned on are not answered.
      if (since === undefined) continue;
      messages.push(...(await this.#toMessages(roomId, events, self, signal)));
      presses.push(...(await this.#findPresses(roomId, events, self, signal)));
    }
    await this.#rooms.answerInvites(self, signal);
    this.#isHealthy = true;
    return {
      ...{ messages, presses, receipts, cursors: { since: next, user: self } },
      // Avoids a busy loop with a server that does not wait.
      nextMs: next === since && isHealthy ? REPEAT_PAUSE_MS : 0,
    };
  }

  split(text: string): string[] {
    return splitText(text, MAX_TEXT_BYTES, (piece) => encoder.encode(piece).length);
  }

  send(message: PendingMessage, part: string, { sent, signal }: SendContext): Promise<string> {
    // Only the first piece is marked as a reply; all are in the message's thread.
    const relation = sent.length === 0 || message.thread !== undefined ? toRelation(message) : {};
    return this.#sendPiece(message.to, `${message.id}/${sent.length}`, { ...toTextContent(part), ...relation }, signal);
  }

  findSent(message: PendingMessage, _part: string, { sent, signal }: SendContext): Promise<string | null> {
    return this.#findPiece(message.to, `${message.id}/${sent.length}`, signal);
  }

  async post(post: Post, part: string, { sent, signal }: SendContext): Promise<string> {
    const roomId = await this.#rooms.resolve(post.to, await this.#getSelf(signal), signal);
    const piece = `${post.id}/${sent.length}`;
    if (!post.buttons?.length) return this.#sendPiece(roomId, piece, { ...toTextContent(part), ...toRelation(post) }, signal);
    const { legend, fields, emoji } = toMatrixButtons(post.buttons);
    const content = { ...toTextContent(`${part}\n\n${legend}`), ...fields, ...toRelation(post) };
    const eventId = await this.#sendPiece(roomId, piece, content, signal);
    // A reaction of the account's own makes each button one click. Without it, people can still react.
    for (const [index, key] of emoji.entries())
      await this.#sendReaction(roomId, eventId, key, `${piece}/button${index}`, signal).catch(() => signal.throwIfAborted());
    return eventId;
  }

  async findPosted(post: Post, _part: string, { sent, signal }: SendContext): Promise<string | null> {
    const roomId = await this.#rooms.resolve(post.to, await this.#getSelf(signal), signal);
    return this.#findPiece(roomId, `${post.id}/${sent.length}`, signal);
  }

  sendFile(message: PendingMessage, file: FilePart, signal: AbortSignal): Promise<void> {
    return this.#uploadFile(message.to, file, toRelation(message), signal);
  }

  async postFile(post: Post, file: FilePart, signal: AbortSignal): Promise<void> {
    const roomId = await this.#rooms.resolve(post.to, await this.#getSelf(signal), signal);
    return this.#uploadFile(roomId, file, toRelation(post), signal);
  }

  fetchFile({ id }: IncomingFile, signal: AbortSignal): Promise<{ bytes: Uint8Array<ArrayBuffer>; mimeType: string }> {
    return this.#api.download(id, MAX_FILE_BYTES, signal);
  }

  async edit(to: string, sentId: string, text: string, signal: AbortSignal): Promise<void> {
    const roomId = await this.#rooms.resolve(to, await this.#getSelf(signal), signal);
    const content = toTextContent(text);
    await this.#sendEvent(
      roomId,
      'm.room.message',
      crypto.randomUUID(),
      {
        ...{ ...content, body: `* ${text}`, 'm.new_content': content },
        'm.relates_to': { rel_type: 'm.replace', event_id: sentId },
      },
      signal,
    );
  }

  async react({ to, platformId = '' }: IncomingMessage, emoji: string | null, signal: AbortSignal): Promise<void> {
    if (emoji === null) {
      const reaction = this.#reactions.get(platformId);
      this.#reactions.delete(platformId);
      if (reaction === undefined) return;
      const path = `/rooms/${encodeURIComponent(to)}/redact/${encodeURIComponent(reaction)}/${crypto.randomUUID()}`;
      return void (await this.#api.request('PUT', path, anything, { body: {}, signal }));
    }
    this.#reactions.set(platformId, await this.#sendReaction(to, platformId, emoji, crypto.randomUUID(), signal));
  }

  async answerPress({ id, conversation }: ButtonPress, text: string, signal: AbortSignal): Promise<void> {
    const content = { ...toTextContent(text), msgtype: 'm.notice' };
    await this.#sendEvent(conversation, 'm.room.message', `press/${id}`, content, signal);
  }

  /** Also marks the message as read, since it is being answered now. */
  async typing({ to, platformId }: IncomingMessage, signal: AbortSignal): Promise<void> {
    const self = await this.#getSelf(signal);
    const room = `/rooms/${encodeURIComponent(to)}`;
    if (platformId !== undefined && this.#history.markRead(platformId))
      await this.#api.request('POST', `${room}/receipt/m.read/${encodeURIComponent(platformId)}`, anything, { body: {}, signal });
    await this.#api.request('PUT', `${room}/typing/${encodeURIComponent(self)}`, anything, {
      body: { typing: true, timeout: TYPING_MS },
      signal,
    });
  }

  async #getSelf(signal: AbortSignal): Promise<string> {
    const account = z.object({ user_id: z.string().startsWith('@') });
    return (this.#self ??= (await this.#api.request('GET', '/account/whoami', account, { signal })).user_id);
  }

  #checkInviter(userId: string): 'any' | 'direct' | 'none' {
    const access = this.#deps.access();
    if (access.owners?.includes(userId) || canWrite(access, { user: { id: userId, name: userId } })) return 'any';
    return getAccessMode(access) === 'ask' ? 'direct' : 'none';
  }

  /** Events of a room in order, with those that the sync left out. */
  async #readEvents(
    roomId: string,
    { timeline }: JoinedRoom,
    self: string,
    since: string | undefined,
    signal: AbortSignal,
  ): Promise<MatrixEvent[]> {
    const { events, limited = false, prev_batch } = timeline;
    const joined = events.findLast(
      ({ type, state_key, content }) => type === 'm.room.member' && state_key === self && content['membership'] === 'join',
    );
    if (joined && since !== undefined) {
      const from = joined.origin_server_ts - BEFORE_JOIN_MS;
      return events.filter((event) => event.origin_server_ts >= from);
    }
    if (!limited || prev_batch === undefined || since === undefined) return events;
    const missing: MatrixEvent[] = [];
    for (let page = 0, from: string | undefined = prev_batch; page < MAX_GAP_PAGES && from !== undefined; page++) {
      const query: Record<string, string> = { dir: 'b', from, to: since, limit: '100' };
      const search = new URLSearchParams(query).toString();
      const found: z.infer<typeof messagesPage> | null = await this.#api.find(
        `/rooms/${encodeURIComponent(roomId)}/messages?${search}`,
        messagesPage,
        signal,
      );
      missing.push(...(found?.chunk ?? []));
      from = !found || found.chunk.length === 0 || found.end === from ? undefined : found.end;
    }
    return [...missing.reverse(), ...events];
  }

  async #toMessages(roomId: string, events: readonly MatrixEvent[], self: string, signal: AbortSignal): Promise<IncomingMessage[]> {
    if (events.some(({ type }) => type === 'm.room.member' || type === 'm.room.name')) this.#rooms.forget(roomId);
    const messages: IncomingMessage[] = [];
    for (const event of events) {
      if (event.sender === self || (event.type !== 'm.room.message' && event.type !== 'm.room.encrypted')) continue;
      const room = await this.#rooms.getInfo(roomId, signal);
      const isEncrypted = event.type === 'm.room.encrypted';
      // In a group the account cannot see who is addressed.
      if (isEncrypted && (room.isGroup || this.#told.has(roomId))) continue;
      if (isEncrypted) this.#told.add(roomId);
      const isOwn = (eventId: string): boolean => this.#history.isOwn(eventId);
      const message = await toIncomingMessage(event, { self, roomId, room, isOwn, now: this.#deps.clock.now() });
      if (message) messages.push(message);
    }
    return messages;
  }

  /** Presses of buttons, which are reactions to messages of the account. */
  async #findPresses(roomId: string, events: readonly MatrixEvent[], self: string, signal: AbortSignal): Promise<ButtonPress[]> {
    const presses: ButtonPress[] = [];
    for (const reaction of events) {
      const found = getReactionTarget(reaction, self);
      if (!found) continue;
      const path = `/rooms/${encodeURIComponent(roomId)}/event/${encodeURIComponent(found.eventId)}`;
      const target = await this.#api.find(path, matrixEvent, signal);
      if (!target) continue;
      const { isGroup } = await this.#rooms.getInfo(roomId, signal);
      const press = toButtonPress(reaction, found.emoji, target, { self, roomId, isGroup });
      if (press) presses.push(press);
    }
    return presses;
  }

  #sendReaction(roomId: string, eventId: string, key: string, transaction: string, signal: AbortSignal): Promise<string> {
    const relation = { 'm.relates_to': { rel_type: 'm.annotation', event_id: eventId, key } };
    return this.#sendEvent(roomId, 'm.reaction', transaction, relation, signal);
  }

  /** Sends a piece. The server recognizes one that it already has by its number. */
  #sendPiece(roomId: string, piece: string, content: Record<string, unknown>, signal: AbortSignal): Promise<string> {
    return this.#sendEvent(roomId, 'm.room.message', piece, { ...content, [PIECE_FIELD]: piece }, signal);
  }

  async #sendEvent(
    roomId: string,
    type: string,
    transaction: string,
    content: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<string> {
    const path = `/rooms/${encodeURIComponent(roomId)}/send/${type}/${encodeURIComponent(transaction)}`;
    return (await this.#api.request('PUT', path, sentEvent, { body: content, signal })).event_id;
  }

  /** Looks for a piece among the account's last messages, since a server remembers transactions only for a while. */
  async #findPiece(roomId: string, piece: string, signal: AbortSignal): Promise<string | null> {
    const filter = JSON.stringify({ types: ['m.room.message'], senders: [await this.#getSelf(signal)] });
    const query = { dir: 'b', limit: '100', filter };
    const { chunk } = await this.#api.request('GET', `/rooms/${encodeURIComponent(roomId)}/messages`, messagesPage, { query, signal });
    return chunk.find(({ content }) => content[PIECE_FIELD] === piece)?.event_id ?? null;
  }

  async #uploadFile(roomId: string, file: FilePart, relation: Record<string, unknown>, signal: AbortSignal): Promise<void> {
    const { filename: name = 'file', mimeType, data } = file;
    const bytes = fromBase64(data);
    const url = await this.#api.upload(name, mimeType, bytes, { signal, timeoutMs: UPLOAD_TIMEOUT_MS });
    const msgtype = mimeType.startsWith('image/') ? 'm.image' : mimeType.startsWith('audio/') ? 'm.audio' : 'm.file';
    const content = { msgtype, body: name, filename: name, url, info: { mimetype: mimeType, size: bytes.length } };
    await this.#sendEvent(roomId, 'm.room.message', crypto.randomUUID(), { ...content, ...relation }, signal);
  }
}
