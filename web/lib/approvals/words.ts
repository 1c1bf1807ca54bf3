import { CHANNEL_REPLY } from '#shared/channel-reply.ts';
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

/** A reply on a channel that is held: the channel's id, to whom it goes, its text and the names of its files. Null for other approvals. */
export function getHeldReply({ tool, args }: Pick<Approval, 'tool' | 'args'>): {
  channel: string;
  to: string;
  text: string;
  files: string[];
} | null {
  const { to, text, files } = args;
  if (!tool.startsWith(CHANNEL_REPLY) || typeof text !== 'string') return null;
  const names = Array.isArray(files) ? files.filter((file) => typeof file === 'string') : [];
  return {
    channel: tool.slice(CHANNEL_REPLY.length),
    to: typeof to === 'string' ? legible(to) : '',
    text: legible(text),
    files: names.map(legible),
  };
}

/** Time that is left, in milliseconds, as a clock shows it: `4:05`, or `23:04:05`. Never below `0:00`. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = `:${String(seconds % 60).padStart(2, '0')}`;
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}${rest}` : `${minutes}${rest}`;
}
