import type { Approval } from '#shared/rpc/methods/approvals.ts';
import type { Segment, ToolUse } from './items.ts';

/**
 * The ids of the tool calls of a run that wait for a person's word. An approval names its tool and arguments, not the call: where several calls of a tool are
 * under way it is of the first whose arguments it has.
 */
export function awaiting(segments: readonly Segment[], runId: string, pending: readonly Approval[]): ReadonlySet<string> {
  const found = new Set<string>();
  const running = segments.flatMap((segment) => (segment.kind === 'tool' && segment.use.state === 'running' ? [segment.use] : []));
  for (const approval of pending) {
    if (approval.runId !== runId) continue;
    const calls = running.filter(({ id, tool }) => tool === approval.tool && !found.has(id));
    const call = calls.find((use) => agrees(use, approval)) ?? calls[0];
    if (call) found.add(call.id);
  }
  return found;
}

/** What was asked for is in the approval; a command's has more, which the gateway has filled in. */
const agrees = ({ args }: ToolUse, approval: Approval): boolean =>
  Object.entries(args).every(([name, value]) => !(name in approval.args) || JSON.stringify(value) === JSON.stringify(approval.args[name]));
