import type { Link } from '#shared/link/link.ts';
import { CLOSE_CODES } from '#shared/rpc/frames.ts';

/** The IPC channel's interface, the same for a forked process and its parent. */
interface ProcessPeer {
  readonly connected: boolean;
  send?(message: string, sent: (error: Error | null) => void): boolean;
  disconnect(): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'disconnect' | 'exit' | 'error', listener: () => void): unknown;
}

/** A text link over an IPC channel. The end of either process closes it. */
export function createProcessLink(peer: ProcessPeer): Link<string> {
  let open = true;
  return {
    buffered: 0,
    // If the channel breaks meanwhile, the close is reported.
    send: (message) => void (peer.connected && peer.send?.(message, () => {})),
    close: () => void (peer.connected && peer.disconnect()),
    receive({ message, close }) {
      const onEnd = (): void => {
        if (open) close(CLOSE_CODES.goingAway, 'the other process has ended');
        open = false;
      };
      peer.on('message', (text) => void (typeof text === 'string' && message(text)));
      peer.on('disconnect', onEnd);
      // A process that could not be started never connects.
      peer.on('exit', onEnd);
      peer.on('error', onEnd);
    },
  };
}
