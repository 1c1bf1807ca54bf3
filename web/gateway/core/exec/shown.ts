import { commandLine, visible } from '#shared/command-line.ts';
import type { Approval } from '#shared/rpc/methods/approvals.ts';
import type { ExecRequest } from '#shared/rpc/methods/exec.ts';
import type { ApprovalRecord, ExecRecord } from '../vault.ts';

/** A request as it is shown. */
export const requestOf = ({ origin: _, replica: __, connId: ___, ...request }: ExecRecord): ExecRequest => request;

/** The same without its output, for lists and events. */
export function briefOf(record: ExecRecord): ExecRequest {
  const { stdout: _, stderr: __, ...request } = requestOf(record);
  return request;
}

export const approvalOf = ({ origin: _, replica: __, ...approval }: ApprovalRecord): Approval => approval;

/** A command as an entry among the approvals: it is kept once, as its request. */
export function commandApproval(request: ExecRequest): Approval {
  const { requestId, command, args, workingDir, agentId, sessionId, runId, status, createdAt, expiresAt, resolvedAt } = request;
  const { toolCallId, purpose, reason, outside } = request;
  return {
    id: requestId,
    requestId,
    tool: 'exec',
    args: { command, args, workingDir },
    summary: `Run ${commandLine(command, args)} in ${visible(workingDir)}`,
    agentId,
    sessionId,
    runId,
    status: status === 'running' || status === 'completed' || status === 'failed' ? 'approved' : status,
    createdAt,
    expiresAt,
    ...(resolvedAt === undefined ? {} : { resolvedAt }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(purpose === undefined ? {} : { purpose }),
    ...(reason === undefined ? {} : { reason }),
    ...(outside === undefined ? {} : { outside }),
  };
}
