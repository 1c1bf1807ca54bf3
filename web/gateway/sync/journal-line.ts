import { type Caller, caller } from '#shared/link/calls.ts';
import { fetchOver } from '#shared/link/http.ts';
import type { Mux } from '#shared/link/mux.ts';
import { textLink } from '#shared/link/text-link.ts';
import {
  BATCH,
  BLOBS_PORT,
  JOURNAL_PORT,
  type JournalCalls,
  journalCalls,
  journalEvents,
  type JournalEvents,
  type SequencedRecord,
} from '#shared/ports/journal.ts';
import type { SealingKey } from '../storage/sealing.ts';

/** Room for a batch with its envelopes, encoded twice as JSON; a single record may be longer than a batch. */
const MAX_MESSAGE = 64 * 1024 * 1024 + 2 * BATCH.chars;
const BLOB_MS = 60_000;

/** A host's connection to the journal. */
export interface JournalLine extends Caller<JournalCalls, JournalEvents> {
  /** Set if the journal is remote, so that writes do not wait for it. */
  readonly isBehind?: true;
  /** Key that seals the vault's secrets, if `journal.open` does not return it. */
  readonly vaultKey?: SealingKey;
  /**
   * Called when everything has been read: if records may have been skipped, searches for them in the background and passes them to `take`.
   */
  readonly lookAgain?: (take: (records: readonly SequencedRecord[]) => Promise<void>) => void;
  putBlob(hash: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Undefined if the journal does not have it. */
  getBlob(hash: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

/** The journal's port over an uplink (shared/ports/journal.ts). */
export function journalLine(mux: Mux): JournalLine {
  const calls = caller(
    textLink(mux.open({ kind: JOURNAL_PORT }), () => MAX_MESSAGE),
    journalCalls,
    journalEvents,
  );
  const exchange = (method: string, hash: string, body?: Uint8Array<ArrayBuffer>): Promise<Response> =>
    fetchOver(
      mux,
      { kind: BLOBS_PORT, headers: { ':method': method, ':path': `/${hash}` } },
      { method, signal: AbortSignal.timeout(BLOB_MS), ...(body ? { body } : {}) },
    );
  return {
    ...calls,
    async putBlob(hash, bytes) {
      const response = await exchange('PUT', hash, bytes);
      if (!response.ok) throw new Error(`The journal rejected an attachment: ${(await response.text()).slice(0, 200)}`);
      await response.body?.cancel();
    },
    async getBlob(hash) {
      const response = await exchange('GET', hash);
      if (response.status === 404) return undefined;
      if (!response.ok) throw new Error(`The journal could not return an attachment: ${response.status}`);
      return new Uint8Array(await response.arrayBuffer());
    },
  };
}
