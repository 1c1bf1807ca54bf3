import type { Approval } from '#shared/rpc/methods/approval-contracts.ts';
import type { CronJobDefinition, CronRun } from '#shared/rpc/methods/cron-contracts.ts';
import type { DeviceRecord } from '#shared/rpc/methods/device-contracts.ts';
import type { KeyRecord } from '#shared/rpc/methods/key-contracts.ts';
import type { ExecPolicy, ExecRequest } from '#shared/rpc/methods/exec-contracts.ts';
import type { Plan } from '#shared/rpc/methods/plan-contracts.ts';
import type { UsagePurpose } from '#shared/rpc/methods/usage-contracts.ts';
import type { FileEntry } from '#shared/rpc/methods/workspace-contracts.ts';
import type { FileRecord } from '#shared/rpc/workspace-file.ts';
import type { Compaction, Usage } from '#shared/rpc/record-schemas.ts';
import type { ConflictCopy } from '#shared/sync/conflict.ts';
import type { SyncStore } from '#shared/sync/record.ts';
import type { SearchOptions, SearchPage } from './chat-search.ts';
import type { ChannelState } from './records/channel-state.ts';
import type { ApiFileRecord } from './records/api-file-record.ts';
import type { BudgetRecord } from './records/budget-record.ts';
import type { DeliveryRecord } from './records/delivery-record.ts';
import type { HookCallRecord, HookRecord } from './records/hook-records.ts';
import type { ConversationRecord } from './records/conversation-record.ts';
import type { ProjectRecord } from './records/project-record.ts';
import type { ForgettingRecord, ProvenanceRecord } from './records/provenance-record.ts';
import type { PushDeviceRecord } from './records/push-device.ts';
import type { ResponseRecord } from './records/response-record.ts';
import type { ContentLabel } from './records/content-label.ts';
import type {
  SessionRecord,
  MessageRecord,
  RunContext,
  RunStep,
  RunProgress,
  StepResult,
  RunRecord,
  RecallReply,
  MessageMatch,
  RunOutcome,
  Branch,
} from './chat-records.ts';
import type { CollectionDocumentRecord, CollectionRecord, CollectionTextRecord } from './records/collection-records.ts';
import type { DocumentStore } from './document-store.ts';
import type { DrawingRecord, DrawingChange } from './records/drawing-record.ts';
import type { ForgetStore } from './forget-store.ts';
import type { LogRecord } from './records/log-record.ts';
import type { McpToolRecord } from './records/mcp-tool-record.ts';
import type { TrashStore } from './trash-store.ts';
import type { FileChange, FileChangeResult } from './records/file-change.ts';

type SessionChange = Partial<Omit<SessionRecord, 'key' | 'agentId' | 'sessionId'>>;

export type RunStatus = 'queued' | 'running' | 'done' | 'failed' | 'aborted' | 'interrupted';

export interface UsageRecord {
  id: string;
  at: number;
  provider: string;
  model: string;
  sessionKey: string | null;
  /** The caller: `owner`, or an API key's id. */
  principal: string;
  usage: Usage;
  /** `chat` if undefined. */
  purpose?: UsagePurpose;
  /** Agent of a call without a session. */
  agentId?: string;
  /** Cron job of the run. */
  jobId?: string;
  /** Further scopes of budgets that it counts for: those of the runs that a sub-agent works for. */
  parentScopes?: string[];
}

/** The host that asks a person for approval and acts on the answer: its origin and its replica. */
export interface RequestOrigin {
  origin: string;
  replica: string;
}

export type ExecRecord = ExecRequest &
  RequestOrigin & {
    /** The connection that made the request; undefined for an agent. */
    connId?: string;
    /** Outside sources that the run had read: files written by the command are labelled with them. */
    readOutside?: string[];
    /** Whether all files that it wrote have been found. */
    isSettled?: boolean;
  };

export type ApprovalRecord = Approval & RequestOrigin;

/** Types of independent records, by store. */
export interface Collections {
  plans: Plan;
  jobs: CronJobDefinition;
  jobRuns: JobRunRecord;
  execRequests: ExecRecord;
  execPolicies: ExecPolicy;
  approvals: ApprovalRecord;
  devices: DeviceRecord;
  apiKeys: KeyRecord;
  projects: ProjectRecord;
  hooks: HookRecord;
  hookCalls: HookCallRecord;
  budgets: BudgetRecord;
  pushDevices: PushDeviceRecord;
  deliveries: DeliveryRecord;
  responses: ResponseRecord;
  conversations: ConversationRecord;
  apiFiles: ApiFileRecord;
  systemEvents: SystemEvent;
  mcpTools: McpToolRecord;
  channelStates: ChannelState;
  drawings: DrawingRecord;
  drawingChanges: DrawingChange;
  contentLabels: ContentLabel;
  provenance: ProvenanceRecord;
  forgettings: ForgettingRecord;
  fileVersions: FileVersionRecord;
  collections: CollectionRecord;
  collectionDocuments: CollectionDocumentRecord;
  collectionTexts: CollectionTextRecord;
}

/** A record to write together with others; without `record` it is removed. */
export type RecordWrite<Name extends keyof Collections = keyof Collections> = {
  [N in Name]: { store: N; key: string; record?: Collections[N] };
}[Name];

/** An earlier version of a file that a tool replaced or removed. */
export interface FileVersionRecord extends Omit<FileRecord, 'key'> {
  /** `<workspace>/<path>@<random>` */
  id: string;
  /** Time of the replacement, in milliseconds since 1970. */
  at: number;
  toolCallId?: string;
  /** Outside sources of its label. */
  outside?: string[];
  /** Labels of its memories, for a long-term file; undefined in versions of older builds, which stored none. */
  memories?: { id: string; outside: string[] }[];
}

/** Reads and changes such records; every change is strict. */
export interface Collection<T> {
  get(key: string): Promise<T | undefined>;
  /** All records by key, or those whose keys start with `prefix`. */
  list(prefix?: string): Promise<T[]>;
  /** Keys of all records, or those that start with `prefix`; reads no record. */
  keys(prefix?: string): Promise<string[]>;
  put(record: T): Promise<void>;
  /**
   * Replaces the record with the result of `change`, in one transaction; undefined leaves it unchanged. Resolves with the record after
   * that.
   */
  update(key: string, change: (before: T | undefined) => T | undefined): Promise<T | undefined>;
  /** False if there was none. */
  remove(key: string): Promise<boolean>;
}

/** A run of a cron job, as it is stored. */
export interface JobRunRecord extends CronRun {
  /** The worker that executes it, and its replica. */
  executor?: string;
  replica?: string;
  /** Hash of the delivered text. */
  resultHash?: string;
  /** For the heartbeat: whether nothing needed attention. */
  isSilent?: boolean;
}

/** An event that an agent is told about at its next run. */
export interface SystemEvent {
  id: string;
  text: string;
  at: number;
  /** The caller; undefined in records of earlier builds. */
  principal?: string;
}

/**
 * Storage for the gateway core. Writes that acknowledge data commit with strict durability before the promise resolves, together with their
 * rows in the change log. A write rejects with `StorageFullError` if the quota is exceeded, and with `OwnershipLostError` if another owner has taken
 * over.
 */
export interface Vault {
  sessions: {
    list(): Promise<SessionRecord[]>;
    get(key: string): Promise<SessionRecord | undefined>;
    /** Changes fields of a session; undefined if there is none. A function receives the current session. */
    update(key: string, change: SessionChange | ((session: SessionRecord) => SessionChange)): Promise<SessionRecord | undefined>;
    /** Strict: adds a session with its messages, all or nothing; the branch ends in the last one. False if the key exists. */
    add(session: SessionRecord, messages: readonly MessageRecord[]): Promise<boolean>;
    /**
     * Strict: appends a message to the session's active branch; adds the session if there is none. A message that exists already is not
     * added again. False if a run of the session is active, whose reply has to come first.
     */
    append(session: SessionRecord, message: Omit<MessageRecord, 'parentId' | 'depth'>): Promise<boolean>;
    /** Removes the session, its messages and its runs; false if there was none. */
    remove(key: string): Promise<boolean>;
    /** Removes the session's messages and runs but keeps the session; false if there was none. */
    clear(key: string): Promise<boolean>;
  };
  messages: {
    get(id: string): Promise<MessageRecord | undefined>;
    /**
     * At most `limit` messages of the branch that ends in the session's head (or above `before`). Never reads a whole long session for a
     * page, nor an attachment of more than `most` characters of base64.
     */
    branch(sessionKey: string, options: { limit: number; before?: string; most?: number }): Promise<Branch>;
    /**
     * Strict: activates the branch through that message, down to the newest message below it. Resolves with the id of that message;
     * undefined if the session has no message `id`.
     */
    selectBranch(sessionKey: string, id: string): Promise<string | undefined>;
    /** All messages of a session, on every branch, those closer to the root first. */
    listAll(sessionKey: string): Promise<MessageRecord[]>;
    /** Strict: stores at a message that the conversation was summarized up to it. False if the message or its session does not exist. */
    compact(id: string, compaction: Compaction): Promise<boolean>;
    /** Relaxed: stores the context given to models with a message. No effect if the message does not exist. */
    setRunContext(id: string, context: RunContext): Promise<void>;
    /** Strict: removes the lines that quote a memory from the contexts of all messages. */
    removeMemoryLines(memoryId: string): Promise<void>;
    /** Strict: marks messages and their summaries as reviewed by a person. */
    review(ids: readonly string[]): Promise<void>;
    /** The newest messages of listed sessions, newest first, for retrieval; at most `limit`. */
    recent(limit: number): Promise<MessageRecord[]>;
    /** Messages from `listFrom` to `to` (exclusive), oldest first, without attachments. */
    listBetween(from: number, to: number): Promise<MessageRecord[]>;
    /** Number of messages in each span, and the time of the newest; null if there is none. Reads no message. */
    countSpans(spans: readonly { from: number; to: number }[]): Promise<{ count: number; newest: number | null }[]>;
    /**
     * Replies for which something was recalled, newest first, with the messages that they answer. `next`: value for `before` of the next
     * page; null at the end.
     */
    listRecalled(options: {
      before: number;
      limit: number;
      accepts(sessionKey: string): boolean;
    }): Promise<{ replies: RecallReply[]; next: number | null }>;
    /** Messages since a time (milliseconds since 1970), oldest first, for their text; at most `limit`. */
    listFrom(at: number, limit: number): Promise<MessageRecord[]>;
  };
  /** Full-text search (the index is local to this replica). */
  search: {
    /**
     * Sessions that match by title or by a message: all words and "phrases" of `text`, where the last word may be incomplete. Best first.
     */
    sessions(text: string, options: SearchOptions): Promise<SearchPage>;
    /** Single messages, without attachments, that contain all or any of the words. Best first. */
    messages(text: string, options: { limit: number; need: 'all' | 'any' }): Promise<MessageMatch[]>;
    /** Deletes the index, with the words of deleted and changed messages, and makes it again. */
    rebuild(): Promise<void>;
  };
  runs: {
    /**
     * Stores the person's message (null on resend: `userMessageId` exists already), the run, and the session (created at the first message)
     * in one strict transaction, and moves the session's head to the message.
     */
    begin(input: { session: SessionRecord; message: MessageRecord | null; run: RunRecord }): Promise<void>;
    /**
     * Relaxed: the text of the current step, for the next start of this host. `shared`: the text of all steps, for other hosts; undefined
     * leaves that unchanged.
     */
    savePartial(runId: string, partial: string, shared?: string): Promise<void>;
    /** Relaxed: stores a step, in case the host dies. The partial text starts over after it. */
    saveStep(step: RunStep): Promise<void>;
    /** Relaxed: stores the result of one of its calls separately, since a step may have many long ones. */
    saveResult(result: StepResult): Promise<void>;
    /** Relaxed: what other hosts need to end the run, in addition to its text. */
    saveProgress(runId: string, progress: RunProgress): Promise<void>;
    /** Steps of a run that has not ended, oldest first, with their results; only those stored in this replica. */
    steps(runId: string): Promise<RunStep[]>;
    /**
     * Strict: stores the run's end, its messages and usage, and updates the session's head, `updatedAt`, `messageCount`, `size` and
     * `preview`. If the session was deleted or reset during the run, only the run's end and usage are stored.
     */
    finish(outcome: RunOutcome): Promise<void>;
    /**
     * Strict: removes a run that has no results yet, and the message that it was to answer. The session is as before, or removed if it
     * started with them. Undefined if nothing was removed, because another message follows or another host has the run.
     */
    withdraw(runId: string): Promise<'message' | 'session' | undefined>;
    /** Runs that have not ended: active here or on another host, or of a host that died. */
    unfinished(): Promise<RunRecord[]>;
    /**
     * Strict: makes this host the run's executor, under a higher fence; later writes of the previous executor are dropped. False if the run
     * has ended.
     */
    claim(runId: string, fence: number): Promise<boolean>;
  };
  /** The configuration: one JSON document without secrets. */
  config: {
    read(): Promise<Record<string, unknown> | undefined>;
    /**
     * Strict. Secrets (by name, null removes) change in the same transaction, so that a key is never combined with another address. `base`:
     * the document that `value` was made from; members that are equal in both stay as stored, since another host may have changed them.
     */
    write(value: Record<string, unknown>, secrets?: ReadonlyMap<string, string | null>, base?: Record<string, unknown>): Promise<void>;
  };
  /** Secrets by name, encrypted at rest with a non-exportable key. */
  secrets: {
    get(name: string): Promise<string | undefined>;
    /** Null removes the secret. */
    set(name: string, value: string | null): Promise<void>;
  };
  /** Free-form facts to remember, for the guide and the memory tools. */
  memories: {
    add(memory: MemoryRecord): Promise<void>;
    remove(id: string): Promise<boolean>;
    list(): Promise<MemoryRecord[]>;
  };
  /** Files of workspaces. */
  files: {
    /** Files of a workspace whose path starts with `prefix`, by path; reads no content. */
    list(workspace: string, prefix: string): Promise<FileEntry[]>;
    get(workspace: string, path: string): Promise<FileRecord | undefined>;
    /** Names of workspaces that have files. */
    workspaces(): Promise<string[]>;
    /**
     * Strict. Calls `check` with the number and total bytes of the workspace's other files, and rejects with its error. Resolves with the
     * stored record: its time is later than that of the previous version, whatever the clock says.
     */
    put(file: FileRecord, check: (others: { files: number; bytes: number }) => void): Promise<FileRecord>;
    /** Strict; false if there was none. */
    remove(workspace: string, path: string): Promise<boolean>;
    /** Strict: applies the changes to files that are still as they were seen and fit the limits, in one transaction. */
    replace(workspace: string, changes: readonly FileChange[], limits: { files: number; bytes: number }): Promise<FileChangeResult[]>;
    /** Watches local writes and removals, not those of other hosts; returns a function that stops watching. */
    watch(listener: (change: { workspace: string; path: string; removed: boolean }) => void): () => void;
  };
  /** Deleted items; their code is loaded on first use. */
  trash(): Promise<TrashStore>;
  /** Finds and changes texts in all stores; its code is loaded on first use. */
  forgetting(): Promise<ForgetStore>;
  /** Documents of collections; their code is loaded on first use. */
  documents(): Promise<DocumentStore>;
  /** Records of the other kinds. */
  collection<Name extends keyof Collections>(name: Name): Collection<Collections[Name]>;
  /** Strict: writes several records, all or nothing. */
  writeAll(writes: readonly RecordWrite[]): Promise<void>;
  /** Versions of records that lost a sync conflict (shared/sync). */
  conflicts: {
    /** `<store>/<key>/<clock>` of each conflict; reads no content. */
    ids(): Promise<string[]>;
    get(id: string): Promise<ConflictCopy | undefined>;
    /** The current version in the store, as JSON; undefined if the record does not exist. */
    current(copy: ConflictCopy): Promise<string | undefined>;
    /**
     * Strict: discards the copy (`addStrict`), or replaces the current version with it first (`restore`; a file is written like any other,
     * before its copy is discarded). False if there is no such copy.
     */
    resolve(id: string, choice: 'keep' | 'restore'): Promise<boolean>;
  };
  /** Watches changes by other hosts, after they are stored here; returns a function that stops watching. */
  onRemoteChanges(listener: (changes: readonly RemoteChange[]) => void): () => void;
  /** Id of this writer: different at each start. */
  readonly origin: string;
  /** Id of this replica; a cloned profile has the same. */
  readonly replica: string;
  usage: {
    /** Group-committed, at most 50 ms later. */
    add(record: UsageRecord): void;
    /** Stores at once, all or nothing; a record that exists already is counted once. */
    addStrict(records: UsageRecord[]): Promise<void>;
    since(at: number): Promise<UsageRecord[]>;
  };
  /** The log: a ring, local to this replica. */
  logs: {
    /** Relaxed, all or nothing. Line numbers are higher than any before; lines beyond the newest 10,000 are removed periodically. */
    append(lines: readonly LogRecord[]): Promise<void>;
    /** At most `limit` lines numbered from `listFrom` up to `to` (exclusive), by number. */
    range(from: number, to: number, limit: number): Promise<LogRecord[]>;
    /** Numbers of the oldest and the newest line; null if the log is empty. */
    span(): Promise<{ first: number; last: number } | null>;
  };
  /** Strict: writes a local record and reads it back. Rejects like every write, or if it cannot be read. */
  check(): Promise<void>;
  /** Milliseconds by which the newest change of other hosts is ahead of this host's clock; 0 or less if it is not. */
  getClockLead(): number;
  close(): Promise<void>;
}

export interface MemoryRecord {
  id: string;
  text: string;
  category: string;
  createdAt: number;
}

/** A record changed by another host. */
export interface RemoteChange {
  store: SyncStore;
  key: string;
  deleted: boolean;
  /** For messages, runs, sessions and heads. */
  sessionKey?: string;
}
