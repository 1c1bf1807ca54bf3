import { randomBytes } from 'node:crypto';
import type { RawData, WebSocket } from 'ws';
import type { Hello, Opening } from '#shared/link/hello.ts';
import type { Link } from '#shared/link/link.ts';
import { Mux } from '#shared/link/mux.ts';
import type { uplinkAccepted, uplinkChallenge } from '#shared/link/link-credentials.ts';
import type { Stream } from '#shared/link/stream.ts';
import { CLOSE_CODES } from '#shared/rpc/frames.ts';
import type { z } from '#shared/rpc/zod.ts';
import type { Authenticator } from './auth.ts';
import type { Host, HostKind, HostRegistry } from './hosts.ts';
import { closeSocket, createSocketLink } from './socket-link.ts';
import type { Timing } from './timing.ts';

/** A multiplexer's message has up to 128 KB plus some control frames. */
export const UPLINK_MAX_PAYLOAD = 2 * 1024 * 1024;

interface UplinkDeps {
  auth: Authenticator;
  hosts: HostRegistry;
  timing: Timing;
  hello: Hello;
  /** Serves a stream that the host opened for a capability of the bridge. */
  onstream(stream: Stream, opening: Opening, host: Host): void;
  log(line: string): void;
}

/**
 * Handles a host's connection: three text messages with which both sides prove that they have the same credential (shared/link/link-credentials.ts),
 * then the multiplexer, with the bridge as the acceptor. On failure the socket is closed with a reason.
 */
export async function serveUplink(socket: WebSocket, origin: string, deps: UplinkDeps): Promise<void> {
  const { auth, timing } = deps;
  const nonce = randomBytes(32).toString('base64url');
  const answer = readFirstText(socket, timing.handshakeMs);
  socket.send(JSON.stringify({ nonce } satisfies z.infer<typeof uplinkChallenge>));
  const message = await answer;
  if (message === undefined) return closeSocket(socket, CLOSE_CODES.policy, 'no proof in time');

  const verdict = await auth.checkUplink(message, nonce, origin);
  if (!verdict.ok) return closeSocket(socket, CLOSE_CODES.policy, verdict.message);
  const release = verdict.hold?.(() => closeSocket(socket, CLOSE_CODES.policy, 'access was revoked'));
  if (release) socket.once('close', release);
  if (socket.readyState !== socket.OPEN) return release?.();
  socket.send(JSON.stringify({ proof: verdict.proof } satisfies z.infer<typeof uplinkAccepted>));
  await attachHost(createSocketLink(socket), { kind: verdict.kind, side: 'acceptor' }, deps);
}

/** Attaches the host at the other end of a link. Resolves to it once attached; undefined if the link closes before. */
export async function attachHost(
  inner: Link<Uint8Array>,
  { kind, side }: { kind: HostKind; side: 'dialer' | 'acceptor' },
  { hosts, timing, hello, onstream, log }: Omit<UplinkDeps, 'auth'>,
): Promise<Host | undefined> {
  // Removes the host before its streams are reset, so that they know the reason.
  const link: Link<Uint8Array> = {
    send: (message) => inner.send(message),
    get buffered() {
      return inner.buffered;
    },
    close(code = CLOSE_CODES.normal, reason = '') {
      hosts.leave(mux, code, reason);
      inner.close(code, reason);
    },
    receive: (events) =>
      inner.receive({
        ...events,
        close(code, reason) {
          hosts.leave(mux, code, reason);
          events.close(code, reason);
        },
      }),
  };
  const joined = Promise.withResolvers<Host>();
  // Frames of one turn of the event loop share a message, so that requests sent at the same time reach the host together.
  const mux: Mux = new Mux(link, {
    side,
    hello,
    schedule: setImmediate,
    // A host's first streams may arrive together with its hello.
    onstream: (stream, opening) =>
      void joined.promise
        .then((host) => onstream(stream, opening, host))
        .catch((error: unknown) =>
          stream.reset(CLOSE_CODES.internal, error instanceof Error ? error.message : 'couldn’t serve the stream'),
        ),
  });
  const timer = setTimeout(() => mux.close(CLOSE_CODES.policy, 'no hello in time'), timing.handshakeMs);
  try {
    const hello = await mux.ready.catch(() => undefined);
    if (!hello) return void log('A host disconnected before its hello');
    const host = hosts.join(mux, kind, hello);
    if (!host) return void log(`Rejected a host (${kind}): too many hosts`);
    joined.resolve(host);
    return host;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns the first message, parsed. Undefined if none came in time, it is not JSON text, or the socket closed. No later message is lost.
 */
function readFirstText(socket: WebSocket, ms: number): Promise<unknown> {
  return new Promise((resolve) => {
    const settle = (value: unknown): void => {
      clearTimeout(timer);
      socket.off('message', onmessage).off('close', onclose);
      resolve(value);
    };
    const onclose = (): void => settle(undefined);
    const onmessage = (data: RawData, isBinary: boolean): void => {
      try {
        settle(isBinary ? undefined : JSON.parse(data.toString()));
      } catch {
        settle(undefined);
      }
    };
    const timer = setTimeout(onclose, ms);
    socket.on('message', onmessage).on('close', onclose);
  });
}
