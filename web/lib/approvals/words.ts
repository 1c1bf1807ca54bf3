import { commandLine } from '#shared/command-line.ts';
import type { Approval } from '#shared/rpc/methods/approvals.ts';
import { legible } from '#shared/legible.ts';

/** Command of an approval: the whole line, and its working directory. Null for other tools. */
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
