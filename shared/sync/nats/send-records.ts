import type { SyncRecord } from '../record.ts';

/** Maximum number and size of records in flight, so that each is acknowledged in time even on a slow connection. */
const MAX_IN_FLIGHT = { count: 200, chars: 256 * 1024 };
/** Attachments, and records too large for a message, go out in pieces of so much. */
const MAX_PIECE_CHARS = 128 * 1024;

/**
 * Sends records, several at a time; resolves with what `send` gives for each. Once one has failed no other is begun, and it rejects when none is on its
 * way any more.
 */
export function sendRecords<R extends Pick<SyncRecord, 'payload' | 'blobs'>, T>(
  records: readonly R[],
  send: (record: R) => Promise<T>,
): Promise<T[]> {
  const sent = new Array<T>(records.length);
  const { promise, resolve, reject } = Promise.withResolvers<T[]>();
  let next = 0;
  let count = 0;
  let chars = 0;
  let failure: { error: unknown } | undefined;
  const hasCapacity = (size: number): boolean => count === 0 || (count < MAX_IN_FLIGHT.count && chars + size <= MAX_IN_FLIGHT.chars);
  const sendNext = (): void => {
    for (let record = records[next]; record && !failure; record = records[next]) {
      const size = getSize(record);
      if (!hasCapacity(size)) return;
      const at = next++;
      count++;
      chars += size;
      const onSettled = (): void => {
        count--;
        chars -= size;
        sendNext();
      };
      send(record)
        .then((result) => void (sent[at] = result))
        .catch((error: unknown) => void (failure ??= { error }))
        .then(onSettled);
    }
    if (count > 0) return;
    if (failure) reject(failure.error);
    else resolve(sent);
  };
  sendNext();
  return promise;
}

const getSize = ({ payload, blobs = [] }: Pick<SyncRecord, 'payload' | 'blobs'>): number =>
  blobs.length > 0 ? MAX_PIECE_CHARS : Math.min(MAX_PIECE_CHARS, payload?.length ?? 0);
