import type { Link, LinkEvents } from '#shared/link/link.ts';
import { z } from '#shared/rpc/zod.ts';

// Without SharedWorker each tab has its own worker, and one of them owns the data. The others relay their pages' connections to it over a
// BroadcastChannel.

const openRelayChannel = (mark: string): BroadcastChannel => new BroadcastChannel(`perch-relay${mark}`);

const relayMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('open'), id: z.string(), tabLock: z.string() }),
  z.object({ type: z.literal('up'), id: z.string(), text: z.string() }),
  z.object({ type: z.literal('down'), id: z.string(), text: z.string() }),
  z.object({ type: z.literal('close'), id: z.string(), code: z.number(), reason: z.string() }),
]);
type RelayMessage = z.infer<typeof relayMessage>;

function listen(channel: BroadcastChannel, onMessage: (message: RelayMessage) => void): void {
  channel.onmessage = ({ data }) => {
    const parsed = relayMessage.safeParse(data);
    if (parsed.success) onMessage(parsed.data);
  };
}

/** The owner's side: accepts connections of other tabs as links. */
export function acceptRelays(nameSuffix: string, accept: (link: Link<string>, tabLock: string) => void): void {
  const channel = openRelayChannel(nameSuffix);
  const post = (message: RelayMessage): void => channel.postMessage(message);
  const links = new Map<string, LinkEvents<string>>();
  listen(channel, (received) => {
    const { id } = received;
    if (received.type === 'up') links.get(id)?.message(received.text);
    else if (received.type === 'close') {
      const events = links.get(id);
      links.delete(id);
      events?.close(received.code, received.reason);
    } else if (received.type === 'open') {
      const link: Link<string> = {
        buffered: 0,
        send: (text) => links.has(id) && post({ type: 'down', id, text }),
        close(code = 1000, reason = '') {
          if (links.delete(id)) post({ type: 'close', id, code, reason });
        },
        receive: (events) => void links.set(id, events),
      };
      accept(link, received.tabLock);
    }
  });
}

/** A waiting worker's side: relays a page's link to the owner. Returns a function that cuts it, for when this worker becomes the owner. */
export function relayToOwner(link: Link<string>, tabLock: string, nameSuffix: string): () => void {
  const id = crypto.randomUUID();
  const channel = openRelayChannel(nameSuffix);
  const post = (message: RelayMessage): void => channel.postMessage(message);
  listen(channel, (received) => {
    if (received.id !== id) return;
    if (received.type === 'down') link.send(received.text);
    else if (received.type === 'close') {
      channel.close();
      link.close(received.code, received.reason);
    }
  });
  post({ type: 'open', id, tabLock });
  link.receive({
    message: (text) => post({ type: 'up', id, text }),
    close(code, reason) {
      post({ type: 'close', id, code, reason });
      channel.close();
    },
  });
  return () => link.close(1012, 'another worker has taken over');
}
