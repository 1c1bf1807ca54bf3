import type { SequencedRecord } from '#shared/ports/journal-port.ts';
import type { JournalInfo } from '#shared/ports/journal-info.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import type { OpenedJournal, PushResult, ReplicaRequest } from './journal.ts';
import type { LeaseRequest } from '#shared/sync/lease-request.ts';

/** Start parameters of the thread. */
export interface ThreadData {
  /** Folder of the journal. */
  dir: string;
  /** 256 bits, base64url. */
  vaultKey: string;
}

/** Requests to the journal's thread and their responses. */
interface ThreadCalls {
  open: { params: { replica: ReplicaRequest }; answer: OpenedJournal };
  push: {
    params: { records: readonly SyncRecord[]; pusher: string; schema: number | undefined };
    answer: PushResult;
  };
  takeLease: { params: { lease: LeaseRequest }; answer: number | null };
  releaseLease: { params: { name: string; holder: string; fence: number }; answer: void };
  putBlob: { params: { hash: string; bytes: Uint8Array }; answer: void };
  pull: {
    params: { after: number; limit: number; except: string | undefined };
    answer: { records: SequencedRecord[]; next: number; head: number };
  };
  /** Returns a snapshot's next page. The first call starts it, an empty page ends it. */
  snapshot: { params: { snapshot: string }; answer: SequencedRecord[] };
  endSnapshot: { params: { snapshot: string }; answer: void };
  getBlob: { params: { hash: string }; answer: Uint8Array | undefined };
  info: { params: object; answer: JournalInfo };
  close: { params: object; answer: void };
}
export type CallName = keyof ThreadCalls;
export type ThreadParams<N extends CallName> = ThreadCalls[N]['params'];
export type ThreadResult<N extends CallName> = ThreadCalls[N]['answer'];

export type ThreadRequest = { [N in CallName]: { id: number; call: N } & ThreadParams<N> }[CallName];

/** An error as sent between threads, where errors lose their class. */
export interface ThreadFailure {
  full: boolean;
  message: string;
}
export type ThreadReply = { id: number; value: unknown } | { id: number; failure: ThreadFailure };

export type ThreadMessage =
  | { kind: 'started'; path: string; head: number }
  | { kind: 'failed'; failure: ThreadFailure }
  /** `head`: the newest sequence number; it changes whenever something is written. */
  | { kind: 'replies'; replies: ThreadReply[]; head: number }
  | { kind: 'replaced'; reason: string };
