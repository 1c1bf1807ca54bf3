import type { ClusterReport } from '#shared/ports/cluster-report.ts';
import type { AttachedHost, JournalInfo } from '#shared/ports/journal-info.ts';
import type { SyncState } from '#shared/rpc/methods/sync-contracts.ts';

/** Access to the journal and to other hosts, over the host's connection to the bridge. */
export interface SyncPort {
  state(): SyncState;
  /** Calls back at every change of the state; returns a function that stops watching. */
  watch(listener: () => void): () => void;
  /** Facts about the journal on disk and the attached hosts; null if no bridge is attached. */
  info(): Promise<{ journal: JournalInfo; hosts: AttachedHost[] } | null>;
  /** State of the vault's replication to other machines; null if there is no other machine, or no bridge reports it. */
  cluster(): Promise<ClusterReport | null>;
  /** Whether other machines have the vault too, as of the last time it was opened; undefined if unknown. */
  isShared(): boolean | undefined;
  /**
   * Resolves when the journal has been read up to that sequence number (`JournalInfo`, `head`), after a few seconds, or when the bridge
   * detaches.
   */
  waitForPosition(seq: number): Promise<void>;
  /**
   * Returns the fencing number for taking over a run from `executor`; null if the executor is still attached, another host has claimed the
   * run, or the bridge is away.
   */
  claim(runId: string, executor: string): Promise<number | null>;
  /**
   * Acquires a named lease for this host, for at most `ttlMs`. Returns its fence, or null if another host holds the lease or the bridge is
   * away. `settled`: only after everything that this host has stored has reached the vault's other machines.
   */
  lease(name: string, ttlMs: number, isSettled?: boolean): Promise<number | null>;
  /** Releases such a lease. Never rejects: if the request fails, the lease expires. */
  release(name: string, fence: number): Promise<void>;
  /** Sends a payload to another host (undefined: the active one); false if it is not attached. */
  signal(to: string | undefined, payload: unknown): Promise<boolean>;
  onsignal(listener: (from: string, payload: unknown) => void): () => void;
}
