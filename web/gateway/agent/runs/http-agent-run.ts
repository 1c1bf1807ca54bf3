import type { RunTaint } from '../trust/run-taint.ts';
import type { RunTreeNode } from './run-tree.ts';
import type { RunRequest } from './run-types.ts';
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
  /** IDs of collections that the run searches besides those of the agent; without effect in a session. */
  collections?: readonly string[];
  signal: AbortSignal;
  /** For a sub-agent. */
  subAgent?: HttpSubAgentRun;
}

/** The part of a request that a sub-agent's caller determines. */
interface HttpSubAgentRun extends Pick<RunRequest, 'actsFor' | 'scopes' | 'tools' | 'model' | 'outsideGrant'> {
  node: RunTreeNode;
  instructions: string;
  /** See `RunRequest`. */
  quotedUrls: readonly string[];
  /** Receives what the run has read from outside, when it ends. */
  onTaint(taint: RunTaint): void;
}
