import type { Principal } from '#shared/link/hello.ts';
import type { RpcError } from '#shared/rpc/errors.ts';
import type { SpeechParams, SpeechResult } from '#shared/ports/speech.ts';
import type { Scope } from '#shared/rpc/scopes.ts';
import type { LogLevel } from '#shared/rpc/log-level.ts';
import type { Clock } from '../clock.ts';
import type { ModelEvent, ModelMessage, ToolSpec, Wishes } from '../providers/provider.ts';
import type { Providers } from '../providers/providers.ts';
import type { Collection, UsageRecord } from '../vault.ts';
import type { ConversationRecord } from './conversations/conversation-record.ts';
import type { ApiFileRecord } from './files/record.ts';
import type { ResponseRecord } from './responses/record.ts';

export interface HttpAgentRun {
  agentId: string;
  messages: ModelMessage[];
  sessionId?: string | undefined;
  /** Who calls. */
  principal: string;
  wishes: Wishes;
  /** The caller's own tools: the run ends with a call of one, which the caller answers in its next request. */
  tools?: readonly ToolSpec[];
  signal: AbortSignal;
}

export interface HttpDeps {
  agents: {
    list(): { id: string }[];
    run(request: HttpAgentRun): AsyncIterable<ModelEvent>;
  };
  providers: Pick<Providers, 'resolve' | 'list' | 'findKind'>;
  /** Speaks with Perch's own voices. Rejects with `RpcError`. */
  speak(params: SpeechParams, signal: AbortSignal): Promise<SpeechResult>;
  /** Responses that are kept for their callers. */
  responses: Collection<ResponseRecord>;
  conversations: Collection<ConversationRecord>;
  apiFiles: Collection<ApiFileRecord>;
  /** The gateway as a server of tools (`/mcp`), for the agent that is named. */
  mcp(): Promise<(request: Request, agentId: string, principal: Principal) => Promise<Response>>;
  clock: Clock;
  /** Of Perch, for `/openapi.json`. */
  version: string;
  /** Turns what nobody expected into an error with an id that the log explains. */
  fault(error: unknown): RpcError;
  /** Notes a line of the log. */
  note?: (level: LogLevel, message: string, fields: Record<string, unknown>) => void;
  /** Rejects with `RpcError` where who calls has used up a limit. */
  admit?: (principal: string) => Promise<void> | undefined;
  /** Whether the principal is an API key that was revoked. */
  isRevoked?: (principal: string) => Promise<boolean>;
  /** Notes that a principal has used a scope. */
  used?: (principal: string, scope: Scope) => void;
  /** Told the usage of calls that go straight to a model. */
  record?: (call: Omit<UsageRecord, 'id' | 'sessionKey'>) => void;
}
