import type { SubAgentLabel } from '#shared/rpc/record-schemas.ts';

/** A command to run, and its caller: an agent in a run, or (null) a person. */
export interface CommandRequest {
  command: string;
  args: readonly string[];
  workingDir?: string | undefined;
  agentId: string | null;
  sessionId: string | null;
  runId: string | null;
  /** The sub-agent that asks, if it is one. */
  subAgent?: SubAgentLabel | undefined;
  /** Id of the model's tool call, and its stated purpose. */
  toolCallId?: string | undefined;
  purpose?: string | undefined;
  /** Grantee that a stored policy must match: `owner`, `agent:<id>` or `key:<id>`. */
  grantee: string;
  /** Whether the tool's policy is `auto`, so that no approval is needed. */
  approved?: boolean;
  /** Outside sources that the agent has read: if there are any, neither `approved` nor a stored policy lets the command run. */
  outside?: string[];
  /** Whether the command may run after reading from all of these sources, for outside files that it could load. */
  isGranted?(sources: readonly string[]): boolean;
  /** All outside sources that the agent has read, also if they require no approval. */
  readOutside?: string[];
  /** The connection that asked: it always receives the events of this command. */
  connId?: string;
}
