import type { RpcError } from '#shared/rpc/errors.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import type { Scope } from '#shared/rpc/scopes.ts';
import type { RecalledMemory, Usage } from '#shared/rpc/records.ts';
import type { Agent } from '../agents.ts';
import { isPerson } from '../approvals/person.ts';
import type { Clock } from '../clock.ts';
import type { Told } from '../compaction/since-summary.ts';
import type { Hub } from '../hub.ts';
import type { Provider, ToolSpec, Wishes } from '../providers/provider.ts';
import type { ToolOffer } from '../tools/offer.ts';
import type { ToolContext } from '../tools/registry.ts';
import type { RoutedCall } from '../tools/routed-call.ts';
import type { OutsideGrant } from '#shared/rpc/methods/cron.ts';
import type { Branch, MessageRecord, SessionRecord, Vault } from '../vault.ts';
import type { ForeignRuns } from './foreign-runs.ts';
import type { GenerationEvent } from './generate.ts';

/** The tools that runs may use. */
export interface RunTools {
  offer(agent: Agent, principal: string, only?: readonly string[], scopes?: readonly Scope[]): Promise<ToolOffer>;
  run(call: RoutedCall, context: ToolContext): Promise<unknown>;
}

/** A note for an agent, and the outside sources of what it says. */
export interface AgentNote {
  text: string;
  outside: readonly string[];
}

/** Notes for an agent at the beginning of a run; empty texts if there are none. */
export interface AgentNotes {
  /** Its skills, for the system message: the list changes seldom. */
  system: string;
  /** State of the session's plan. */
  plan: AgentNote;
  /** The skill that the message calls. */
  skill: AgentNote;
}

const NO_NOTE: AgentNote = { text: '', outside: [] };
export const NO_NOTES: AgentNotes = { system: '', plan: NO_NOTE, skill: NO_NOTE };

/** What accompanies runs: it tells agents how things stand, and hears how runs end. */
export interface Companion {
  /** `key` is null if the run belongs to no session, `tools` are those that the agent is offered, `message` is the message that it answers. Never rejects. */
  notes(agent: Agent, key: string | null, tools: readonly ToolSpec[], message: string): Promise<AgentNotes>;
  /** A run of a session has ended; its readers are told behind this. `reason`: why, where it did not end well. Never rejects. */
  ended(run: { id: string; sessionKey: string; reason?: string }): Promise<void>;
}

/** What a session is to be told with its next run. */
export interface WaitingEvents {
  /** Undefined where nothing waits. `told` forgets what `text` says. */
  waiting(sessionKey: string): Promise<{ text: string; sources: readonly string[]; told(): Promise<void> } | undefined>;
}

/** What memory has on a message, before it is answered. */
export interface RunRecall {
  /** Undefined where there is nothing to tell. Rejects when `signal` fires, and never else. */
  before(
    run: {
      agent: Agent;
      session: SessionRecord;
      user: MessageRecord;
      /** The branch above the message. */
      above: readonly MessageRecord[];
      principal: string;
      provider: Provider;
      /** Whether the run has read outside content. If not, labelled memories are left out. */
      isTainted: boolean;
    },
    signal: AbortSignal,
  ): Promise<Recalled | undefined>;
}

/** For whom a model is asked. */
export interface Asker {
  key: string;
  agent: Agent;
  chosen: Chosen;
  principal: string;
}

/** A conversation whose next prompt is made. */
export interface BeforePrompt extends Asker {
  /** The branch above the message. */
  above: Branch;
  user: MessageRecord;
  beside: readonly string[];
}

/** A conversation whose prompt was too long for its model. */
export interface TooLongPrompt extends BeforePrompt {
  /** What the model was told of the branch. */
  told: Told;
}

/** What of a long conversation a model is told. */
export interface RunCompaction {
  /** Rejects when `signal` fires, and never else. */
  before(run: BeforePrompt, signal: AbortSignal): Promise<Told>;
  /** See `Compactor.shortened`. */
  shortened(run: TooLongPrompt, contextTokens: number | undefined, signal: AbortSignal): Promise<Told>;
}

/** A run that has completed. */
export interface RepliedRun {
  /** The session's. */
  key: string;
  agent: Agent;
  /** Key of the model that replied. */
  model: string;
  principal: string;
}

/** Titles of chats. */
export interface RunTitles {
  /** Makes one in the background if it was the first reply. Never throws. */
  replied(run: RepliedRun): void;
}

export interface Recalled {
  memories: RecalledMemory[];
  /** Block for the model, marked as data. */
  content: string;
  /** Lines of the block by the ids of the memories that they quote. */
  lines: Record<string, string>;
  /** Outside sources of the memories. */
  outside: string[];
  elapsedMs: number;
}

/** The model that a run talks to. */
export interface Chosen {
  /** `<provider>/<model_id>`. */
  key: string;
  provider: Provider;
  model: string;
}

/**
 * Returns the tools of a run. The guide runs whatever a person types: it gets all tools at once, and for persons alone (decisions, "Cron, tools, exec, plans").
 */
export async function offeredTo(
  principal: string,
  tools: RunTools,
  agent: Agent,
  { provider }: Pick<Chosen, 'provider'>,
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
  resolve(model?: string, provider?: string): Promise<Chosen>;
  /** The usage with what it cost, where that is known. Never rejects. */
  priced(key: string, usage: Usage): Promise<Usage>;
  /** Whether it sees pictures, as far as that is known. Never rejects. */
  sees(key: string): Promise<boolean>;
  /** Whether it is known to think before it answers. Never rejects. */
  thinks(key: string): Promise<boolean>;
  /** Tokens of its context; null where nobody says. Never rejects. */
  contextOf(key: string): Promise<number | null>;
}

export type Completed = MethodResult<'chat.send'>;

export interface RunsDeps {
  vault: Vault;
  hub: Hub;
  clock: Clock;
  timeZone(): string;
  agent(id: string): Agent;
  models: Models;
  /** The source of what a key writes that is not allowed everything; none for others. */
  keySources(principal: string): Promise<readonly string[]>;
  tools: RunTools;
  foreign: ForeignRuns;
  companion: Companion;
  events: WaitingEvents;
  recall: RunRecall;
  compaction: RunCompaction;
  titles?: RunTitles;
  fault(error: unknown): RpcError;
  /** Milliseconds after which a silent provider ends the run. */
  silenceMs?: () => number;
  /** Calls of a provider that one run may take. */
  maxSteps?: () => number;
}

export type Written = Extract<GenerationEvent, { type: 'text' | 'refusal' | 'reasoning' }>;

export interface RunRequest {
  agentId: string;
  sessionId: string;
  model?: string;
  provider?: string;
  systemPrompt?: string;
  wishes?: Wishes;
  /** What is asked is honoured or refused, as a request's (`ModelRequest`). */
  exact?: boolean;
  principal: string;
  /** Of a channel: the message comes from an account of the owner. */
  isOwnerAccount?: boolean;
  /** Of a channel: the conversation of the message. */
  conversation?: string;
  /** Principal whose rights limit its tools, if that is another one. */
  actsFor?: string | undefined;
  /** Scopes of the connection that asks, if it has limited them: they limit its tools too. */
  scopes?: readonly Scope[] | undefined;
  /** Names and patterns of the only tools that it may use; all that the agent may where left out. */
  tools?: readonly string[];
  /** Changes that the run may make after reading from outside, granted when its job was made. */
  outsideGrant?: OutsideGrant | undefined;
  /** What the run is to be called; it has an id of its own where left out. */
  runId?: string;
  /** Of a call that may be a repeat, which reached this host or another one before. */
  idempotencyKey?: string | undefined;
  /** Of a session that begins with it; the message's first words where left out. */
  title?: string;
  /** A message that is refused is taken back, for who sent it is told so and nobody waits for an answer. */
  withdraws?: boolean;
  /** Told what the model writes as it comes; its thoughts are kept nowhere. */
  onwritten?: (piece: Written) => void;
  /** Told how the answer ended. */
  onend?: (end: Pick<Extract<GenerationEvent, { type: 'end' }>, 'reason' | 'reasoningTokens'>) => void;
  /** Told the run's id when it has its place in line. */
  onrun?: (runId: string) => void;
  /** Told when the message is stored. */
  onbegin?: () => void;
}

/** Where a run hangs in the tree of messages. */
export interface Place {
  session: SessionRecord;
  /** The person's message to store; null where it is there already (resend). */
  message: MessageRecord | null;
  /** The message that the reply answers. */
  user: MessageRecord;
}
