import type { ProviderState } from './records/provider-state.ts';
import type { ModelParameters } from '#shared/rpc/model-parameters.ts';
import type { CitedSource } from '#shared/rpc/passage.ts';
import type { HistoryMessage, SessionEntry } from '#shared/rpc/record-schemas.ts';
import type { RoutedCall } from './records/routed-call.ts';
import type { RunStatus, UsageRecord } from './vault-interface.ts';

/** A session as it is stored; its key is `<agentId>/<sessionId>`. */
export interface SessionRecord extends Omit<SessionEntry, 'file' | 'path' | 'running' | 'removedAgent' | 'parameters' | 'projectId'> {
  /** Name of the removed agent; null if an agent with its id exists again. */
  removedAgent?: string | null;
  /** Null once it was taken out of a project. */
  projectId?: string | null;
  /** Model parameters; null after a reset. Another build may have stored others: read them with `readModelParameters`. */
  parameters?: ModelParameters | null;
  /** `<agentId>/<sessionId>`. */
  key: string;
  /** Id of the newest message of the active branch; null in an empty session. */
  headId: string | null;
}

/** A message as it is stored: messages of a session form a tree by `parentId`. */
export interface MessageRecord extends HistoryMessage {
  sessionKey: string;
  parentId: string | null;
  /** Distance from the root of its branch: 0 for the first message. */
  depth: number;
  runId?: string;
  toolCalls?: RoutedCall[];
  /** Context given to models with this message of a person. Not part of the history, of exports or of sizes. */
  runContext?: RunContext;
  /** For tool results: the texts in it that replies can cite. Not part of the history and of exports: replies contain those that they cite. */
  readSources?: CitedSource[];
  /** Provider state to send back with this turn, such as signed reasoning. Only for models, like `runContext`. */
  providerState?: ProviderState;
}

/** The context block of one turn. It is repeated byte for byte in later turns, so that providers can reuse the prompt's prefix. */
export interface RunContext {
  /** Time, notices, plan and recalled memories, marked as not written by the person. */
  text: string;
  /** Outside sources that the text quotes. */
  outside?: string[];
  /** Lines of the text that quote a memory, by the memory's id. */
  memories?: Record<string, string>;
  /** How the message's files were presented: the tools that could read them, and the model's key if they were sent to it unchanged. */
  files?: { readers: string[]; exactFor?: string };
}

/** A step of an active run that called tools: the model's output, and the results received so far, by call id. */
export interface RunStep {
  runId: string;
  /** Increases from step to step of a run. */
  at: number;
  said: Pick<MessageRecord, 'content' | 'toolCalls' | 'model' | 'timestamp' | 'reasoning' | 'outside' | 'providerState'>;
  /** By call id. */
  results: ReadonlyMap<string, StepResult['result']>;
}

/** A step as shared with other hosts: long results may be truncated. */
export interface SharedStep {
  said: RunStep['said'];
  /** By call id. */
  results: [callId: string, result: StepResult['result']][];
}

/** Data that another host needs to finish a run. */
export interface RunProgress {
  /** Outside sources in the run's context. */
  outside: string[];
  /** Undefined if the steps are too long to be shared. */
  steps?: SharedStep[];
  /** Number of characters of the reply's text that are in the steps. */
  chars: number;
}

/** Result of one tool call of a step. */
export interface StepResult {
  runId: string;
  /** Greater than that of its step, and less than that of the next step. */
  at: number;
  callId: string;
  result: Pick<MessageRecord, 'content' | 'timestamp' | 'outside' | 'readSources'>;
}

/** One run. While it is active, `partial` holds the text so far (saved periodically, with relaxed durability). */
export interface RunRecord {
  id: string;
  sessionKey: string;
  status: RunStatus;
  userMessageId: string;
  /** Key of the model, `<provider>/<model_id>`. */
  model: string;
  startedAt: number;
  endedAt?: number;
  partial: string;
  /** Undefined in records of older builds, for untainted runs without steps, and once the run has ended. */
  progress?: RunProgress;
  /** Owner of the run, set by storage: the replica, the worker that executes it, and its fencing number. */
  replica?: string;
  executor?: string;
  fence?: number;
}

/** A reply and the message that it answers, if that exists; both without attachments. */
export interface RecallReply {
  reply: MessageRecord;
  question: MessageRecord | undefined;
}

export interface MessageMatch {
  message: MessageRecord;
  score: number;
}

/** Results of a finished run, written in one transaction. */
export interface RunOutcome {
  runId: string;
  status: Exclude<RunStatus, 'queued' | 'running'>;
  endedAt: number;
  /** Messages to append below one another, oldest first (tool calls, tool results, the reply); may be empty if nothing was received. */
  messages: MessageRecord[];
  usage?: UsageRecord;
}

/** A page of a branch, oldest first. `more`: whether there are messages above it. */
export interface Branch {
  messages: MessageRecord[];
  more: boolean;
  /** For messages with siblings under the same parent: the ids of all versions, oldest first. */
  versions: Record<string, string[]>;
  /** For messages whose attachments were left out because they are larger than requested: the number of base64 characters. */
  unread: Record<string, number>;
}

export const toSessionKey = (agentId: string, sessionId: string): string => `${agentId}/${sessionId}`;
