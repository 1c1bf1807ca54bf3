import { type DialogLine, parseDialog } from '../dialog/dialog-lines.ts';
import { datesUpTo } from '../../local-time.ts';
import { dateOf, dayFile, dialogFile, startOf } from '../layout.ts';
import { textOf } from '../message.ts';
import type { Workspace } from '../workspace.ts';
import { type Asking, summarise } from './summarise.ts';

const BEGIN = '<!-- perch:summary -->';
const END = '<!-- /perch:summary -->';
const DAY_MS = 86_400_000;
/** Without a model: maximum number of user messages per session, and characters of each. */
const MOST_LINES = 20;
const LONGEST = 200;

/**
 * Writes the conversations of a day to `memory/<date>.md`, as a summary by the model if there is one, else as an extract. Other text in the
 * file is kept. Resolves with the path, or undefined if there were no messages. `dayOf` returns the local date of an instant. Tool results
 * are left out, because they may contain untrusted text.
 */
export async function summariseDay(
  workspace: Workspace,
  date: string,
  asking: Asking | undefined,
  dayOf: (at: number) => string,
): Promise<string | undefined> {
  const said = (await linesOf(workspace, date, dayOf)).filter(({ message: { role } }) => role === 'user' || role === 'assistant');
  if (said.length === 0) return undefined;
  const body = asking
    ? (await summarise(said.map(({ message }) => message), { ...asking, takesPlain: true })).toMarkdown().replaceAll(/^## /gm, '### ') // prettier-ignore
    : extract(said);
  const path = dayFile(date);
  const section = `${BEGIN}\n## Summary of the day\n\n${body.replaceAll('<!--', '&lt;!--').trim()}\n${END}\n`;
  await workspace.update(path, (before = `# ${date}\n`) => withSection(before, section));
  return path;
}

/** Whether a day's notes contain a summary section, even an empty one. */
export const hasSummary = (notes: string): boolean => notes.includes(BEGIN);

/** The messages of a local day. Files are per UTC day, so that a local day may span two of them. */
async function linesOf(workspace: Workspace, date: string, dayOf: (at: number) => string): Promise<DialogLine[]> {
  const found: DialogLine[] = [];
  for (const each of datesUpTo(dateOf((startOf(date) ?? 0) + DAY_MS), 3)) {
    const { lines } = parseDialog((await workspace.read(dialogFile(each))) ?? '');
    found.push(...lines.filter(({ message: { timestamp } }) => (timestamp === undefined ? each : dayOf(timestamp)) === date));
  }
  return found;
}

function withSection(file: string, section: string): string {
  const begin = file.indexOf(BEGIN);
  const end = file.indexOf(END, begin);
  if (begin === -1 || end === -1) return `${file.trimEnd()}\n\n${section}`;
  return file.slice(0, begin) + section + file.slice(end + END.length).replace(/^\r?\n/, '');
}

function extract(lines: readonly DialogLine[]): string {
  const sessions = Map.groupBy(lines, ({ sessionKey }) => sessionKey);
  return [...sessions]
    .map(([key, some]) => {
      const asked = some.filter(({ message }) => message.role === 'user' && textOf(message).trim() !== '');
      const shown = asked.slice(0, MOST_LINES).map(({ message }) => `- ${firstOf(textOf(message))}`);
      const more = asked.length > MOST_LINES ? [`- … and ${asked.length - MOST_LINES} more`] : [];
      return [
        `### ${key === '' ? 'Conversation' : key.replaceAll(/\s+/g, ' ')}`,
        '',
        `${some.length} messages.`,
        '',
        ...shown,
        ...more,
      ].join('\n');
    })
    .join('\n\n');
}

/** The beginning of a text, on one line. */
function firstOf(text: string): string {
  const chars = [...text.replaceAll(/\s+/g, ' ').trim()];
  return chars.length <= LONGEST ? chars.join('') : `${chars.slice(0, LONGEST).join('')} …`;
}
