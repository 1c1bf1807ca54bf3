import type { ClusterFacts } from '#shared/ports/cluster.ts';
import type { AttachedHost, JournalInfo } from '#shared/ports/journal.ts';
import type { SyncState } from '#shared/rpc/methods/sync.ts';

/** What the core asks of the journal and of the other hosts, over the host's line to the bridge. */
export interface SyncPort {
  state(): SyncState;
  /** Calls back at every change of the state; the result stops it. */
  watch(listener: () => void): () => void;
  /** What is on disk and who is attached; null where no bridge is there. */
  info(): Promise<{ journal: JournalInfo; hosts: AttachedHost[] } | null>;
  /** How the vault stands with its other machines; null where it is on one alone, or no bridge says it. */
  cluster(): Promise<ClusterFacts | null>;
  /** Whether other machines have the vault too, as was said when it was opened last; undefined where nobody has. */
  shared(): boolean | undefined;
  /** Resolves when everything up to that sequence number of the journal (`JournalInfo`, `head`) has been read, or after some seconds, or when the bridge is gone. */
  reached(seq: number): Promise<void>;
  /**
   * The fencing number under which a run may be taken over from `executor`; null: that one is there still, another host has taken it, or nobody can say
   * because the bridge is away.
   */
  claim(runId: string, executor: string): Promise<number | null>;
  /**
   * A lease of that name for this host alone, for `ttlMs` at the most: its fence; null where another host has it, or nobody can say. `settled`: only once all that this
   * host has stored is with the vault's other machines too.
   */
  lease(name: string, ttlMs: number, settled?: boolean): Promise<number | null>;
  /** Gives such a lease back. Never rejects: where that cannot be said it ends by its time. */
  release(name: string, fence: number): Promise<void>;
  /** Hands something to another host (absent: the one that serves); false where it is not attached. */
  signal(to: string | undefined, payload: unknown): Promise<boolean>;
  onsignal(listener: (from: string, payload: unknown) => void): () => void;
}
