import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { matchFilters, type Filter } from 'nostr-tools/filter';
import { type NostrEvent, verifyEvent } from 'nostr-tools/pure';
import { type WebSocket, WebSocketServer } from 'ws';

/** Kinds of which a relay keeps the newest event of an author (NIP-01). */
const isReplaceable = (kind: number): boolean => kind >= 10_000 && kind < 20_000;

/** A local relay (NIP-01, NIP-42) with faults on demand. */
export async function startNostrRelay() {
  const events: NostrEvent[] = [];
  const subscriptions = new Map<WebSocket, Map<string, Filter>>();
  const published: NostrEvent[] = [];
  /**
   * `lostAnswers`: events that are stored before the connection breaks. `refusal`: the reason for which events are refused. `repeats`: sends
   * each event twice. `needsAuth`: answers nothing before the client has proved its key. `isMute`: answers nothing.
   */
  const options = { lostAnswers: 0, refusal: '', repeats: false, needsAuth: false, isMute: false };
  const authenticated = new WeakSet<WebSocket>();
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const send = (socket: WebSocket, ...message: unknown[]): void => socket.send(JSON.stringify(message));
  const deliver = (socket: WebSocket, id: string, event: NostrEvent): void => {
    for (let count = 0; count < (options.repeats ? 2 : 1); count++) send(socket, 'EVENT', id, event);
  };
  const store = (event: NostrEvent): void => {
    if (isReplaceable(event.kind)) {
      const old = events.findIndex(({ kind, pubkey }) => kind === event.kind && pubkey === event.pubkey);
      if (old >= 0) events.splice(old, 1);
    }
    events.push(event);
    for (const [socket, filters] of subscriptions)
      for (const [id, filter] of filters) if (matchFilters([filter], event)) deliver(socket, id, event);
  };
  const onEvent = (socket: WebSocket, event: NostrEvent): void => {
    published.push(event);
    if (!verifyEvent({ ...event })) return send(socket, 'OK', event.id, false, 'invalid: wrong signature');
    if (options.refusal !== '') return send(socket, 'OK', event.id, false, options.refusal);
    const isKnown = events.some(({ id }) => id === event.id);
    if (!isKnown) store(event);
    if (options.lostAnswers > 0) {
      options.lostAnswers--;
      return socket.terminate();
    }
    send(socket, 'OK', event.id, true, isKnown ? 'duplicate: already have this event' : '');
  };
  server.on('connection', (socket) => {
    const filters = new Map<string, Filter>();
    subscriptions.set(socket, filters);
    const challenge = crypto.randomUUID();
    if (options.needsAuth) send(socket, 'AUTH', challenge);
    socket.on('close', () => subscriptions.delete(socket));
    socket.on('error', () => {});
    socket.on('message', (data: Buffer) => {
      if (options.isMute) return;
      const [type, first, second] = JSON.parse(data.toString()) as [string, never, never];
      if (type === 'AUTH') {
        const { id, tags }: NostrEvent = first;
        const isValid =
          verifyEvent({ ...(first as NostrEvent) }) && tags.some(([name, value]) => name === 'challenge' && value === challenge);
        if (isValid) authenticated.add(socket);
        return send(socket, 'OK', id, isValid, isValid ? '' : 'restricted: wrong challenge');
      }
      const isBarred = options.needsAuth && !authenticated.has(socket);
      if (type === 'REQ') {
        if (isBarred) return send(socket, 'CLOSED', first, 'auth-required: prove your key');
        const filter: Filter = second;
        filters.set(first, filter);
        const found = events.filter((event) => matchFilters([filter], event)).slice(-(filter.limit ?? 500));
        for (const event of found) deliver(socket, first, event);
        return send(socket, 'EOSE', first);
      }
      if (type === 'CLOSE') return void filters.delete(first);
      if (type !== 'EVENT') return send(socket, 'NOTICE', `unknown message ${type}`);
      if (isBarred) return send(socket, 'OK', (first as NostrEvent).id, false, 'auth-required: prove your key');
      onEvent(socket, first);
    });
  });
  return {
    url,
    events,
    published,
    options,
    store,
    connectionCount: () => subscriptions.size,
    /** Breaks all connections; clients may connect again. */
    cut(): void {
      for (const socket of server.clients) socket.terminate();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of server.clients) socket.terminate();
      server.close();
      await once(server, 'close');
    },
  };
}
