import { CLOSE_CODES } from '../rpc/frames.ts';
import type { LinkEvents, MovableLink } from './link.ts';
import { STREAM_WINDOW_BYTES, type Stream } from './stream.ts';

// A byte-order mark is part of the text, as it is on a WebSocket.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const INVALID_UTF8_CODE = 1007;

/** A multiplexed stream as a link of whole texts. Binary messages, broken UTF-8 and messages over `maxBytes` end it with a reason. */
export function textLink(stream: Stream, maxBytes: () => number): MovableLink {
  let events: LinkEvents<string> | undefined;
  let parts: Uint8Array[] = [];
  let size = 0;
  let open = true;
  let leaving = false;
  const finish = (code: number, reason: string): void => {
    if (!open) return;
    open = false;
    parts = [];
    events?.close(code, reason);
  };
  const close = (code: number, reason: string): void => {
    // Behind that much untaken data an end would never arrive.
    if (code !== CLOSE_CODES.normal && code !== CLOSE_CODES.goingAway && stream.buffered > STREAM_WINDOW_BYTES) stream.reset(code, reason);
    else stream.end(code, reason);
    finish(code, reason);
  };
  return {
    get buffered() {
      return stream.buffered;
    },
    send: (message) => stream.send(message),
    close(code = CLOSE_CODES.normal, reason = '') {
      if (open) close(code, reason);
    },
    leave() {
      if (!open || leaving) return;
      leaving = true;
      stream.send(new Uint8Array(0));
    },
    move(state) {
      if (!open) return;
      stream.send(new TextEncoder().encode(state));
      close(CLOSE_CODES.handingOver, 'handed over to another host');
    },
    receive(listener) {
      events = listener;
      stream.receive({
        data(chunk, fin, text) {
          stream.release(chunk.byteLength);
          if (!open) return;
          if (!text) return close(CLOSE_CODES.policy, 'binary frames are not part of the protocol');
          size += chunk.byteLength;
          if (size > maxBytes()) return close(CLOSE_CODES.tooBig, `a message can have at most ${maxBytes()} bytes`);
          if (!fin) return void parts.push(chunk.slice());
          const bytes = parts.length === 0 ? chunk : concatBytes(parts, chunk, size);
          parts = [];
          size = 0;
          let message: string;
          try {
            message = decoder.decode(bytes);
          } catch {
            return close(INVALID_UTF8_CODE, 'not valid UTF-8');
          }
          listener.message(message);
        },
        end(code, reason) {
          if (open && leaving && code === CLOSE_CODES.handingOver) return listener.left?.();
          stream.end();
          finish(code, reason);
        },
        reset: finish,
        drain: () => listener.drain?.(),
      });
    },
  };
}

function concatBytes(parts: readonly Uint8Array[], last: Uint8Array, size: number): Uint8Array {
  const joined = new Uint8Array(size);
  let at = 0;
  for (const part of [...parts, last]) {
    joined.set(part, at);
    at += part.byteLength;
  }
  return joined;
}
