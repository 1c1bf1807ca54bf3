import type { Link, LinkEvents } from '#shared/link/link.ts';
import { z } from '#shared/rpc/zod.ts';

// Without SharedWorker each tab has its own worker, and one of them owns the data. The others relay their pages' connections to it over a
// BroadcastChannel.

const channelOf = (mark: string): BroadcastChannel => new BroadcastChannel(`perch-relay${mark}`);

const message = z.discriminatedUnion('type', [
  z.object({ type: z.literal('open'), id: z.string(), tabLock: z.string() }),
  z.object({ type: z.literal('up'), id: z.string(), text: z.string() }),
  z.object({ type: z.literal('down'), id: z.string(), text: z.string() }),
  z.object({ type: z.literal('close'), id: z.string(), code: z.number(), reason: z.string() }),
]);
type Message = z.infer<typeof message>;

function listen(channel: BroadcastChannel, hear: (message: Message) => void): void {
  channel.onmessage = ({ data }) => {
    const parsed = message.safeParse(data);
    if (parsed.success) hear(parsed.data);
  };
}

/** The owner's side: accepts connections of other tabs as links. */
export function acceptRelayed(mark: string, accept: (link: Link<string>, tabLock: string) => void): void {
  const channel = channelOf(mark);
  const post = (message: Message): void => channel.postMessage(message);
  const links = new Map<string, LinkEvents<string>>();
  listen(channel, (heard) => {
    const { id } = heard;
    if (heard.type === 'up') links.get(id)?.message(heard.text);
    else if (heard.type === 'close') {
      const events = links.get(id);
      links.delete(id);
      events?.close(heard.code, heard.reason);
    } else if (heard.type === 'open') {
      const link: Link<string> = {
        buffered: 0,
        send: (text) => links.has(id) && post({ type: 'down', id, text }),
        close(code = 1000, reason = '') {
          if (links.delete(id)) post({ type: 'close', id, code, reason });
        },
        receive: (events) => void links.set(id, events),
      };
      accept(link, heard.tabLock);
    }
  });
}

/** A waiting worker's side: relays a page's link to the owner. Returns a function that cuts it, for when this worker becomes the owner. */
export function relay(link: Link<string>, tabLock: string, mark: string): () => void {
  const id = crypto.randomUUID();
  const channel = channelOf(mark);
  const post = (message: Message): void => channel.postMessage(message);
  listen(channel, (heard) => {
    if (heard.id !== id) return;
    if (heard.type === 'down') link.send(heard.text);
    else if (heard.type === 'close') {
      channel.close();
      link.close(heard.code, heard.reason);
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
