import { formatCommandLine } from '#shared/command-line.ts';
import { toPrintable } from '#shared/printable.ts';
import type { ToolUse } from '#app/state/chat-items.ts';

/** Maximum length: one line of the widest screen. */
const MAX_CHARS = 300;

/** Short description of a call: a command as written, otherwise its first informative argument. Empty if there is none. */
export function describeCall({ tool, args }: Pick<ToolUse, 'tool' | 'args'>): string {
  const { command, args: words } = args;
  if (tool === 'exec' && typeof command === 'string')
    return formatCommandLine(command, Array.isArray(words) ? words.filter((word) => typeof word === 'string') : []).slice(0, MAX_CHARS);
  const texts = tool === 'agent_run' ? [args['title'], args['task']] : Object.values(args);
  const firstText = texts.find((value) => typeof value === 'string' && value.trim() !== '');
  return typeof firstText === 'string' ? toPrintable(firstText.slice(0, MAX_CHARS).replace(/\s+/g, ' ').trim()) : '';
}
