/** A command, and who wants it: an agent in a run, or (null) a person. */
export interface Wanted {
  command: string;
  args: readonly string[];
  workingDir?: string | undefined;
  agentId: string | null;
  sessionId: string | null;
  runId: string | null;
  /** The model's call, and what it says the command is for. */
  toolCallId?: string | undefined;
  purpose?: string | undefined;
  /** To whom a stored policy must have been given: `owner`, `agent:<id>` or `key:<id>`. */
  grantee: string;
  /** It needs no approval: the tool's policy is `auto`. */
  approved?: boolean;
  /** Outside sources that the agent has read: neither `approved` nor a stored policy lets it run then. */
  outside?: string[];
  /** Whether it may run after reading from all of these sources, for files from outside that it could load. */
  isGranted?(sources: readonly string[]): boolean;
  /** Outside sources that the agent has read, also if it needs no approval because of them. */
  readOutside?: string[];
  /** The connection that asked: it is told what becomes of the command, whatever else it is told of. */
  connId?: string;
}
