import type { SubAgentLabel } from '#shared/rpc/record-schemas.ts';
import { parseSessionPath } from '../../storage/session-views.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { ExecRecord } from '../../storage/vault-interface.ts';
import { toSessionKey } from '../../storage/chat-records.ts';
import { toExecSummary, toCommandApproval } from './exec-views.ts';

interface SessionFields {
  agentId: string | null;
  sessionId: string | null;
  subAgent?: SubAgentLabel | undefined;
}

/** The key of the session that gets a record's events, for a sub-agent that of its chat; null if it belongs to no session. */
export function getRecordSessionKey({ agentId, sessionId, subAgent }: SessionFields): string | null {
  if (subAgent) return parseSessionPath(subAgent.chat);
  return agentId === null || sessionId === null ? null : toSessionKey(agentId, sessionId);
}

/** Emits events for a changed request, and for its entry in the list of approvals. `before`: the status that was last reported. */
export function emitExecEvents(hub: Pick<EventBus, 'emit'>, record: ExecRecord, before: string | undefined): void {
  const { status, connId } = record;
  if (status === 'running') return;
  const session = getRecordSessionKey(record);
  const request = toExecSummary(record);
  const approval = toCommandApproval(record);
  const isPending = status === 'pending';
  hub.emit({ event: isPending ? 'exec.requested' : 'exec.resolved', payload: { request } }, session, connId);
  if (isPending) hub.emit({ event: 'approval.requested', payload: { approval } }, session, connId);
  else if (before === 'pending') hub.emit({ event: 'approval.resolved', payload: { approval } }, session, connId);
}
