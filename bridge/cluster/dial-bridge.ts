import { randomBytes } from 'node:crypto';
import { type NatsConnection, NoRespondersError, type Subscription } from '@nats-io/transport-node';
import { z } from '#shared/rpc/zod.ts';
import type { RecordSeal } from '../sync/record-seal.ts';
import { LinkSeal, type LinkSide } from './link-seal.ts';
import { type LINK_TIMES, NatsLink } from './nats-link.ts';

const NONCE_BYTES = 32;
const RESPONSE_MS = 2000;
/** Milliseconds for the dialer to prove that it has the key: the dial message may be a replay. */
const PROOF_MS = 3000;
const MAX_UNPROVEN = 64;
const PROBE_MS = 400;

const dialMessage = z.object({ subject: z.string().regex(/^[\w.-]{1,200}$/), nonce: z.base64url().max(100) });
type DialMessage = z.infer<typeof dialMessage>;

export interface DialContext {
  nc: NatsConnection;
  seal: RecordSeal;
  /** 256 bits, base64url. */
  vaultKey: string;
  times?: typeof LINK_TIMES;
}

/** Subject on which a bridge accepts links. */
export const toDialSubject = (seal: RecordSeal, bridge: string): string => `perch.${seal.vault}.b.${bridge}`;

/**
 * Opens a link to another bridge of the vault. One sealed message in each direction, bound to the message that it answers, carries each
 * side's nonce and subject; the link's key is derived from both. Rejects if there is no answer in time, or not with the vault's key.
 */
export async function dialBridge(dialling: DialContext, bridge: string): Promise<NatsLink> {
  const { nc, seal } = dialling;
  const subject = toDialSubject(seal, bridge);
  const attempt = acceptOn(dialling);
  try {
    const sealedDial = seal.seal(serializeMessage(attempt.message), `dial ${subject}`);
    const { data } = await nc.request(subject, sealedDial, { timeout: RESPONSE_MS });
    const acceptMessage = parseMessage(seal, data, `accept ${attempt.message.nonce}`);
    if (!acceptMessage) throw new Error('the other bridge couldn’t prove that it has the vault key');
    return attempt.link('dialer', acceptMessage);
  } catch (error) {
    attempt.from.unsubscribe();
    throw isNoResponders(error) ? new Error('not connected to the cluster', { cause: error }) : error;
  }
}

/**
 * Accepts links of other bridges until the connection ends or the result is called. `onlink` receives each one that has proven to have the
 * key.
 */
export function acceptBridges(dialling: DialContext, bridge: string, onlink: (link: NatsLink) => void): () => void {
  const { nc, seal } = dialling;
  const subject = toDialSubject(seal, bridge);
  let unproven = 0;
  const accept = (data: Uint8Array): Uint8Array | undefined => {
    const dialMessage = parseMessage(seal, data, `dial ${subject}`);
    if (!dialMessage || unproven >= MAX_UNPROVEN) return undefined;
    const attempt = acceptOn(dialling, () => {
      clearTimeout(timer);
      onlink(link);
    });
    const link = attempt.link('acceptor', dialMessage);
    const timer = setTimeout(() => link.close(), PROOF_MS);
    unproven++;
    void Promise.race([attempt.proven, link.ended]).then(() => unproven--);
    void link.ended.then(() => clearTimeout(timer));
    return seal.seal(serializeMessage(attempt.message), `accept ${dialMessage.nonce}`);
  };
  const listening = nc.subscribe(subject, {
    callback(error, message) {
      if (error || message.reply === undefined) return;
      // An empty message only asks whether the bridge is there.
      const answer = message.data.byteLength === 0 ? new Uint8Array(0) : accept(message.data);
      if (answer) message.respond(answer);
    },
  });
  return () => listening.unsubscribe();
}

/** Whether a bridge's process or connection is gone, so that nobody subscribes to its subject. False if it just does not answer. */
export async function isGone({ nc, seal }: Pick<DialContext, 'nc' | 'seal'>, bridge: string): Promise<boolean> {
  try {
    await nc.request(toDialSubject(seal, bridge), new Uint8Array(0), { timeout: PROBE_MS });
    return false;
  } catch (error) {
    return isNoResponders(error);
  }
}

const isNoResponders = (error: unknown): boolean =>
  error instanceof NoRespondersError || (error instanceof Error && error.cause instanceof NoRespondersError);

interface PendingLink {
  message: DialMessage;
  from: Subscription;
  /** Resolves with the first authentic message. */
  proven: Promise<void>;
  link(side: LinkSide, theirs: DialMessage): NatsLink;
}

function acceptOn({ nc, seal, vaultKey, times }: DialContext, onproven: () => void = () => {}): PendingLink {
  const ownNonce = randomBytes(NONCE_BYTES);
  const subject = `perch.${seal.vault}.l.${randomBytes(16).toString('hex')}`;
  const { promise: proven, resolve } = Promise.withResolvers<void>();
  let link: NatsLink | undefined;
  let isProven = false;
  const from = nc.subscribe(subject, {
    callback(error, { data }) {
      if (error || !link?.arrived(data) || isProven) return;
      isProven = true;
      resolve();
      onproven();
    },
  });
  return {
    message: { subject, nonce: ownNonce.toString('base64url') },
    from,
    proven,
    link(side, theirs) {
      const otherNonce = Buffer.from(theirs.nonce, 'base64url');
      const nonces = side === 'dialer' ? { dialer: ownNonce, acceptor: otherNonce } : { dialer: otherNonce, acceptor: ownNonce };
      link = new NatsLink({ nc, seal: new LinkSeal(vaultKey, nonces, side), to: theirs.subject, from, ...(times && { times }) });
      return link;
    },
  };
}

const serializeMessage = (message: DialMessage): Uint8Array => Buffer.from(JSON.stringify(message));

function parseMessage(seal: RecordSeal, data: Uint8Array, label: string): DialMessage | undefined {
  const opened = seal.open(data, label);
  return opened && dialMessage.safeParse(JSON.parse(opened.toString())).data;
}
