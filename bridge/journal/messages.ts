import type { JournalInfo, SequencedRecord } from '#shared/ports/journal.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import type { Opened, Pushed, Replica } from './journal.ts';
import type { LeaseWanted } from '#shared/sync/lease.ts';

/** Start parameters of the thread. */
export interface ThreadData {
  /** Folder of the journal. */
  dir: string;
  /** 256 bits, base64url. */
  vaultKey: string;
}

/** Requests to the journal's thread and their responses. */
export interface ThreadCalls {
  open: { asked: { replica: Replica }; answer: Opened };
  push: {
    asked: { records: readonly SyncRecord[]; pusher: string; schema: number | undefined };
    answer: Pushed;
  };
  takeLease: { asked: { lease: LeaseWanted }; answer: number | null };
  releaseLease: { asked: { name: string; holder: string; fence: number }; answer: void };
  putBlob: { asked: { hash: string; bytes: Uint8Array }; answer: void };
  pull: {
    asked: { after: number; limit: number; except: string | undefined };
    answer: { records: SequencedRecord[]; next: number; head: number };
  };
  /** Returns a snapshot's next page. The first call starts it, an empty page ends it. */
  snapshot: { asked: { snapshot: string }; answer: SequencedRecord[] };
  endSnapshot: { asked: { snapshot: string }; answer: void };
  getBlob: { asked: { hash: string }; answer: Uint8Array | undefined };
  info: { asked: object; answer: JournalInfo };
  close: { asked: object; answer: void };
}
export type CallName = keyof ThreadCalls;
export type AskedOf<N extends CallName> = ThreadCalls[N]['asked'];
export type AnswerOf<N extends CallName> = ThreadCalls[N]['answer'];

export type ThreadRequest = { [N in CallName]: { id: number; call: N } & AskedOf<N> }[CallName];

/** An error as sent between threads, where errors lose their class. */
export interface Failure {
  full: boolean;
  message: string;
}
export type Reply = { id: number; value: unknown } | { id: number; failure: Failure };

export type ThreadMessage =
  | { kind: 'started'; path: string; head: number }
  | { kind: 'failed'; failure: Failure }
  /** `head`: the newest sequence number; it changes whenever something is written. */
  | { kind: 'replies'; replies: Reply[]; head: number }
  | { kind: 'replaced'; reason: string };
