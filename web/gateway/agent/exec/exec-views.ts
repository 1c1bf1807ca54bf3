import { formatCommandLine, quoteArgument } from '#shared/command-line.ts';
import type { Approval } from '#shared/rpc/methods/approval-contracts.ts';
import type { ExecRequest } from '#shared/rpc/methods/exec-contracts.ts';
import type { ApprovalRecord, ExecRecord } from '../../storage/vault-interface.ts';

/** A request as clients see it. */
export const toExecRequest = ({
  origin: _,
  replica: __,
  connId: ___,
  readOutside: ____,
  isSettled: _____,
  ...request
}: ExecRecord): ExecRequest => request;

/** A request without its output and the text of its scripts, for lists and events. */
export function toExecSummary(record: ExecRecord): ExecRequest {
  const { stdout: _, stderr: __, ...request } = toExecRequest(record);
  return withoutScriptTexts(request);
}

/** A request for callers that are not persons: they may not read files by asking to run them. */
export function withoutScriptTexts(request: ExecRequest): ExecRequest {
  const { scripts } = request;
  return scripts ? { ...request, scripts: scripts.map(({ path, bytes }) => ({ path, bytes })) } : request;
}

const ALLOWED_STATUSES: ReadonlySet<ExecRequest['status']> = new Set(['approved', 'running', 'completed', 'failed']);

/** A request with the text that each of its scripts had when it was last allowed, if known. */
export function withPrevious(request: ExecRequest, newestFirst: readonly ExecRecord[]): ExecRequest {
  if (!request.scripts) return request;
  const before = newestFirst.filter(
    ({ requestId, status, createdAt }) => requestId !== request.requestId && ALLOWED_STATUSES.has(status) && createdAt <= request.createdAt,
  );
  const scripts = request.scripts.map((script) => {
    const previous = before
      .flatMap((record) => record.scripts ?? [])
      .find(({ path, text }) => path === script.path && text !== undefined)?.text;
    return previous === undefined ? script : { ...script, previous };
  });
  return { ...request, scripts };
}

export const toApproval = ({ origin: _, replica: __, ...approval }: ApprovalRecord): Approval => approval;

/** A command as an entry in the list of approvals; it is stored only once, as its request. */
export function toCommandApproval(request: ExecRequest): Approval {
  const { requestId, command, args, workingDir, agentId, sessionId, runId, status, createdAt, expiresAt, resolvedAt } = request;
  const { toolCallId, purpose, reason, resolvedVia, outside, subAgent } = request;
  return {
    id: requestId,
    requestId,
    tool: 'exec',
    args: { command, args, workingDir },
    summary: `Run ${formatCommandLine(command, args)} in ${quoteArgument(workingDir)}`,
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
    ...(resolvedVia === undefined ? {} : { resolvedVia }),
    ...(outside === undefined ? {} : { outside }),
    ...(subAgent === undefined ? {} : { subAgent }),
  };
}
