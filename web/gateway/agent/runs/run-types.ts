import type { RpcError } from '#shared/rpc/rpc-error.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import type { Scope } from '#shared/rpc/scopes.ts';
import type { RecalledMemory, Usage } from '#shared/rpc/record-schemas.ts';
import type { Agent } from '../agents.ts';
import { isPerson } from '../../system/person.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { PromptHistory } from '../compaction/prompt-history.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { Provider, ToolSpec, GenerationOptions } from '../../providers/provider.ts';
import type { ToolOffer } from '../tools/tool-offer.ts';
import type { ToolContext } from '../tools/tool-registry.ts';
import type { RoutedCall } from '../../storage/records/routed-call.ts';
import type { ProjectRecord } from '../../storage/records/project-record.ts';
import type { OutsideGrant } from '#shared/rpc/methods/cron-contracts.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { Branch, MessageRecord, SessionRecord } from '../../storage/chat-records.ts';
import type { ParameterLayer } from './run-parameters.ts';
import type { RemoteRuns } from './remote-runs.ts';
import type { GenerationEvent, ModelUsage } from './generate.ts';
import type { SettledText } from './run-sources.ts';
import type { Limits } from './run-limits.ts';
import type { RunTreeNode } from './run-tree.ts';

/** The tools that runs may use. */
interface RunTools {
  offer(agent: Agent, principal: string, only?: readonly string[], scopes?: readonly Scope[]): Promise<ToolOffer>;
  run(call: RoutedCall, context: ToolContext): Promise<unknown>;
}

/** A note for an agent, and the outside sources of its text. */
export interface AgentNote {
  text: string;
  outside: readonly string[];
}

/** Notes for an agent at the start of a run; a text is empty if there is no note. */
export interface AgentNotes {
  /** Its skills, for the system message: the list rarely changes. */
  system: string;
  /** State of the session's plan. */
  plan: AgentNote;
  /** The skill that the message invokes. */
  skill: AgentNote;
}

const NO_NOTE: AgentNote = { text: '', outside: [] };
export const NO_NOTES: AgentNotes = { system: '', plan: NO_NOTE, skill: NO_NOTE };

/** Hooks of runs: adds notes to the prompt, and is called when a run ends. */
export interface RunLifecycleHooks {
  /**
   * `key`: null if the run belongs to no session. `tools`: tools that the agent is offered. `message`: the message that it answers. Never
   * rejects.
   */
  getNotes(agent: Agent, key: string | null, tools: readonly ToolSpec[], message: string): Promise<AgentNotes>;
  /** Called when a run of a session has ended, before its readers are notified. `reason`: set if the run failed. Never rejects. */
  onRunEnded(run: { id: string; sessionKey: string; reason?: string }): Promise<void>;
}

/** Queued notices that a session receives with its next run. */
export interface QueuedNotices {
  /** Undefined if there are none. `markDelivered` removes the notices in `text` from the queue. */
  getQueued(sessionKey: string): Promise<{ text: string; sources: readonly string[]; markDelivered(): Promise<void> } | undefined>;
}

/** Recalls memories for a message before it is answered. */
export interface RunRecall {
  /** Undefined if there is nothing to add. Rejects only if `signal` is aborted. */
  recall(
    run: {
      agent: Agent;
      session: SessionRecord;
      /** Project of the session. */
      project: ProjectRecord | undefined;
      user: MessageRecord;
      /** The branch before the message. */
      above: readonly MessageRecord[];
      principal: string;
      provider: Provider;
      /** Whether the run has read outside content. If not, labelled memories are omitted. */
      isTainted: boolean;
    },
    signal: AbortSignal,
  ): Promise<RecallResult | undefined>;
}

/** Session, agent and principal of a call to a model. */
export interface ModelCaller {
  key: string;
  agent: Agent;
  chosen: SelectedModel;
  principal: string;
}

/** A conversation whose next prompt is being built. */
export interface PendingPrompt extends ModelCaller {
  /** The branch before the message. */
  above: Branch;
  user: MessageRecord;
  extraTexts: readonly string[];
}

/** A conversation whose prompt was too long for its model. */
export interface TooLongPrompt extends PendingPrompt {
  /** The part of the branch that was in the prompt. */
  told: PromptHistory;
}

/** Shortens long conversations for a model. */
export interface RunCompaction {
  /** Rejects only if `signal` is aborted. */
  prepare(run: PendingPrompt, signal: AbortSignal): Promise<PromptHistory>;
  /** See `Compactor.shorten`. */
  shorten(run: TooLongPrompt, contextTokens: number | undefined, signal: AbortSignal): Promise<PromptHistory>;
}

/** A run that has completed. */
export interface CompletedRun {
  /** Key of the session. */
  key: string;
  agent: Agent;
  /** Key of the model that replied. */
  model: string;
  principal: string;
}

/** Creates titles of chats. */
export interface RunTitles {
  /** Creates a title in the background after the first reply. Never throws. */
  onReply(run: CompletedRun): void;
}

export interface RecallResult {
  memories: RecalledMemory[];
  /** Block for the model, marked as data. */
  content: string;
  /** Lines of the block by the ids of the memories that they contain. */
  lines: Record<string, string>;
  /** Outside sources of the memories. */
  outside: string[];
  elapsedMs: number;
}

/** The model of a run. */
export interface SelectedModel {
  /** `<provider>/<model_id>`. */
  key: string;
  provider: Provider;
  model: string;
}

/** Returns the tools of a run. The guide runs commands that a person types: it gets all tools at once, and only for persons. */
export async function getOfferedTools(
  principal: string,
  tools: RunTools,
  agent: Agent,
  { provider }: Pick<SelectedModel, 'provider'>,
  only?: readonly string[],
  actsFor = principal,
  scopes?: readonly Scope[],
): Promise<ToolOffer> {
  if (provider.id !== 'guide') return tools.offer(agent, actsFor, only, scopes);
  if (!isPerson(principal)) return { tools: [], deferred: [] };
  return tools.offer({ ...agent, config: { ...agent.config, toolGroups: ['*'] } }, actsFor, only, scopes);
}

export interface Models {
  /** Throws `NOT_FOUND`. */
  resolve(model?: string, provider?: string): Promise<SelectedModel>;
  /** Adds the cost to the usage if the price is known. Never rejects. */
  addCost(key: string, usage: Usage): Promise<Usage>;
  /** Whether the model supports images, as far as known. Never rejects. */
  supportsImages(key: string): Promise<boolean>;
  /** Whether the model is known to think before it answers. Never rejects. */
  supportsReasoning(key: string): Promise<boolean>;
  /** Whether the model is known not to think. Never rejects. */
  lacksReasoning(key: string): Promise<boolean>;
  /**
   * Rejects if a budget of these scopes (default: the vault's) is used up. `shares`: usage of the run, which is not recorded yet. Without
   * it, there are no budgets.
   */
  checkBudgets?(key: string, scopes: readonly string[] | undefined, shares: readonly ModelUsage[]): Promise<void>;
  /** Tokens of its context; null if unknown. Never rejects. */
  getContextTokens(key: string): Promise<number | null>;
}

export type RunResult = MethodResult<'chat.send'>;

export interface RunsDeps {
  vault: Vault;
  hub: EventBus;
  clock: Clock;
  timeZone(): string;
  agent(id: string): Agent;
  models: Models;
  /** Outside source of messages written with a key that lacks full access; empty for other principals. */
  keySources(principal: string): Promise<readonly string[]>;
  tools: RunTools;
  remoteRuns: RemoteRuns;
  lifecycleHooks: RunLifecycleHooks;
  events: QueuedNotices;
  recall: RunRecall;
  compaction: RunCompaction;
  titles?: RunTitles;
  fault(error: unknown): RpcError;
  /** Called with a model's key and the field if its server refuses a field that settings asked for. */
  onRefusedField?: (key: string, field: string) => void;
  /** Time-out, in milliseconds, after which a silent provider ends the run. */
  silenceMs?: () => number;
  /** When a run has to end. */
  limits?: () => Limits;
}

export interface RunIds {
  sessionId: string;
  agentId: string;
  runId: string;
}

export type RunDeps = RunsDeps & {
  /** Whether a steering message is queued, which the run has to yield to. */
  hasSteering(): boolean;
};

/** A run as it is queued. */
export interface QueuedRun {
  /** Key of the session. */
  key: string;
  request: RunRequest;
  agent: Agent;
  /** Finds where the run continues the session; a result if its message was answered before. */
  getPosition(at: number): Promise<RunPosition | RunResult>;
  deps: RunDeps;
}

type OutputPiece = Extract<GenerationEvent, { type: 'text' | 'refusal' | 'reasoning' }>;

export interface RunRequest {
  agentId: string;
  sessionId: string;
  model?: string;
  provider?: string;
  systemPrompt?: string;
  /** Options that an API client requested. */
  wishes?: GenerationOptions;
  /** Model parameters of the call. They take precedence over those of the session. */
  parameters?: ParameterLayer;
  /** Model parameters of the job or channel. Those of the session take precedence. */
  sourceParameters?: ParameterLayer;
  /** See `ModelRequest`. */
  exact?: boolean;
  principal: string;
  /** Cron job of the run: its usage counts for the job's budget. */
  jobId?: string;
  /** For a channel: the message was sent from an account of the owner. */
  isOwnerAccount?: boolean;
  /** For a channel: the conversation of the message. */
  conversation?: string;
  /** Outside sources of text that the message quotes. */
  quotedOutside?: readonly string[];
  /** If an agent wrote the message: the addresses in it that were read or typed. Its outside sources are `quotedOutside` alone. */
  quotedUrls?: readonly string[];
  /** The sub-agent whose run it is. */
  subAgent?: RunTreeNode;
  /** Principal whose rights limit the run's tools, if different. */
  actsFor?: string | undefined;
  /** Scopes of the connection, if it has limited them: they limit the run's tools too. */
  scopes?: readonly Scope[] | undefined;
  /** Names and patterns of the only tools that the run may use; default: all of the agent's. */
  tools?: readonly string[];
  /** Changes that the run may make after reading outside content, granted when its job was created. */
  outsideGrant?: OutsideGrant | undefined;
  /** Id of the run; generated by default. */
  runId?: string;
  /** Idempotency key of a call that may repeat one sent to this or another host. */
  idempotencyKey?: string | undefined;
  /** Title of a session that starts with the message; default: its first words. */
  title?: string;
  /** Removes the message if it is refused: its sender receives the error, and nobody waits for an answer. */
  withdraws?: boolean;
  /** Receives the model's output as it arrives, including thoughts that are not stored. */
  onOutput?: (piece: OutputPiece) => void;
  /** Called before the run completes if the reply has citations. `start`: offset of the reply in the text that `onOutput` received. */
  onCitations?: (reply: SettledText & { start: number }) => void;
  /** Called when the answer ends. */
  onend?: (end: Pick<Extract<GenerationEvent, { type: 'end' }>, 'reason' | 'reasoningTokens'>) => void;
  /** Called with the run's id when it is queued. */
  onrun?: (runId: string) => void;
  /** Called when the message is stored. */
  onbegin?: () => void;
}

/** Position of a run in the tree of messages. */
export interface RunPosition {
  session: SessionRecord;
  /** The user's message to store; null if it is already stored (resend). */
  message: MessageRecord | null;
  /** The message that the reply answers. */
  user: MessageRecord;
}
