import { commandLine } from '#shared/command-line.ts';
import { legible } from '#shared/legible.ts';
import type { ToolUse } from './items.ts';

/** One line is shown, and no screen is wider. */
const MOST = 300;

/** Short description of a call: a command as written, otherwise its first informative argument. Empty if there is none. */
export function calledWith({ tool, args }: Pick<ToolUse, 'tool' | 'args'>): string {
  const { command, args: words } = args;
  if (tool === 'exec' && typeof command === 'string')
    return commandLine(command, Array.isArray(words) ? words.filter((word) => typeof word === 'string') : []).slice(0, MOST);
  const said = Object.values(args).find((value) => typeof value === 'string' && value.trim() !== '');
  return typeof said === 'string' ? legible(said.slice(0, MOST).replace(/\s+/g, ' ').trim()) : '';
}
