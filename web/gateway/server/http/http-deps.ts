import type { HttpAgentRun } from '../../agent/runs/http-agent-run.ts';
import type { Principal } from '#shared/link/hello.ts';
import type { RpcError } from '#shared/rpc/rpc-error.ts';
import type { SpeechParams, SpeechResult } from '#shared/ports/speech-port.ts';
import type { Scope } from '#shared/rpc/scopes.ts';
import type { AudioConverter } from '../../audio/audio-converter.ts';
import type { LogLevel } from '#shared/rpc/log-level.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { ModelEvent } from '../../providers/provider.ts';
import type { Providers } from '../../providers/providers.ts';
import type { Collection, UsageRecord } from '../../storage/vault-interface.ts';
import type { ConversationRecord } from '../../storage/records/conversation-record.ts';
import type { ApiFileRecord } from '../../storage/records/api-file-record.ts';
import type { ResponseRecord } from '../../storage/records/response-record.ts';
import type { ModelSearches } from './search/model-searches.ts';

export interface HttpDeps {
  agents: {
    list(): { id: string }[];
    run(request: HttpAgentRun): AsyncIterable<ModelEvent>;
  };
  providers: Pick<Providers, 'resolve' | 'list' | 'findKind' | 'findTranscriber'>;
  /** Speaks with Perch's built-in voices. Rejects with `RpcError`. */
  speak(params: SpeechParams, signal: AbortSignal): Promise<SpeechResult>;
  /** Converts audio in this browser. Rejects with `RpcError`. */
  convertAudio: AudioConverter['convert'];
  /** Whether an agent may search the web for a principal. */
  canSearch?(agentId: string, principal: string): Promise<boolean>;
  /** Searches for models. */
  searches?: ModelSearches;
  /** Stored responses. */
  responses: Collection<ResponseRecord>;
  conversations: Collection<ConversationRecord>;
  apiFiles: Collection<ApiFileRecord>;
  /** The gateway's MCP server (`/mcp`) for an agent. */
  mcp(): Promise<(request: Request, agentId: string, principal: Principal) => Promise<Response>>;
  clock: Clock;
  /** Perch's version, for `/openapi.json`. */
  version: string;
  /** Converts an unexpected error to one with an ID that can be found in the log. */
  fault(error: unknown): RpcError;
  /** Writes a log entry. */
  note?: (level: LogLevel, message: string, fields: Record<string, unknown>) => void;
  /** Rejects with `RpcError` if the caller has exceeded a limit. */
  admit?: (principal: string) => Promise<void> | undefined;
  /** Whether each call has to be checked against the vault's budget, so that the bridge must not make calls without the host. */
  hasVaultBudget?: () => boolean;
  /** Whether the principal is a revoked API key. */
  isRevoked?: (principal: string) => Promise<boolean>;
  /** Records that a principal has used a scope. */
  used?: (principal: string, scope: Scope) => void;
  /** Usage recorded since a time in milliseconds since 1970. */
  usageSince?: (at: number) => Promise<Pick<UsageRecord, 'at' | 'model' | 'principal'>[]>;
  /** Records the usage of calls that go directly to a model. */
  record?: (call: Omit<UsageRecord, 'id' | 'sessionKey'>) => void;
}
