import type { Approval } from '#shared/rpc/methods/approval-contracts.ts';
import type { ExecRequest } from '#shared/rpc/methods/exec-contracts.ts';
import { m } from '#app/i18n/messages.ts';

interface ApprovalOutcome {
  text: string;
  isFailure: boolean;
}

/** Outcome of a decided approval; for a command that ran, `request` decides. */
export function getApprovalOutcome(
  { status }: Pick<Approval, 'status'>,
  request?: Pick<ExecRequest, 'status' | 'exitCode'>,
): ApprovalOutcome {
  switch (request?.status) {
    case 'running':
      return { text: m.approvals_outcome_running(), isFailure: false };
    case 'completed':
      return { text: m.approvals_outcome_done(), isFailure: false };
    case 'failed': {
      const { exitCode } = request;
      return {
        text: typeof exitCode === 'number' ? m.approvals_outcome_failed_with({ code: exitCode }) : m.approvals_outcome_failed(),
        isFailure: true,
      };
    }
    default:
      return { text: STATUS_LABELS[status](), isFailure: status === 'denied' || status === 'expired' };
  }
}

const STATUS_LABELS: Readonly<Record<Approval['status'], () => string>> = {
  pending: () => m.approvals_outcome_waits(),
  approved: () => m.approvals_outcome_approved(),
  denied: () => m.approvals_outcome_denied(),
  expired: () => m.approvals_outcome_expired(),
  cancelled: () => m.approvals_outcome_cancelled(),
};
