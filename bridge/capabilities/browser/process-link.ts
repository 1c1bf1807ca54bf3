import type { Link } from '#shared/link/link.ts';
import { CLOSE } from '#shared/rpc/frames.ts';

/** A process that was forked, or the one that forked this: what both know of the channel between them. */
export interface Peer {
  readonly connected: boolean;
  send?(message: string, sent: (error: Error | null) => void): boolean;
  disconnect(): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'disconnect' | 'exit' | 'error', listener: () => void): unknown;
}

/** The channel to another process as a link of texts; the death of either end closes it. */
export function processLink(peer: Peer): Link<string> {
  let open = true;
  return {
    buffered: 0,
    // Where it is cut meanwhile, the close tells.
    send: (message) => void (peer.connected && peer.send?.(message, () => {})),
    close: () => void (peer.connected && peer.disconnect()),
    receive({ message, close }) {
      const end = (): void => {
        if (open) close(CLOSE.goingAway, 'the other process has ended');
        open = false;
      };
      peer.on('message', (text) => void (typeof text === 'string' && message(text)));
      peer.on('disconnect', end);
      // One that could not be started is never connected.
      peer.on('exit', end);
      peer.on('error', end);
    },
  };
}
