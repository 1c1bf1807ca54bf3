import { CLOSE } from '../rpc/frames.ts';
import type { Link, LinkEvents } from './link.ts';
import type { Stream } from './stream.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** A multiplexed stream as a link of whole texts. Binary messages, broken UTF-8 and messages over `maxBytes` end it with a reason. */
export function textLink(stream: Stream, maxBytes: () => number): Link<string> {
  let events: LinkEvents<string> | undefined;
  let parts: Uint8Array[] = [];
  let size = 0;
  let open = true;
  const finish = (code: number, reason: string): void => {
    if (!open) return;
    open = false;
    parts = [];
    events?.close(code, reason);
  };
  const refuse = (code: number, reason: string): void => {
    stream.end(code, reason);
    finish(code, reason);
  };
  return {
    get buffered() {
      return stream.buffered;
    },
    send: (message) => stream.send(message),
    close(code = CLOSE.normal, reason = '') {
      stream.end(code, reason);
      finish(code, reason);
    },
    receive(given) {
      events = given;
      stream.receive({
        data(chunk, fin, text) {
          stream.release(chunk.byteLength);
          if (!open) return;
          size += chunk.byteLength;
          if (size > maxBytes()) return refuse(CLOSE.tooBig, `a message may have ${maxBytes()} bytes`);
          if (!fin) return void parts.push(chunk.slice());
          const bytes = parts.length === 0 ? chunk : join(parts, chunk, size);
          parts = [];
          size = 0;
          if (!text) return refuse(CLOSE.policy, 'binary frames are not part of the protocol');
          let message: string;
          try {
            message = decoder.decode(bytes);
          } catch {
            return refuse(1007, 'not valid UTF-8');
          }
          given.message(message);
        },
        end(code, reason) {
          stream.end();
          finish(code, reason);
        },
        reset: finish,
        drain: () => given.drain?.(),
      });
    },
  };
}

function join(parts: Uint8Array[], last: Uint8Array, size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of [...parts, last]) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}
