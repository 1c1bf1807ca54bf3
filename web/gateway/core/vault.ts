import type { Change } from '#shared/canvas/change.ts';
import type { LogLevel } from '#shared/rpc/log-level.ts';
import type { Approval } from '#shared/rpc/methods/approvals.ts';
import type { JobDefinition, JobRun } from '#shared/rpc/methods/cron.ts';
import type { DeviceRecord } from '#shared/rpc/methods/device.ts';
import type { KeyRecord } from '#shared/rpc/methods/keys.ts';
import type { ExecPolicy, ExecRequest } from '#shared/rpc/methods/exec.ts';
import type { Plan } from '#shared/rpc/methods/plan.ts';
import type { UsagePurpose } from '#shared/rpc/methods/usage.ts';
import type { FileEntry, FileRecord } from '#shared/rpc/methods/workspace.ts';
import type { Kept } from './providers/provider.ts';
import type { Compaction, HistoryMessage, SessionEntry, Usage } from '#shared/rpc/records.ts';
import type { ConflictCopy } from '#shared/sync/conflict.ts';
import type { SyncStore } from '#shared/sync/record.ts';
import type { ChannelState } from './channels/state.ts';
import type { ApiFileRecord } from './http/files/record.ts';
import type { ConversationRecord } from './http/conversations/conversation-record.ts';
import type { ResponseRecord } from './http/responses/record.ts';
import type { RoutedCall } from './tools/routed-call.ts';
import type { ContentLabel } from './trust/labels.ts';

/** A session as it is kept; its key is `<agentId>/<sessionId>`. */
export interface SessionRecord extends Omit<SessionEntry, 'file' | 'path' | 'running' | 'removedAgent'> {
  /** Name of the agent, if it was removed; null if there is one of its id again. */
  removedAgent?: string | null;
  /** `<agentId>/<sessionId>`. */
  key: string;
  /** The newest message of the active branch; null in an empty session. */
  headId: string | null;
}

export type SessionChange = Partial<Omit<SessionRecord, 'key' | 'agentId' | 'sessionId'>>;

/** A message as it is kept: messages of a session form a tree by `parentId`. */
export interface MessageRecord extends HistoryMessage {
  sessionKey: string;
  parentId: string | null;
  /** Distance from the root of its branch: 0 for the first message. */
  depth: number;
  runId?: string;
  toolCalls?: RoutedCall[];
  /** Context that models are given with this message of a person. It is no part of the history, of exports or of sizes. */
  runContext?: RunContext;
  /** State that the provider needs back with this turn, such as signed thoughts. Only for models, as `runContext`. */
  providerState?: Kept;
}

/** The context block of one turn. It is repeated byte for byte in later turns, so that providers can reuse the prompt's prefix. */
export interface RunContext {
  /** Time, notices, plan and recalled memories, marked as no words of the person. */
  text: string;
  /** Outside sources of what the text quotes. */
  outside?: string[];
  /** Lines of the text that quote a memory, by the memory's id. */
  memories?: Record<string, string>;
  /** How the message's files were shown: the tools that could read them, and the model's key if it was given them unchanged. */
  files?: { readers: string[]; exactFor?: string };
}

export type RunStatus = 'queued' | 'running' | 'done' | 'failed' | 'aborted' | 'interrupted';

/** A step of a run under way that called tools: what the model said, and the results that have come so far, by the calls' ids. */
export interface RunStep {
  runId: string;
  /** Grows from step to step of a run. */
  at: number;
  said: Pick<MessageRecord, 'content' | 'toolCalls' | 'model' | 'timestamp' | 'reasoning' | 'outside' | 'providerState'>;
  /** By the calls' ids. */
  results: ReadonlyMap<string, StepResult['result']>;
}

/** A step as other hosts have it: long results may be cut. */
export interface SharedStep {
  said: RunStep['said'];
  /** By the calls' ids. */
  results: [callId: string, result: StepResult['result']][];
}

/** What another host needs to end a run. */
export interface RunProgress {
  /** Outside sources in the run's context. */
  outside: string[];
  /** Absent if they are too long to be shared. */
  steps?: SharedStep[];
  /** Characters of the reply's text that are in the steps. */
  chars: number;
}

/** What came of a call of a step. */
export interface StepResult {
  runId: string;
  /** Behind its step's, and before the next one's. */
  at: number;
  callId: string;
  result: Pick<MessageRecord, 'content' | 'timestamp' | 'outside'>;
}

/** One generation. While it runs, `partial` holds the text so far (saved now and then, relaxed). */
export interface RunRecord {
  id: string;
  sessionKey: string;
  status: RunStatus;
  userMessageId: string;
  /** The model's key, `<provider>/<model_id>`. */
  model: string;
  startedAt: number;
  endedAt?: number;
  partial: string;
  /** Absent in records of older builds, of untainted runs without steps, and once the run has ended. */
  progress?: RunProgress;
  /** Whose it is, as storage notes it: the copy of the data, the worker that executes it, and the fencing number that it does so under. */
  replica?: string;
  executor?: string;
  fence?: number;
}

export interface UsageRecord {
  id: string;
  at: number;
  provider: string;
  model: string;
  sessionKey: string | null;
  /** Who called: `owner`, or an API key's id. */
  principal: string;
  usage: Usage;
  /** `chat` if missing. */
  purpose?: UsagePurpose;
}

export interface SearchOptions {
  limit: number;
  /** So many of the best are left out. */
  offset?: number;
  /** Only such sessions. */
  accepts?: (session: SessionRecord) => boolean;
  /** Characters of a snippet; 200 unless said. */
  chars?: number;
}

/** A session that was found, with the message that fits best; without one where only the title does. */
export interface SearchResult {
  session: SessionRecord;
  messageId: string | null;
  role: HistoryMessage['role'] | null;
  timestamp: number;
  snippet: string;
  /** Where what was looked for stands in the snippet, and in the title: from and to, in UTF-16 units. */
  matches: [start: number, end: number][];
  titleMatches: [start: number, end: number][];
}

export interface SearchPage {
  results: SearchResult[];
  /** Sessions that were found; null where that is not known, for too many texts would have to be looked at. */
  total: number | null;
  /** The offset of the next page. */
  next: number | null;
  /** False: some messages are not in the index yet. */
  complete: boolean;
}

/** A reply, and the message that it answers, where that is there; neither with attachments. */
export interface RecalledReply {
  reply: MessageRecord;
  question: MessageRecord | undefined;
}

export interface FoundMessage {
  message: MessageRecord;
  score: number;
}

/** What a finished run leaves, written in one transaction. */
export interface RunOutcome {
  runId: string;
  status: Exclude<RunStatus, 'queued' | 'running'>;
  endedAt: number;
  /** Messages to append below one another, oldest first (tool calls, tool results, the reply); may be empty where nothing came. */
  messages: MessageRecord[];
  usage?: UsageRecord;
}

/** A page of a branch, oldest first. `more` says that there are messages above it. */
export interface Branch {
  messages: MessageRecord[];
  more: boolean;
  /** Of those that others stand beside, under the same message: the ids of all of them, the first said first. */
  versions: Record<string, string[]>;
  /** Of those with attachments that were left empty, since they are larger than was asked for: the characters of base64 that those have. */
  unread: Record<string, number>;
}

/** Who asks a person something, and acts on the answer: a host in one of its lives, and its copy of the data. */
export interface Asker {
  origin: string;
  replica: string;
}

export type ExecRecord = ExecRequest &
  Asker & {
    /** The connection that asked, if it was no agent. */
    connId?: string;
    /** Outside sources that the run had read: what the command writes on disk is labelled with them. */
    readOutside?: string[];
    /** All that it wrote on disk has been found. */
    isSettled?: boolean;
  };
export type ApprovalRecord = Approval & Asker;

/** Records that stand each for itself, by the store that they lie in. */
export interface Collections {
  plans: Plan;
  jobs: JobDefinition;
  jobRuns: JobRunRecord;
  execRequests: ExecRecord;
  execPolicies: ExecPolicy;
  approvals: ApprovalRecord;
  devices: DeviceRecord;
  apiKeys: KeyRecord;
  responses: ResponseRecord;
  conversations: ConversationRecord;
  apiFiles: ApiFileRecord;
  systemEvents: SystemEvent;
  mcpTools: McpToolRecord;
  channelStates: ChannelState;
  drawings: DrawingRecord;
  drawingChanges: DrawingChange;
  contentLabels: ContentLabel;
  fileVersions: FileVersionRecord;
}

/** One record that is written together with others; without `record` it is removed. */
export type RecordWrite<Name extends keyof Collections = keyof Collections> = {
  [N in Name]: { store: N; key: string; record?: Collections[N] };
}[Name];

/** A drawing as it was made, and its title; what became of it since is in its changes. */
export interface DrawingRecord {
  id: string;
  title: string;
  /** Of the sheet, CSS pixels. */
  width: number;
  height: number;
  background: string | null;
  createdAt: number;
}

/** A change of a drawing (shared/canvas). */
export interface DrawingChange extends Change {
  /** `<drawing>/<shape>/<at>` */
  key: string;
}

/** An earlier version of a file that a tool replaced or removed. */
export interface FileVersionRecord extends Omit<FileRecord, 'key'> {
  /** `<workspace>/<path>@<random>` */
  id: string;
  /** When it was replaced, in milliseconds since 1970. */
  at: number;
  toolCallId?: string;
  /** Sources of its label. */
  outside?: string[];
  /** Labels of its memories, for a long-term file; absent in versions of older builds, which kept none. */
  memories?: { id: string; outside: string[] }[];
}

/** A tool of a tool server, as it was approved. */
export interface McpToolRecord {
  /** `<server>/<tool>` */
  id: string;
  /** SHA-256 of what it says of itself: description, schemas and the like. */
  hash: string;
  approvedAt: number;
}

/** Reading and changing such records; every change is strict. */
export interface Collection<T> {
  get(key: string): Promise<T | undefined>;
  /** All of them, by key; with a prefix those whose keys begin with it. */
  list(prefix?: string): Promise<T[]>;
  /** Their keys, likewise; reads no record. */
  keys(prefix?: string): Promise<string[]>;
  put(record: T): Promise<void>;
  /** What `change` makes of the record takes its place, in one transaction; undefined leaves it as it is. Resolves with what stands then. */
  update(key: string, change: (before: T | undefined) => T | undefined): Promise<T | undefined>;
  /** False where there was none. */
  remove(key: string): Promise<boolean>;
}

/** A run of a job, as it is kept. */
export interface JobRunRecord extends JobRun {
  /** Which worker executes it, on which copy of the data. */
  executor?: string;
  replica?: string;
}

/** Something that an agent is told at its next run. */
export interface SystemEvent {
  id: string;
  text: string;
  at: number;
  /** The caller; missing in records of earlier builds. */
  principal?: string;
}

/** One line of the log. */
export interface LogRecord {
  /** Its number: later ones are higher. */
  seq: number;
  at: number;
  level: LogLevel;
  /** Which part of the gateway says it. */
  component: string;
  message: string;
  fields?: Record<string, unknown>;
}

/**
 * What the gateway core asks of storage. Everything that acknowledges data commits with strict durability before
 * its promise resolves, together with its rows in the change log (design.md, "Acknowledged means durable"). A failure
 * to write because of quota rejects with `StorageFull`; one because another owner took over, with `OwnershipLost`.
 */
export interface Vault {
  sessions: {
    list(): Promise<SessionRecord[]>;
    get(key: string): Promise<SessionRecord | undefined>;
    /** Changes fields of an entry; undefined when there is none. A function decides by the entry as it is then. */
    update(key: string, change: SessionChange | ((session: SessionRecord) => SessionChange)): Promise<SessionRecord | undefined>;
    /** Strict: a new session with its messages, all of it or nothing; the branch ends in the last one. False where there is one of that key. */
    add(session: SessionRecord, messages: readonly MessageRecord[]): Promise<boolean>;
    /** Removes the session, its messages and its runs; false when there was none. */
    remove(key: string): Promise<boolean>;
    /** Removes its messages and runs, keeps the entry; false when there was none. */
    clear(key: string): Promise<boolean>;
  };
  messages: {
    get(id: string): Promise<MessageRecord | undefined>;
    /**
     * The branch that ends in the session's head (or above `before`), at most `limit` messages. Never reads a whole long session for a page, nor an attachment of
     * more than `most` characters of base64.
     */
    branch(sessionKey: string, options: { limit: number; before?: string; most?: number }): Promise<Branch>;
    /** Strict: the branch through that message becomes the active one, down to what was said last below it. Resolves with where it ends; undefined: the session has no such message. */
    choose(sessionKey: string, id: string): Promise<string | undefined>;
    /** All messages of a session, on every branch, those nearer to the root first. */
    all(sessionKey: string): Promise<MessageRecord[]>;
    /** Strict: notes at a message that the conversation was summarised up to it. False: the message, or its session, is gone. */
    compact(id: string, compaction: Compaction): Promise<boolean>;
    /** Relaxed: stores the context that models are given with a message. No effect if the message is gone. */
    setRunContext(id: string, context: RunContext): Promise<void>;
    /** Strict: removes the lines that quote a memory from the contexts of all messages. */
    forgetMemory(memoryId: string): Promise<void>;
    /** Strict: marks messages, and summaries that stand at them, as reviewed by a person. */
    review(ids: readonly string[]): Promise<void>;
    /** Every message whose session is listed, newest first, for retrieval; at most `limit`. */
    recent(limit: number): Promise<MessageRecord[]>;
    /** Those of a span of time, oldest first, without attachments; `to` is not in it. */
    between(from: number, to: number): Promise<MessageRecord[]>;
    /** How many there are of each span, and when the newest of them was said; null where there is none. Reads no message. */
    spans(spans: readonly { from: number; to: number }[]): Promise<{ count: number; newest: number | null }[]>;
    /** Replies that something was recalled for, newest first, with what each answers; `next`: the time before which to go on, null where there are no more. */
    recalled(options: {
      before: number;
      limit: number;
      accepts(sessionKey: string): boolean;
    }): Promise<{ replies: RecalledReply[]; next: number | null }>;
    /** Those from a time on (milliseconds since 1970), oldest first, for their text; at most `limit`. */
    from(at: number, limit: number): Promise<MessageRecord[]>;
  };
  /** Finds messages by their words (an index of this copy's own). */
  search: {
    /** Sessions by their titles and by what is in one of their messages: all words and "phrases" of `text`, its last word perhaps unfinished. The best first. */
    sessions(text: string, options: SearchOptions): Promise<SearchPage>;
    /** Single messages, without attachments, that have all or any of the words. The best first. */
    messages(text: string, options: { limit: number; need: 'all' | 'any' }): Promise<FoundMessage[]>;
  };
  runs: {
    /**
     * Stores the person's message (null on resend: `userMessageId` exists already), the run, and the session entry (made at
     * first send) in one strict transaction, and moves the session's head to the message.
     */
    begin(input: { session: SessionRecord; message: MessageRecord | null; run: RunRecord }): Promise<void>;
    /** Relaxed: the text of the current step, for the next life of this host. `shared`: the text of all steps, for other hosts; absent: theirs stays as it is. */
    savePartial(runId: string, partial: string, shared?: string): Promise<void>;
    /** Relaxed: a step, for a host that dies. The text so far begins anew behind it. */
    saveStep(step: RunStep): Promise<void>;
    /** Relaxed: what has come of one of its calls since, alone: a step may have many that are long. */
    saveResult(result: StepResult): Promise<void>;
    /** Relaxed: what other hosts need to end the run, beside its text. */
    saveProgress(runId: string, progress: RunProgress): Promise<void>;
    /** The steps of a run that has not ended, the first one first, with their results; on this copy alone. */
    steps(runId: string): Promise<RunStep[]>;
    /**
     * Strict: the run's end, its messages and usage; the session's head, `updatedAt`, `messageCount`, `size`, `preview` follow. The session
     * may be gone by then (deleted or reset while it ran): then only the run's end and usage are stored.
     */
    finish(outcome: RunOutcome): Promise<void>;
    /**
     * Strict: the run, which has left nothing yet, and the message that it was to answer are taken back; the session is as before, or gone, where it began with them. Undefined: nothing was, for
     * something follows the message, or another host has the run.
     */
    withdraw(runId: string): Promise<'message' | 'session' | undefined>;
    /** Runs that have not ended: those under way here or on another host, and those of a host that died. */
    unfinished(): Promise<RunRecord[]>;
    /** Strict: this host executes the run from now on, under a higher fence; what its executor before still writes to it loses. False: it has ended. */
    claim(runId: string, fence: number): Promise<boolean>;
  };
  /** The configuration: one JSON document without secrets. */
  config: {
    read(): Promise<Record<string, unknown> | undefined>;
    /**
     * Strict; secrets (by name, null removes) change in the same transaction, so that a key never stands beside another address. `base`: the document that
     * `value` was made from; what is the same in both stays as it is stored by then, for another host may have changed it.
     */
    write(value: Record<string, unknown>, secrets?: ReadonlyMap<string, string | null>, base?: Record<string, unknown>): Promise<void>;
  };
  /** Secrets by name, encrypted at rest with a key that cannot be exported. */
  secrets: {
    get(name: string): Promise<string | undefined>;
    /** Null removes it. */
    set(name: string, value: string | null): Promise<void>;
  };
  /** Free-form remembered facts, for the guide and the memory tools. */
  memories: {
    add(memory: MemoryRecord): Promise<void>;
    remove(id: string): Promise<boolean>;
    list(): Promise<MemoryRecord[]>;
  };
  /** Files of workspaces. */
  files: {
    /** Those of a workspace whose path begins so, by path; reads no content. */
    list(workspace: string, prefix: string): Promise<FileEntry[]>;
    get(workspace: string, path: string): Promise<FileRecord | undefined>;
    /** Names of those that have any. */
    workspaces(): Promise<string[]>;
    /**
     * Strict; rejects with what `check` throws, which is told how many other files the workspace has, and their bytes. Resolves with what is stored: it is written later than what
     * stood there before, whatever the clock says.
     */
    put(file: FileRecord, check: (others: { files: number; bytes: number }) => void): Promise<FileRecord>;
    /** Strict; false where there was none. */
    remove(workspace: string, path: string): Promise<boolean>;
    /** Strict: those of one workspace that are as they were seen, and for which there is room, in one transaction. */
    replace(workspace: string, changes: readonly FileChange[], limits: { files: number; bytes: number }): Promise<FileChanged[]>;
    /** Hears of what is written and removed here, not of what comes from other hosts; the result stops it. */
    watch(listener: (change: { workspace: string; path: string; removed: boolean }) => void): () => void;
  };
  /** Records of the other kinds. */
  collection<Name extends keyof Collections>(name: Name): Collection<Collections[Name]>;
  /** Strict: several of them, all or nothing. */
  together(writes: readonly RecordWrite[]): Promise<void>;
  /** Versions of records that lost against others written apart from them (shared/sync). */
  conflicts: {
    /** `<store>/<key>/<clock>` of each; reads no content. */
    ids(): Promise<string[]>;
    get(id: string): Promise<ConflictCopy | undefined>;
    /** The version that stands in the store now, as JSON; undefined where the record is gone. */
    current(copy: ConflictCopy): Promise<string | undefined>;
    /**
     * Strict: forgets the copy (`keep`), or puts it in the place of the other version first (`restore`; a file is written back as any other one is, before its copy is forgotten).
     * False: there is no such copy.
     */
    resolve(id: string, choice: 'keep' | 'restore'): Promise<boolean>;
  };
  /** Hears of what other hosts have changed, after it is stored here; the result stops it. */
  onforeign(listener: (changes: readonly ForeignChange[]) => void): () => void;
  /** Who writes here: another one at each start. */
  readonly origin: string;
  /** This copy of the data; a cloned profile has the same. */
  readonly replica: string;
  usage: {
    /** Group-committed, at most 50 ms later. */
    add(record: UsageRecord): void;
    /** At once, all or nothing; a record that is there already counts once. */
    keep(records: UsageRecord[]): Promise<void>;
    since(at: number): Promise<UsageRecord[]>;
  };
  /** The log: of this copy alone, a ring. */
  logs: {
    /** Relaxed, all or nothing. Their numbers are higher than any before; what falls out of the newest 10,000 goes, now and then. */
    append(lines: readonly LogRecord[]): Promise<void>;
    /** At most `limit` lines numbered `from` and higher, below `to`, by number. */
    range(from: number, to: number, limit: number): Promise<LogRecord[]>;
    /** The numbers of the oldest and the newest; null in an empty log. */
    span(): Promise<{ first: number; last: number } | null>;
  };
  /** Strict: writes something of this copy alone, and reads it back. Rejects as every write does, or where it is not there. */
  check(): Promise<void>;
  /** By how many milliseconds the newest change that other hosts have made lies in the future of this host's clock; 0 or less: it does not. */
  ahead(): number;
  close(): Promise<void>;
}

/** A file that is to be written, or removed, unless it is not as it was seen any more. */
export interface FileChange {
  path: string;
  /** Null: there was none. */
  seen: Pick<FileEntry, 'size' | 'modifiedAt'> | null;
  /** Null removes it. */
  file: FileRecord | null;
}

export interface FileChanged {
  outcome: 'done' | 'changed' | 'full';
  /** What is stored now, where it was written. */
  file: FileRecord | null;
}

export interface MemoryRecord {
  id: string;
  text: string;
  category: string;
  createdAt: number;
}

/** A record that came from another host. */
export interface ForeignChange {
  store: SyncStore;
  key: string;
  deleted: boolean;
  /** Of messages, runs, sessions and heads. */
  sessionKey?: string;
}

/** The data was written by a newer build than this one, which may only read it. */
export class VaultReadOnly extends Error {
  override name = 'VaultReadOnly';
}

/** The browser has no room left: nothing of the write was stored. */
export class StorageFull extends Error {
  override name = 'StorageFull';
}

/** Another worker owns the data now: nothing of the write was stored. */
export class OwnershipLost extends Error {
  override name = 'OwnershipLost';
}

export const sessionKey = (agentId: string, sessionId: string): string => `${agentId}/${sessionId}`;
