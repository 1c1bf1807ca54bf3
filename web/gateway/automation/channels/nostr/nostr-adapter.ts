import { decode, npubEncode } from 'nostr-tools/nip19';
import { getPublicKey, type NostrEvent } from 'nostr-tools/pure';
import type { Clock } from '#shared/async/clock.ts';
import { abortable } from '#shared/async/watchdog.ts';
import { yieldToEventLoop } from '#shared/async/time-slicer.ts';
import type { IncomingMessage, PendingMessage } from '../../../storage/records/channel-state.ts';
import type { ChannelAdapter, PollContext, PollResult, Post, SendContext, SentReceipt } from '../channel-adapter.ts';
import { getHelpText, parseChatCommand } from '../chat-commands.ts';
import { PlatformError } from '../platform-request.ts';
import { POLL_MS, PollWait } from '../poll-wait.ts';
import { splitText } from '../split-text.ts';
import {
  createRumor,
  fromHex,
  KIND_FILE,
  KIND_MESSAGE,
  KIND_WRAP,
  parseEvent,
  type Rumor,
  signEvent,
  TIME_RANGE_S,
  unwrapEvent,
  wrapRumor,
} from './gift-wraps.ts';
import { MessageRelays } from './message-relays.ts';
import { RelayConnection, toHost } from './relay-connection.ts';
import { SenderPositions } from './sender-positions.ts';

/** Maximum bytes of a message's text: encryption allows 65,535 with all escapes. */
const MAX_TEXT_BYTES = 20_000;
/** Number of received events that are decrypted per poll, and of those that wait. */
const MAX_PER_POLL = 200;
const MAX_WAITING = 5_000;
const YIELD_EVERY = 2;
const MAX_REMEMBERED = 2_000;
/** Number of members of a group, beyond which its messages are ignored: each gets a copy of a reply. */
const MAX_MEMBERS = 50;
/** Time that is covered twice after a connection was lost, in seconds. */
const OVERLAP_S = 600;
/** A position is stored when it has moved by this, in seconds: each one is a write. */
const POSITION_STEP_S = 600;
/** Tag of the account's messages with the id of the piece. */
const PIECE_TAG = 'perch';

const FILE_TEXT = '[The sender shared a file. Files on Nostr can’t be shown here.]';

interface NostrAdapterDeps {
  clock: Clock;
  /** `nsec1…`, or 64 hex digits. */
  privateKey: string;
  relays: readonly string[];
  openSocket?(url: string): WebSocket;
}

/** Private messages on Nostr (NIP-17) by WebSockets to relays: works without a bridge. */
export class NostrAdapter implements ChannelAdapter {
  readonly name = 'Nostr';
  readonly minRetryMs = 2_000;
  readonly help = getHelpText('/');
  readonly #deps: Required<NostrAdapterDeps>;
  #keys: { secret: Uint8Array<ArrayBuffer>; public: string } | undefined;
  #relays: RelayConnection[] = [];
  readonly #messageRelays: MessageRelays;
  readonly #news: PollWait;
  /** Events from relays that are not decrypted yet. */
  #incoming: unknown[] = [];
  #receipts: SentReceipt[] = [];
  readonly #seenIds = new Set<string>();
  /** The account's messages by the id of the piece. */
  readonly #pieces = new Map<string, Rumor>();
  readonly #closing = new AbortController();
  #positions: SenderPositions | undefined;
  /** Whether a poll has ended: the first one ends as soon as the status is known. */
  #hasPolled = false;

  constructor(deps: NostrAdapterDeps) {
    this.#deps = { openSocket: (url) => new WebSocket(url), ...deps };
    this.#news = new PollWait(deps.clock);
    this.#messageRelays = new MessageRelays({ clock: deps.clock, getOwn: () => this.#relays });
  }

  async poll({ cursors, signal }: PollContext): Promise<PollResult> {
    const now = this.#getTime();
    const start = Number(cursors['start'] ?? now);
    this.#positions ??= new SenderPositions(start, cursors['senders']);
    if (this.#relays.length === 0) this.#connect(cursors, start);
    await this.#waitForNews(signal);
    this.#hasPolled = true;
    const messages = await this.#readIncoming(signal);
    const open = this.#relays.filter(({ isOpen }) => isOpen);
    if (open.length === 0 && messages.length === 0) {
      const problems = this.#relays.map(({ url, problem }) => `${toHost(url)} (${problem || 'no response'})`);
      throw new PlatformError(`Couldn’t connect to any relay: ${problems.join(', ')}.`);
    }
    const receipts = this.#receipts;
    this.#receipts = [];
    const positions = open
      .filter(({ hasStoredEvents }) => hasStoredEvents)
      .map(({ url }) => [toPositionName(url), `${now - (now % POSITION_STEP_S)}`]);
    return {
      ...{ messages, receipts, nextMs: 0 },
      cursors: { start: `${start}`, senders: this.#positions.toText(), ...Object.fromEntries(positions) },
    };
  }

  split(text: string): string[] {
    const encoder = new TextEncoder();
    return splitText(text, MAX_TEXT_BYTES, (piece) => encoder.encode(piece).length);
  }

  send({ id, to, platformId }: PendingMessage, part: string, { sent, signal }: SendContext): Promise<string> {
    return this.#sendPiece(`${id}/${sent.length}`, to, part, sent.length === 0 ? platformId : undefined, signal);
  }

  findSent({ id }: PendingMessage, _part: string, { sent, signal }: SendContext): Promise<string | null> {
    return this.#findPiece(`${id}/${sent.length}`, signal);
  }

  post({ id, to }: Post, part: string, { sent, signal }: SendContext): Promise<string> {
    return this.#sendPiece(`${id}/${sent.length}`, parsePublicKey(to), part, undefined, signal);
  }

  findPosted({ id }: Post, _part: string, { sent, signal }: SendContext): Promise<string | null> {
    return this.#findPiece(`${id}/${sent.length}`, signal);
  }

  close(): void {
    this.#closing.abort();
    for (const relay of this.#relays) relay.close();
    this.#news.wake();
  }

  /** The account's keys. Throws `PlatformError` if the setting is not a key. */
  #getKeys(): { secret: Uint8Array<ArrayBuffer>; public: string } {
    if (this.#keys) return this.#keys;
    const secret = parseSecretKey(this.#deps.privateKey);
    return (this.#keys = { secret, public: getPublicKey(secret) });
  }

  get #secretKey(): Uint8Array<ArrayBuffer> {
    return this.#getKeys().secret;
  }

  get #self(): string {
    return this.#getKeys().public;
  }

  #getTime(): number {
    return Math.floor(this.#deps.clock.now() / 1000);
  }

  #connect(cursors: Readonly<Record<string, string>>, start: number): void {
    const { clock, relays, openSocket } = this.#deps;
    const self = this.#self;
    if (relays.length === 0) throw new PlatformError('channels.nostr.relays is not set.');
    const sign = (template: Parameters<typeof signEvent>[1]): NostrEvent => signEvent(this.#secretKey, template);
    this.#relays = relays.map((url) => {
      let since = Math.min(this.#getTime(), Number(cursors[toPositionName(url)] ?? start));
      const relay: RelayConnection = new RelayConnection({
        ...{ url, clock, openSocket, sign },
        subscribe: () => {
          const filter = { kinds: [KIND_WRAP], '#p': [self], since: since - TIME_RANGE_S - OVERLAP_S };
          since = this.#getTime();
          return filter;
        },
        onEvent: (event) => {
          if (this.#incoming.length < MAX_WAITING) this.#incoming.push(event);
          this.#news.wake();
        },
        onChange: () => {
          if (relay.isOpen && !relay.hasStoredEvents)
            void this.#messageRelays.announce(relay, relays, sign, this.#closing.signal).catch(() => {});
          this.#news.wake();
        },
      });
      return relay;
    });
  }

  /** Resolves when there is something to report: an event, a receipt, or that no relay can be reached. */
  async #waitForNews(signal: AbortSignal): Promise<void> {
    const deadline = this.#deps.clock.monotonic() + POLL_MS;
    const hasNews = (): boolean =>
      this.#incoming.length + this.#receipts.length > 0 ||
      this.#relays.every(({ hasSettled, isOpen }) => hasSettled && !isOpen) ||
      (!this.#hasPolled && this.#relays.some(({ hasStoredEvents }) => hasStoredEvents));
    while (!hasNews()) {
      const remainingMs = deadline - this.#deps.clock.monotonic();
      if (remainingMs <= 0) return;
      await this.#news.wait(signal, remainingMs);
    }
  }

  async #readIncoming(signal: AbortSignal): Promise<IncomingMessage[]> {
    const messages: IncomingMessage[] = [];
    const events = this.#incoming.splice(0, MAX_PER_POLL);
    for (const [index, event] of events.entries()) {
      if (index % YIELD_EVERY === YIELD_EVERY - 1) await yieldToEventLoop();
      signal.throwIfAborted();
      const rumor = this.#unwrap(event);
      if (!rumor) continue;
      if (rumor.pubkey === this.#self) this.#rememberPiece(rumor);
      else {
        const message = await this.#toMessage(rumor);
        if (message) messages.push(message);
      }
    }
    return messages;
  }

  /** The message in an event that was not received before, from whichever relay. */
  #unwrap(source: unknown): Rumor | undefined {
    const id = getId(source);
    if (id === undefined || this.#seenIds.has(id)) return undefined;
    const event = parseEvent(source);
    if (event?.kind !== KIND_WRAP) return undefined;
    remember(this.#seenIds, event.id);
    const rumor = unwrapEvent(this.#secretKey, event);
    if (!rumor || this.#seenIds.has(rumor.id)) return undefined;
    remember(this.#seenIds, rumor.id);
    return rumor;
  }

  async #toMessage({ id, pubkey, created_at, kind, tags, content }: Rumor): Promise<IncomingMessage | undefined> {
    if (kind !== KIND_MESSAGE && kind !== KIND_FILE) return undefined;
    const time = Math.min(created_at, this.#getTime());
    const getTags = (name: string): string[] => tags.flatMap(([tag, value]) => (tag === name && value !== undefined ? [value] : []));
    const others = [...new Set([pubkey, ...getTags('p').filter((key) => /^[0-9a-f]{64}$/.test(key))])].filter((key) => key !== this.#self);
    if (others.length > MAX_MEMBERS) return undefined;
    const isGroup = others.length > 1;
    if (this.#positions?.admit(pubkey, time) !== true) return undefined;
    const npub = npubEncode(pubkey);
    const text = kind === KIND_FILE ? FILE_TEXT : content.trim();
    const command = parseChatCommand(text);
    const room = isGroup ? await toRoom(others) : undefined;
    const isReply = getTags('e').some((parent) => [...this.#pieces.values()].some((piece) => piece.id === parent));
    return {
      id: `rumor:${id}`,
      conversation: room ?? pubkey,
      user: { id: pubkey, name: npub },
      text: isGroup && command === undefined ? `${npub.slice(0, 12)}: ${text}` : text,
      isPublic: false,
      to: others.join(','),
      title: `Nostr: ${getTags('subject')[0] || npub.slice(0, 16)}`,
      at: time * 1000,
      platformId: id,
      isGroup,
      ...(room === undefined ? {} : { room, isMention: isReply || command !== undefined || content.includes(npubEncode(this.#self)) }),
      ...(command === undefined ? {} : { command }),
    };
  }

  #rememberPiece(rumor: Rumor): void {
    const piece = rumor.tags.find(([name]) => name === PIECE_TAG)?.[1];
    if (piece === undefined) return;
    this.#pieces.set(piece, rumor);
    const [oldest] = this.#pieces.keys();
    if (this.#pieces.size > MAX_REMEMBERED && oldest !== undefined) this.#pieces.delete(oldest);
  }

  /** Sends a piece to each recipient (`to`, separated by commas). The account's own copy comes first: without it, nothing was sent. */
  async #sendPiece(piece: string, to: string, text: string, replyTo: string | undefined, signal: AbortSignal): Promise<string> {
    const recipients = to.split(',');
    const tags = [...recipients.map((key) => ['p', key]), ...(replyTo === undefined ? [] : [['e', replyTo]]), [PIECE_TAG, piece]];
    const rumor =
      this.#pieces.get(piece) ?? createRumor(this.#secretKey, { kind: KIND_MESSAGE, created_at: this.#getTime(), tags, content: text });
    // Remembered before it is sent: a further attempt sends the same events.
    this.#rememberPiece(rumor);
    const copy = await wrapRumor(this.#secretKey, rumor, this.#self);
    remember(this.#seenIds, copy.id);
    await this.#publish(
      this.#relays.map(({ url }) => url),
      copy,
      signal,
    );
    return this.#sendToRecipients(rumor, signal);
  }

  async #sendToRecipients(rumor: Rumor, signal: AbortSignal): Promise<string> {
    const recipients = rumor.tags.flatMap(([name, key]) => (name === 'p' && key !== undefined ? [key] : []));
    for (const recipient of recipients) {
      const found = await this.#messageRelays.find(recipient, signal);
      const urls = found.length > 0 ? found : this.#relays.map(({ url }) => url);
      await this.#publish(urls, await wrapRumor(this.#secretKey, rumor, recipient), signal);
    }
    this.#receipts.push({ sentId: rumor.id, state: 'delivered', at: this.#deps.clock.now() });
    this.#news.wake();
    return rumor.id;
  }

  /** Sends the events of a piece again, which relays recognize, if the account's copy of it exists. */
  async #findPiece(piece: string, signal: AbortSignal): Promise<string | null> {
    await this.#readCopies(signal);
    const rumor = this.#pieces.get(piece);
    return rumor ? this.#sendToRecipients(rumor, signal) : null;
  }

  /** Reads the account's copies that relays have sent; messages of others wait for the next poll. */
  async #readCopies(signal: AbortSignal): Promise<void> {
    if (!this.#relays.some(({ hasStoredEvents }) => hasStoredEvents)) throw new PlatformError('No relay is connected.');
    const waiting = this.#incoming;
    this.#incoming = [];
    for (const [index, event] of waiting.entries()) {
      if (index % YIELD_EVERY === YIELD_EVERY - 1) await yieldToEventLoop();
      signal.throwIfAborted();
      const parsed = parseEvent(event);
      const rumor = parsed?.kind === KIND_WRAP ? unwrapEvent(this.#secretKey, parsed) : undefined;
      if (rumor?.pubkey === this.#self) this.#rememberPiece(rumor);
      else this.#incoming.push(event);
    }
  }

  /** Publishes an event; resolves when the first relay has it. Throws `PlatformError` if none takes it. */
  async #publish(urls: readonly string[], event: NostrEvent, signal: AbortSignal): Promise<void> {
    const { clock, openSocket } = this.#deps;
    if (urls.length === 0) throw new PlatformError('No relay is connected.', { isUnsent: true });
    // The others go on after the first one has answered, until the channel stops.
    const attempts = urls.map(async (url) => {
      const own = this.#relays.find((relay) => relay.url === url);
      if (own) return own.publish(event, this.#closing.signal);
      const relay = new RelayConnection({ url, clock, openSocket, sign: (template) => signEvent(this.#secretKey, template) });
      await relay.publish(event, this.#closing.signal).finally(() => relay.close());
    });
    try {
      await abortable(Promise.any(attempts), signal);
    } catch (error) {
      signal.throwIfAborted();
      const errors = error instanceof AggregateError ? (error.errors as unknown[]) : [error];
      const reasons = errors.map((each) => (each instanceof Error ? each.message : String(each)));
      const refused = errors.every((each) => each instanceof PlatformError && each.refused);
      throw new PlatformError(`No relay took the message: ${reasons.join(', ')}.`, { refused });
    }
    signal.throwIfAborted();
  }
}

const toPositionName = (url: string): string => `at:${url}`;

function getId(source: unknown): string | undefined {
  return typeof source === 'object' && source !== null && 'id' in source && typeof source.id === 'string' ? source.id : undefined;
}

function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > MAX_REMEMBERED && oldest !== undefined) ids.delete(oldest);
}

/** Id of a group: its members other than the account. */
async function toRoom(others: readonly string[]): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(others.toSorted().join(',')));
  return Array.from(new Uint8Array(digest, 0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function parseSecretKey(text: string): Uint8Array<ArrayBuffer> {
  if (/^[0-9a-f]{64}$/i.test(text)) return fromHex(text.toLowerCase());
  try {
    const decoded = decode(text);
    if (decoded.type === 'nsec') return new Uint8Array(decoded.data);
  } catch {
    // Reported below.
  }
  throw new PlatformError('channels.nostr.privateKey is not a valid key. Enter a key such as nsec1….');
}

/** A public key as 64 hex digits, from those or `npub1…`. Throws `PlatformError`. */
function parsePublicKey(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  try {
    const decoded = decode(text);
    if (decoded.type === 'npub') return decoded.data;
  } catch {
    // Reported below.
  }
  throw new PlatformError('The recipient is not a Nostr key (npub1…).', { refused: true, isUnsent: true });
}
