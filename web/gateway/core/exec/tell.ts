import type { Hub } from '../hub.ts';
import { type ExecRecord, sessionKey } from '../vault.ts';
import { briefOf, commandApproval } from './shown.ts';

/** The session key of a record; null if it belongs to no session. */
export const sessionOf = ({ agentId, sessionId }: { agentId: string | null; sessionId: string | null }): string | null =>
  agentId === null || sessionId === null ? null : sessionKey(agentId, sessionId);

/** Emits events for a changed request, and for its entry in the list of approvals. `before`: the status that was last reported. */
export function tell(hub: Pick<Hub, 'emit'>, record: ExecRecord, before: string | undefined): void {
  const { status, connId } = record;
  if (status === 'running') return;
  const session = sessionOf(record);
  const request = briefOf(record);
  const approval = commandApproval(record);
  const waits = status === 'pending';
  hub.emit({ event: waits ? 'exec.requested' : 'exec.resolved', payload: { request } }, session, connId);
  if (waits) hub.emit({ event: 'approval.requested', payload: { approval } }, session, connId);
  else if (before === 'pending') hub.emit({ event: 'approval.resolved', payload: { approval } }, session, connId);
}
