import type { JournalInfo, SequencedRecord } from '#shared/ports/journal.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import type { Opened, Pushed, Replica } from './journal.ts';
import type { LeaseWanted } from '#shared/sync/lease.ts';

/** What the thread is started with. */
export interface ThreadData {
  /** The folder that the journal lies in. */
  dir: string;
  /** 256 bit, base64url. */
  vaultKey: string;
}

/** What the journal's thread is asked, and what it answers. */
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
  /** A snapshot's next page; the first one begins it, an empty one ends it. */
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

/** A failure as it crosses threads: errors lose their class there. */
export interface Failure {
  full: boolean;
  message: string;
}
export type Reply = { id: number; value: unknown } | { id: number; failure: Failure };

export type ThreadMessage =
  | { kind: 'started'; path: string; head: number }
  | { kind: 'failed'; failure: Failure }
  /** `head`: the newest sequence number; where it is another one than before, something was written. */
  | { kind: 'replies'; replies: Reply[]; head: number }
  | { kind: 'replaced'; reason: string };
