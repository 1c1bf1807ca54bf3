import type { Approval } from '#shared/rpc/methods/approvals.ts';
import type { ExecRequest } from '#shared/rpc/methods/exec.ts';
import type { ApprovalRecord, ExecRecord } from '../vault.ts';

/** A request as it is shown. */
export const requestOf = ({ origin: _, replica: __, ...request }: ExecRecord): ExecRequest => request;

/** The same without its output, for lists and events. */
export function briefOf(record: ExecRecord): ExecRequest {
  const { stdout: _, stderr: __, ...request } = requestOf(record);
  return request;
}

export const approvalOf = ({ origin: _, replica: __, ...approval }: ApprovalRecord): Approval => approval;

/** A command as an entry among the approvals: it is kept once, as its request. */
export function commandApproval(request: ExecRequest): Approval {
  const { requestId, command, args, workingDir, agentId, sessionId, runId, status, createdAt, expiresAt, resolvedAt, reason } = request;
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
    ...(reason === undefined ? {} : { reason }),
  };
}

/** A command for a person to read, each part that is not plain in quotes: where one begins and ends must be seen. */
export const commandLine = (command: string, args: readonly string[]): string => [command, ...args].map(visible).join(' ');

/** What has no shape of its own is written out: some of it would turn the order of the rest around. */
function visible(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  const code = (char: string): string => `\\u{${char.codePointAt(0)?.toString(16) ?? ''}}`;
  return JSON.stringify(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, code);
}
