import { binarySocketLink } from '#shared/client/websocket.ts';
import { MUX_VERSION, PORTS_VERSION, SCHEMA_VERSION } from '#shared/link/hello.ts';
import type { Link } from '#shared/link/link.ts';
import { Mux } from '#shared/link/mux.ts';
import { createProof, verifyProof, uplinkAccepted, uplinkChallenge } from '#shared/link/link-credentials.ts';
import { JOURNAL_KIND } from '#shared/ports/journal-streams.ts';
import type { HostCredential } from '#shared/ports/host-api.ts';
import type { HandshakeInbox, UplinkOptions } from './uplink.ts';

export { openJournalConnection } from '../sync/journal-connection.ts';

const HANDSHAKE_TIMEOUT_MS = 10_000;

/** Opens a multiplexer over a connecting socket, after mutual authentication; throws an error with a message for people if that fails. */
export async function openUplinkMux(
  socket: WebSocket,
  inbox: HandshakeInbox,
  credential: HostCredential,
  { build, onstream }: Pick<UplinkOptions, 'build' | 'onstream'>,
): Promise<Mux> {
  return new Mux(await handshake(socket, inbox, credential), {
    side: 'dialer',
    hello: {
      muxVersion: MUX_VERSION,
      portsVersion: PORTS_VERSION,
      schemaVersion: SCHEMA_VERSION,
      build,
      capabilities: [JOURNAL_KIND],
    },
    onstream,
    schedule: scheduleFlush,
  });
}

/**
 * Mutual authentication: both sides prove that they hold the credential; throws if the bridge does not. The returned link includes messages
 * that arrived in the meantime.
 */
async function handshake(socket: WebSocket, inbox: HandshakeInbox, { id, key }: HostCredential): Promise<Link<Uint8Array>> {
  const timer = setTimeout(() => socket.close(), HANDSHAKE_TIMEOUT_MS);
  try {
    const { nonce: serverNonce } = uplinkChallenge.parse(JSON.parse(await inbox.next()));
    const nonce = crypto.randomUUID();
    socket.send(JSON.stringify({ credentialId: id, nonce, proof: await createProof(key, 'client', 'uplink', serverNonce, nonce) }));
    const { proof } = uplinkAccepted.parse(JSON.parse(await inbox.next()));
    if (!(await verifyProof(key, proof, 'server', 'uplink', serverNonce, nonce)))
      throw new Error('The program on this port is not the bridge that this browser is paired with');
    const link = binarySocketLink(socket);
    return {
      ...link,
      get buffered() {
        return link.buffered;
      },
      receive(events) {
        const onMessage = (bytes: Uint8Array): void => {
          isAnswering = true;
          events.message(bytes);
        };
        link.receive({ ...events, message: onMessage });
        for (const bytes of inbox.earlyMessages) onMessage(bytes);
      },
    };
  } finally {
    clearTimeout(timer);
  }
}

/** Whether a message has arrived since the last send. */
let isAnswering = false;
let pendingFlushes: (() => void)[] = [];
let taskPort: MessagePort | undefined;

/** A port that runs all pending flushes in a new task. Created on demand: in Node an open port keeps the process running. */
function openTaskPort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    const due = pendingFlushes;
    pendingFlushes = [];
    for (const flush of due) flush();
  };
  return port2;
}

/**
 * The first send after a message arrived happens at the end of the current turn, together with all other responses of that turn: requests
 * that arrived together are answered together. Later sends (the deltas of a chunk, one await after another), and bodies, go out in the next
 * task, in one message.
 */
function scheduleFlush(flush: () => void, bulk: boolean): void {
  if (isAnswering && !bulk) {
    isAnswering = false;
    queueMicrotask(flush);
  } else if (pendingFlushes.push(flush) === 1) (taskPort ??= openTaskPort()).postMessage(null);
}
