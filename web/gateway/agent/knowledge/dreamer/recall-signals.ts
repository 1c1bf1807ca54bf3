import type { Pace } from '../../../knowledge/dreaming/pace.ts';
import { RecallSourceFinder } from '../../../knowledge/dreaming/recall-sources.ts';
import { isInformative } from '../../../knowledge/dreaming/is-informative.ts';
import { DAY_MS } from '../../../knowledge/dreaming/signal.ts';
import type { SignalInput, SignalsStore } from '../../../knowledge/dreaming/signals-store.ts';
import { MAX_DELAY_MS } from '../../../knowledge/dreaming/counted-messages.ts';
import type { Workspace } from '../../../knowledge/memory/workspace.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import { findRecallMessages } from './recalled-messages.ts';

interface RecallSignalsDeps {
  messages: Pick<Vault['messages'], 'listFrom' | 'get'>;
  workspace: Workspace;
  signals: SignalsStore;
  /** Whether a session counts. */
  includesSession: (sessionKey: string) => boolean;
  maxAgeDays: number;
  now: () => number;
  pace: Pace;
}

/**
 * Adds the recalls of stored messages to the signals, each message once: for a user's message the memories recalled before the reply, for
 * an agent's search its results. Messages of other hosts that arrive up to a week late are included. Resolves with the number of messages.
 */
export async function collectRecalls({
  messages,
  workspace,
  signals,
  includesSession,
  maxAgeDays,
  now,
  pace,
}: RecallSignalsDeps): Promise<number> {
  const until = now();
  const last = await signals.recallsUntil();
  const from = Math.max(until - maxAgeDays * DAY_MS, last === undefined ? 0 : Math.min(last, until) - MAX_DELAY_MS);
  const recalling = await findRecallMessages(messages, { from, belongs: includesSession, pace });
  const sources = new RecallSourceFinder(workspace, pace);
  const all = [];
  for (const { id, at, query, memories } of recalling) {
    const signals: SignalInput[] = [];
    for (const piece of memories) {
      const source = await sources.find(piece);
      if (source && isInformative(source.content))
        signals.push({ ...source, query, tags: piece.tags, score: piece.score, at: Math.min(at, until) });
    }
    all.push({ id, at, noted: signals });
  }
  return signals.noteRecalls(all, until);
}
