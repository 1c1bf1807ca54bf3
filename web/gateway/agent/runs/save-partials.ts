import { type Clock, every } from '#shared/async/clock.ts';

const SAVE_INTERVAL_MS = 1000;
/** Text up to this length is shared with every save. */
const ALWAYS_SHARED_CHARS = 64 * 1024;
const MAX_SHARED_CHARS = 1024 * 1024;
/** A longer text is shared again once it has grown by this fraction, as it is sent whole each time. */
const GROWTH = 1 / 16;

/**
 * Saves a run's growing text once a second, in case the host dies. Returns a function that stops it. `save` receives the text for other
 * hosts, or undefined if theirs is recent enough.
 */
export function savePartials(clock: Clock, text: () => string, save: (shared: string | undefined) => unknown): () => void {
  let saved = 0;
  let shared = 0;
  return every(clock, SAVE_INTERVAL_MS, () => {
    const { length } = text();
    if (length <= saved) return;
    saved = length;
    const isShared = length <= MAX_SHARED_CHARS && (length <= ALWAYS_SHARED_CHARS || length >= shared * (1 + GROWTH));
    if (isShared) shared = length;
    save(isShared ? text() : undefined);
  });
}
