import { commandLine } from '#shared/command-line.ts';
import type { Approval } from '#shared/rpc/methods/approvals.ts';
import type { ExecRequest } from '#shared/rpc/methods/exec.ts';
import { legible } from '#shared/legible.ts';
import { m } from '#lib/i18n/frame.ts';

/** What waits, where it is a command: all of it as a line, and the directory it runs in. Null: another tool. */
export function commandOf({ requestId, args }: Pick<Approval, 'requestId' | 'args'>): { line: string; directory: string } | null {
  const { command, args: words, workingDir } = args;
  if (requestId === undefined || typeof command !== 'string' || !Array.isArray(words)) return null;
  const given = words.filter((word) => typeof word === 'string');
  return { line: commandLine(command, given), directory: typeof workingDir === 'string' ? legible(workingDir) : '' };
}

/** Time that is left, in milliseconds, as a clock shows it: `4:05`. Never below `0:00`. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

export interface Outcome {
  words: string;
  bad: boolean;
}

/** What became of one that waits no more; of a command, which also ran, what `request` says. */
export function outcomeOf({ status }: Pick<Approval, 'status'>, request?: Pick<ExecRequest, 'status' | 'exitCode'>): Outcome {
  switch (request?.status) {
    case 'running':
      return { words: m.chat_outcome_running(), bad: false };
    case 'completed':
      return { words: m.chat_outcome_done(), bad: false };
    case 'failed': {
      const { exitCode } = request;
      return { words: typeof exitCode === 'number' ? m.chat_outcome_failed_with({ code: exitCode }) : m.chat_outcome_failed(), bad: true };
    }
    default:
      return OUTCOMES[status]();
  }
}

const OUTCOMES: Readonly<Record<Approval['status'], () => Outcome>> = {
  pending: () => ({ words: m.chat_outcome_waits(), bad: false }),
  approved: () => ({ words: m.chat_outcome_approved(), bad: false }),
  denied: () => ({ words: m.chat_outcome_denied(), bad: true }),
  expired: () => ({ words: m.chat_outcome_expired(), bad: true }),
  cancelled: () => ({ words: m.chat_outcome_cancelled(), bad: false }),
};
