import type { Stream } from '#shared/link/stream.ts';
import { copyChunk } from '../server/socket-link.ts';

/**
 * Connects two streams of different links, forwarding messages, ends and resets both ways. Reads from one side no faster than the other
 * accepts, so that at most a stream's credit is buffered per direction. `bulk`: all binary data is body data.
 */
export function pipeStreams(
  local: Stream,
  remote: Stream,
  { bulk, lost }: { bulk: boolean; /** Close code and reason for `local` when `remote` is lost. */ lost?: PipeLoss },
): void {
  const back = createDirection(remote, local, bulk);
  const forth = createDirection(local, remote, bulk);
  local.receive({ ...forth, drain: back.drained, reset: (code, reason) => remote.reset(code, reason) });
  remote.receive({
    ...back,
    drain: forth.drained,
    reset(code, reason) {
      const close = lost?.(code, reason) ?? { code, reason };
      local.reset(close.code, close.reason);
    },
  });
}

type PipeLoss = (code: number, reason: string) => { code: number; reason: string };

interface PipeDirection {
  data(chunk: Uint8Array, fin: boolean, text: boolean): void;
  end(code: number, reason: string): void;
  drained(): void;
}

function createDirection(from: Stream, to: Stream, bulk: boolean): PipeDirection {
  let owed = 0;
  /** More chunks of the same message follow. */
  let isMidMessage = false;
  return {
    data(chunk, fin, text) {
      const large = bulk || isMidMessage || !fin;
      isMidMessage = !fin;
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
