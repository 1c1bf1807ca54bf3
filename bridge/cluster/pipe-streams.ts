import type { Stream } from '#shared/link/stream.ts';
import { copyChunk } from '../server/socket-link.ts';

/**
 * Connects two streams of different links, forwarding messages, ends and resets both ways. Reads from one side no faster than the other
 * accepts, so that at most a stream's credit is buffered per direction. `bulk`: all binary data is body data.
 */
export function pipeStreams(
  near: Stream,
  far: Stream,
  { bulk, lost }: { bulk: boolean; /** Close code and reason for `near` when `far` is lost. */ lost?: PipeLoss },
): void {
  const back = createDirection(far, near, bulk);
  const forth = createDirection(near, far, bulk);
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

export type PipeLoss = (code: number, reason: string) => { code: number; reason: string };

interface PipeDirection {
  data(chunk: Uint8Array, fin: boolean, text: boolean): void;
  end(code: number, reason: string): void;
  drained(): void;
}

function createDirection(from: Stream, to: Stream, bulk: boolean): PipeDirection {
  let owed = 0;
  /** More chunks of the same message follow. */
  let isWithin = false;
  return {
    data(chunk, fin, text) {
      const large = bulk || isWithin || !fin;
      isWithin = !fin;
      owed += chunk.byteLength;
      if (text) to.sendText(copyChunk(chunk), fin, large);
      else to.send(copyChunk(chunk), { fin, bulk: large });
    },
    end: (code, reason) => to.end(code, reason),
    drained() {
      const due = owed;
      owed = 0;
      if (due > 0) from.release(due);
    },
  };
}
