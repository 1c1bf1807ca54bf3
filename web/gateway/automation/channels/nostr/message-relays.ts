import type { EventTemplate, NostrEvent } from 'nostr-tools/pure';
import type { Clock } from '#shared/async/clock.ts';
import { parseEvent } from './gift-wraps.ts';
import type { RelayConnection } from './relay-connection.ts';

/** List of the relays for private messages (NIP-17). */
const KIND_MESSAGE_RELAYS = 10_050;
/** List of a person's relays (NIP-65): those that the person reads are used if there is no list for private messages. */
const KIND_RELAYS = 10_002;
const MAX_RELAYS = 4;
const MAX_CACHED = 500;
const CACHE_MS = 3_600_000;

interface MessageRelaysDeps {
  clock: Clock;
  /** The account's relays. */
  getOwn(): readonly RelayConnection[];
}

/** The relays where people want their private messages. */
export class MessageRelays {
  readonly #deps: MessageRelaysDeps;
  readonly #cache = new Map<string, { urls: string[]; at: number }>();

  constructor(deps: MessageRelaysDeps) {
    this.#deps = deps;
  }

  /** Addresses of a person's relays; none if unknown. */
  async find(publicKey: string, signal: AbortSignal): Promise<string[]> {
    const { clock, getOwn } = this.#deps;
    const cached = this.#cache.get(publicKey);
    if (cached && clock.monotonic() - cached.at < CACHE_MS) return cached.urls;
    const filter = { kinds: [KIND_MESSAGE_RELAYS, KIND_RELAYS], authors: [publicKey], limit: 4 };
    const own = getOwn();
    const lists = await Promise.all(own.filter(({ isOpen }) => isOpen).map((relay) => relay.query(filter, signal)));
    const events = lists.flat().flatMap((source) => parseEvent(source) ?? []);
    const find = (kind: number): NostrEvent | undefined =>
      events.filter((event) => event.kind === kind && event.pubkey === publicKey).sort((a, b) => b.created_at - a.created_at)[0];
    const ownUrls = own.map(({ url }) => url);
    const urls = toUrls(find(KIND_MESSAGE_RELAYS) ?? find(KIND_RELAYS)).filter((url) => ownUrls.includes(url) || isPublicRelay(url));
    this.#cache.set(publicKey, { urls: urls.slice(0, MAX_RELAYS), at: clock.monotonic() });
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > MAX_CACHED && oldest !== undefined) this.#cache.delete(oldest);
    return urls.slice(0, MAX_RELAYS);
  }

  /** Publishes the account's own list on a relay, unless it is there. */
  async announce(
    relay: RelayConnection,
    urls: readonly string[],
    sign: (template: EventTemplate) => NostrEvent,
    signal: AbortSignal,
  ): Promise<void> {
    const event = sign({
      kind: KIND_MESSAGE_RELAYS,
      created_at: Math.floor(this.#deps.clock.now() / 1000),
      tags: urls.map((url) => ['relay', url]),
      content: '',
    });
    const found = (await relay.query({ kinds: [KIND_MESSAGE_RELAYS], authors: [event.pubkey], limit: 1 }, signal)).flatMap(
      (source) => parseEvent(source) ?? [],
    );
    const isThere = found.some((each) => each.pubkey === event.pubkey && JSON.stringify(toUrls(each)) === JSON.stringify(toUrls(event)));
    if (!isThere) await relay.publish(event, signal);
  }
}

const toUrls = (list: NostrEvent | undefined): string[] =>
  (list?.tags ?? []).flatMap(([name, url, marker]) =>
    url !== undefined && (name === 'relay' || (name === 'r' && marker !== 'write')) ? [url.replace(/\/+$/, '')] : [],
  );

/** Whether an address that somebody else published leads to the public internet: a name, by TLS. */
function isPublicRelay(address: string): boolean {
  const url = URL.parse(address);
  return (
    url?.protocol === 'wss:' &&
    url.username === '' &&
    /\.[a-z]{2,}$/i.test(url.hostname) &&
    !/\.(local|internal|localhost|lan|home|test)$/i.test(url.hostname)
  );
}
