import type { Stream } from '#shared/link/stream.ts';
import { keep } from '../server/socket-link.ts';

/**
 * Connects two streams of different links, forwarding messages, ends and resets both ways. Reads from one side no faster than the other
 * accepts, so that at most a stream's credit is buffered per direction. `bulk`: all binary data is body data.
 */
export function pipe(
  near: Stream,
  far: Stream,
  { bulk, lost }: { bulk: boolean; /** Close code and reason for `near` when `far` is lost. */ lost?: Lost },
): void {
  const back = oneWay(far, near, bulk);
  const forth = oneWay(near, far, bulk);
  near.receive({ ...forth, drain: back.drained, reset: (code, reason) => far.reset(code, reason) });
  far.receive({
    ...back,
    drain: forth.drained,
    reset(code, reason) {
      const told = lost?.(code, reason) ?? { code, reason };
      near.reset(told.code, told.reason);
    },
  });
}

export type Lost = (code: number, reason: string) => { code: number; reason: string };

interface OneWay {
  data(chunk: Uint8Array, fin: boolean, text: boolean): void;
  end(code: number, reason: string): void;
  drained(): void;
}

function oneWay(from: Stream, to: Stream, bulk: boolean): OneWay {
  let owed = 0;
  /** More chunks of the same message follow. */
  let isWithin = false;
  return {
    data(chunk, fin, text) {
      const large = bulk || isWithin || !fin;
      isWithin = !fin;
      owed += chunk.byteLength;
      if (text) to.sendText(keep(chunk), fin, large);
      else to.send(keep(chunk), { fin, bulk: large });
    },
    end: (code, reason) => to.end(code, reason),
    drained() {
      const due = owed;
      owed = 0;
      if (due > 0) from.release(due);
    },
  };
}
