import { type PortClient, createPortClient } from '#shared/link/port-calls.ts';
import { fetchOverStream } from '#shared/link/stream-http.ts';
import type { Mux } from '#shared/link/mux.ts';
import { textLink } from '#shared/link/text-link.ts';
import {
  type JournalContracts,
  journalContracts,
  journalEvents,
  type JournalEvents,
  type SequencedRecord,
} from '#shared/ports/journal-port.ts';
import { MAX_JOURNAL_BATCH } from '#shared/ports/journal-batch.ts';
import { BLOBS_KIND, JOURNAL_KIND } from '#shared/ports/journal-streams.ts';
import type { SealingKey } from '../storage/secret-sealing.ts';

/** Room for a batch with its envelopes, encoded twice as JSON; a single record may be longer than a batch. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024 + 2 * MAX_JOURNAL_BATCH.chars;
const BLOB_TIMEOUT_MS = 60_000;

/** A host's connection to the journal. */
export interface JournalConnection extends PortClient<JournalContracts, JournalEvents> {
  /** Set if the journal is remote, so that writes do not wait for it. */
  readonly isBehind?: true;
  /** Key that seals the vault's secrets, if `journal.open` does not return it. */
  readonly vaultKey?: SealingKey;
  /**
   * Called when everything has been read: if records may have been skipped, searches for them in the background and passes them to `take`.
   */
  readonly recheck?: (take: (records: readonly SequencedRecord[]) => Promise<void>) => void;
  putBlob(hash: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Undefined if the journal does not have it. */
  getBlob(hash: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

/** The journal's port over an uplink (shared/ports/journal-port.ts). */
export function openJournalConnection(mux: Mux): JournalConnection {
  const calls = createPortClient(
    textLink(mux.open({ kind: JOURNAL_KIND }), () => MAX_MESSAGE_BYTES),
    journalContracts,
    journalEvents,
  );
  const fetchBlob = (method: string, hash: string, body?: Uint8Array<ArrayBuffer>): Promise<Response> =>
    fetchOverStream(
      mux,
      { kind: BLOBS_KIND, headers: { ':method': method, ':path': `/${hash}` } },
      { method, signal: AbortSignal.timeout(BLOB_TIMEOUT_MS), ...(body ? { body } : {}) },
    );
  return {
    ...calls,
    async putBlob(hash, bytes) {
      const response = await fetchBlob('PUT', hash, bytes);
      if (!response.ok) throw new Error(`The journal rejected an attachment: ${(await response.text()).slice(0, 200)}`);
      await response.body?.cancel();
    },
    async getBlob(hash) {
      const response = await fetchBlob('GET', hash);
      if (response.status === 404) return undefined;
      if (!response.ok) throw new Error(`The journal could not return an attachment: ${response.status}`);
      return new Uint8Array(await response.arrayBuffer());
    },
  };
}
