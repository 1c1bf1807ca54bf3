import type { Approval } from '#shared/rpc/methods/approvals.ts';
import type { ExecRequest } from '#shared/rpc/methods/exec.ts';
import { m } from '#lib/i18n/pages.ts';

export interface Outcome {
  words: string;
  bad: boolean;
}

/** Outcome of a decided approval; for a command that ran, `request` decides. */
export function outcomeOf({ status }: Pick<Approval, 'status'>, request?: Pick<ExecRequest, 'status' | 'exitCode'>): Outcome {
  switch (request?.status) {
    case 'running':
      return { words: m.approvals_outcome_running(), bad: false };
    case 'completed':
      return { words: m.approvals_outcome_done(), bad: false };
    case 'failed': {
      const { exitCode } = request;
      return {
        words: typeof exitCode === 'number' ? m.approvals_outcome_failed_with({ code: exitCode }) : m.approvals_outcome_failed(),
        bad: true,
      };
    }
    default:
      return { words: SETTLED[status](), bad: status === 'denied' || status === 'expired' };
  }
}

const SETTLED: Readonly<Record<Approval['status'], () => string>> = {
  pending: () => m.approvals_outcome_waits(),
  approved: () => m.approvals_outcome_approved(),
  denied: () => m.approvals_outcome_denied(),
  expired: () => m.approvals_outcome_expired(),
  cancelled: () => m.approvals_outcome_cancelled(),
};
