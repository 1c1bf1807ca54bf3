/** Kinds of content whose origin is recorded. `name` in their keys: ID of a memory or claim, date, content hash, path of a report. */
export type ProvenanceKind = 'memory' | 'day' | 'claim' | 'dream' | 'report';

/** A message that content was made from. `hash`: keyed hash of its text at that time. */
export interface MessageOrigin {
  sessionKey: string;
  messageId: string;
  role: string;
  at: number;
  hash: string;
}

/** Lines of a file of the workspace that content was made from. */
export interface FileOrigin {
  path: string;
  /** Such as `3-7`; undefined for the whole file. */
  lines?: string;
  hash: string;
}

/** Who wrote a version: a person, a program with an API key, an agent, a summary of a chat or day, dreaming, or an import. */
export type ProvenanceAuthor = 'person' | 'program' | 'agent' | 'summary' | 'dreaming' | 'import';

/** A version of content, signed together with the signature of the version before it. */
export interface ProvenanceVersion {
  at: number;
  by: ProvenanceAuthor;
  /** Keyed hash of the text. */
  hash: string;
  messages: MessageOrigin[];
  files: FileOrigin[];
  /** Key of the hashes and the signature. */
  keyId: string;
  /** Signature of the previous version; null for the first. */
  previous: string | null;
  signature: string;
}

/** The origin of a memory, daily summary, claim or dream. */
export interface ProvenanceRecord {
  /** `<workspace>/<kind>/<name>` */
  id: string;
  /** Part of each signature. It stays if the ID of a memory changes with its text. */
  chain: string;
  /** Time of a memory, by which one whose text was edited in the file is found. */
  createdAt?: number;
  versions: ProvenanceVersion[];
}

/** What was forgotten. It contains no text. */
export interface ForgettingRecord {
  id: string;
  at: number;
  workspace: string;
  /** Whether everything is deleted, so that other replicas can delete what they derived from it. */
  isComplete: boolean;
  /** Number of deleted pieces by kind. */
  removed: Record<string, number>;
  /** What remained, by kind, and why. */
  remaining: { kind: string; reason: string; count: number }[];
  /** Messages that stay in chats but are no longer read by memory. */
  messages: string[];
  /** Content IDs of deleted texts, by which each replica deletes their vectors. */
  texts: string[];
}
