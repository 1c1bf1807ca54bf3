import type { Pace } from '../dreaming/pace.ts';
import { RecalledPlaces } from '../dreaming/recalled-places.ts';
import { saysSomething } from '../dreaming/says-something.ts';
import { DAY_MS } from '../dreaming/signal.ts';
import type { Noted, SignalsStore } from '../dreaming/signals-store.ts';
import { LATE_MS } from '../dreaming/taken-line.ts';
import type { Workspace } from '../memory/workspace.ts';
import type { Vault } from '../vault.ts';
import { recallingMessages } from './recalled-messages.ts';

export interface RecallSignalsDeps {
  messages: Pick<Vault['messages'], 'from' | 'get'>;
  workspace: Workspace;
  signals: SignalsStore;
  /** Whether a session counts. */
  belongs: (sessionKey: string) => boolean;
  maxAgeDays: number;
  now: () => number;
  pace: Pace;
}

/**
 * Adds the recalls of stored messages to the signals, each message once: for a user's message the memories recalled before the reply, for
 * an agent's search its results. Messages of other hosts that arrive up to a week late are included. Resolves with the number of messages.
 */
export async function takeRecalls({ messages, workspace, signals, belongs, maxAgeDays, now, pace }: RecallSignalsDeps): Promise<number> {
  const until = now();
  const last = await signals.recallsUntil();
  const from = Math.max(until - maxAgeDays * DAY_MS, last === undefined ? 0 : Math.min(last, until) - LATE_MS);
  const recalling = await recallingMessages(messages, { from, belongs, pace });
  const places = new RecalledPlaces(workspace, pace);
  const all = [];
  for (const { id, at, query, pieces } of recalling) {
    const noted: Noted[] = [];
    for (const piece of pieces) {
      const place = await places.find(piece);
      if (place && saysSomething(place.content))
        noted.push({ ...place, query, tags: piece.tags, score: piece.score, at: Math.min(at, until) });
    }
    all.push({ id, at, noted });
  }
  return signals.noteRecalls(all, until);
}
