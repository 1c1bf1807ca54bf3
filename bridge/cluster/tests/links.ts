import type { NatsConnection } from '@nats-io/transport-node';
import { MUX_VERSION, type Opening, PORTS_VERSION, SCHEMA_VERSION } from '#shared/link/hello.ts';
import { Mux } from '#shared/link/mux.ts';
import type { Stream } from '#shared/link/stream.ts';
import { KEY } from '../../journal/fixture.ts';
import { RecordSeal } from '../../sync/record-seal.ts';
import type { TestNats } from '../../sync/tests/nats-server.ts';
import { acceptBridges, dialBridge, type DialContext, toDialSubject } from '../dial-bridge.ts';
import type { LINK_TIMES, NatsLink } from '../nats-link.ts';

const seal = new RecordSeal(KEY);
export const DIAL_SUBJECT = toDialSubject(seal, 'b');

export interface LinkPair extends AsyncDisposable {
  a: { nc: NatsConnection; link: NatsLink; mux: Mux };
  b: { nc: NatsConnection; link: NatsLink; mux: Mux };
}

export const createDialContext = (nc: NatsConnection, times?: typeof LINK_TIMES, vaultKey = KEY): DialContext => ({
  nc,
  seal: vaultKey === KEY ? seal : new RecordSeal(vaultKey),
  vaultKey,
  ...(times && { times }),
});

const createMux = (link: NatsLink, side: 'dialer' | 'acceptor', onstream: (stream: Stream, opening: Opening) => void): Mux =>
  new Mux(link, {
    side,
    hello: { muxVersion: MUX_VERSION, portsVersion: PORTS_VERSION, schemaVersion: SCHEMA_VERSION, build: 'test', capabilities: [] },
    schedule: setImmediate,
    onstream,
  });

/** Links bridge `a` to bridge `b`, each with its own connection to the server. `onstream`: handles streams at `b`. */
export async function createLinkPair(
  nats: TestNats,
  { onstream, times }: { onstream: (stream: Stream, opening: Opening) => void; times?: typeof LINK_TIMES },
): Promise<LinkPair> {
  const [near, far] = await Promise.all([nats.operator({ reconnect: false }), nats.operator({ reconnect: false })]);
  const accepted = Promise.withResolvers<{ link: NatsLink; mux: Mux }>();
  const stop = acceptBridges(createDialContext(far, times), 'b', (link) =>
    accepted.resolve({ link, mux: createMux(link, 'acceptor', onstream) }),
  );
  await far.flush();
  const link = await dialBridge(createDialContext(near, times), 'b');
  const a = { nc: near, link, mux: createMux(link, 'dialer', () => {}) };
  const b = { nc: far, ...(await accepted.promise) };
  await Promise.all([a.mux.ready, b.mux.ready]);
  return {
    a,
    b,
    async [Symbol.asyncDispose]() {
      link.close();
      b.link.close();
      stop();
      await Promise.all([near.close(), far.close()]);
    },
  };
}

/** Records everything sent over the server from now on, as its operator sees it. */
export async function recordTraffic(
  nats: TestNats,
): Promise<{ messages: { subject: string; data: Uint8Array }[]; nc: NatsConnection } & AsyncDisposable> {
  const nc = await nats.operator();
  const messages: { subject: string; data: Uint8Array }[] = [];
  nc.subscribe('perch.>', { callback: (_, { subject, data }) => void messages.push({ subject, data: data.slice() }) });
  await nc.flush();
  return { messages, nc, [Symbol.asyncDispose]: () => nc.close() };
}
