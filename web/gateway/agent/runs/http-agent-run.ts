import type { GenerationOptions, ModelMessage, ToolSpec } from '../../providers/provider.ts';

/** A request of a program to an agent. */
export interface HttpAgentRun {
  agentId: string;
  messages: ModelMessage[];
  sessionId?: string | undefined;
  /** Caller. */
  principal: string;
  generationOptions: GenerationOptions;
  /** The caller's own tools: the run ends when it calls one, and the caller sends the result in its next request. */
  tools?: readonly ToolSpec[];
  signal: AbortSignal;
}
