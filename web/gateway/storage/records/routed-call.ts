import type { ToolCall } from '#shared/rpc/record-schemas.ts';

/** Tool that finds tools that are not in the request. */
export const TOOL_SEARCH = 'tool_search';
/** Tool that calls one that is not in the request. */
export const TOOL_CALL = 'tool_call';

/**
 * A call with the name of the tool that runs. `via`: the call as the model wrote it, if different, so that later prompts repeat it
 * unchanged.
 */
export interface RoutedCall extends ToolCall {
  via?: Pick<ToolCall, 'tool'> & Partial<Pick<ToolCall, 'args'>>;
}

/** A call as the model wrote it, for its next prompts. */
export function toOriginalCall({ via, ...call }: RoutedCall): ToolCall {
  return via ? { ...call, tool: via.tool, args: via.args ?? { name: call.tool, arguments: call.args } } : call;
}

/** A branch with its calls as models wrote them; results have the name of the written call. */
export function toOriginalBranch<M extends { toolCalls?: RoutedCall[]; toolCallId?: string; name?: string }>(branch: readonly M[]): M[] {
  const routed = branch.flatMap(({ toolCalls = [] }) => toolCalls).filter(({ via }) => via);
  const names = new Map(routed.map(({ id, via }) => [id, via?.tool]));
  return branch.map((message) => {
    const name = names.get(message.toolCallId ?? '');
    if (name !== undefined) return { ...message, name };
    return message.toolCalls ? { ...message, toolCalls: message.toolCalls.map(toOriginalCall) } : message;
  });
}

/** A call for people and clients. */
export const withoutVia = ({ via: _via, ...call }: RoutedCall): ToolCall => call;
