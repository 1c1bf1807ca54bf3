import { CHANNEL_REPLY_PREFIX } from '#shared/channel-reply.ts';
import { formatCommandLine } from '#shared/command-line.ts';
import type { Approval } from '#shared/rpc/methods/approval-contracts.ts';
import { toPrintable } from '#shared/printable.ts';

/** Command of an approval: the whole line, and its working directory. Null for other tools. */
export function getCommand({ requestId, args }: Pick<Approval, 'requestId' | 'args'>): { line: string; directory: string } | null {
  const { command, args: words, workingDir } = args;
  if (requestId === undefined || typeof command !== 'string' || !Array.isArray(words)) return null;
  const argTexts = words.filter((word) => typeof word === 'string');
  return { line: formatCommandLine(command, argTexts), directory: typeof workingDir === 'string' ? toPrintable(workingDir) : '' };
}

/** Held reply on a channel: the channel's id, recipient, text, and names of files. Null for other approvals. */
export function getPendingReply({ tool, args }: Pick<Approval, 'tool' | 'args'>): {
  channel: string;
  to: string;
  text: string;
  files: string[];
} | null {
  const { to, text, files } = args;
  if (!tool.startsWith(CHANNEL_REPLY_PREFIX) || typeof text !== 'string') return null;
  const names = Array.isArray(files) ? files.filter((file) => typeof file === 'string') : [];
  return {
    channel: tool.slice(CHANNEL_REPLY_PREFIX.length),
    to: typeof to === 'string' ? toPrintable(to) : '',
    text: toPrintable(text),
    files: names.map(toPrintable),
  };
}

/** Formats remaining milliseconds as a countdown: `4:05`, or `23:04:05`. Never below `0:00`. */
export function formatCountdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const secondsText = `:${String(seconds % 60).padStart(2, '0')}`;
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}${secondsText}` : `${minutes}${secondsText}`;
}
