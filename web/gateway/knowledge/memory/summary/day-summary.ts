import { type DialogLine, parseDialog } from '../dialog/dialog-lines.ts';
import { listDates } from '#shared/local-time.ts';
import { formatDate, toNotesPath, toDialogPath, getDayStart } from '../layout.ts';
import { getText } from '../memory-message.ts';
import type { Workspace } from '../workspace.ts';
import { type SummaryContext, summarise } from './summarise.ts';

const SUMMARY_BEGIN = '<!-- perch:summary -->';
const SUMMARY_END = '<!-- /perch:summary -->';
const DAY_MS = 86_400_000;
/** Without a model: maximum number of user messages per session, and characters of each. */
const MAX_LINES = 20;
const MAX_LINE_CHARS = 200;

/**
 * Writes the conversations of a day to `memory/<date>.md`, as a summary by the model if there is one, else as an extract. Other text in the
 * file is kept. Resolves with the path, or undefined if there were no messages. `toDay` returns the local date of an instant. Tool results
 * are left out, because they may contain untrusted text.
 */
export async function summariseDay(
  workspace: Workspace,
  date: string,
  context: SummaryContext | undefined,
  toDay: (at: number) => string,
): Promise<string | undefined> {
  const lines = (await readDayLines(workspace, date, toDay)).filter(({ message: { role } }) => role === 'user' || role === 'assistant');
  if (lines.length === 0) return undefined;
  const body = context
    ? (await summarise(lines.map(({ message }) => message), { ...context, takesPlain: true })).toMarkdown().replaceAll(/^## /gm, '### ') // prettier-ignore
    : createExtract(lines);
  const path = toNotesPath(date);
  const section = `${SUMMARY_BEGIN}\n## Summary of the day\n\n${body.replaceAll('<!--', '&lt;!--').trim()}\n${SUMMARY_END}\n`;
  await workspace.update(path, (before = `# ${date}\n`) => replaceSection(before, section));
  return path;
}

/** Splits a day's notes into the summary and the text before and after it; without a summary, all of it is before. */
export function splitSummary(notes: string): { before: string; summary: string; after: string } {
  const begin = notes.indexOf(SUMMARY_BEGIN);
  const end = notes.indexOf(SUMMARY_END, begin);
  if (begin === -1 || end === -1) return { before: notes, summary: '', after: '' };
  const start = begin + SUMMARY_BEGIN.length;
  return { before: notes.slice(0, start), summary: notes.slice(start, end), after: notes.slice(end) };
}

/** Text of the summary section of a day's notes; undefined if there is none. */
export function getSummary(notes: string): string | undefined {
  const { summary, after } = splitSummary(notes);
  return after === '' ? undefined : summary.trim();
}

/** Whether a day's notes contain a summary section, even an empty one. */
export const hasSummary = (notes: string): boolean => notes.includes(SUMMARY_BEGIN);

/** The messages of a local day. Files are per UTC day, so that a local day may span two of them. */
export async function readDayLines(workspace: Workspace, date: string, toDay: (at: number) => string): Promise<DialogLine[]> {
  const found: DialogLine[] = [];
  for (const fileDate of listDates(formatDate((getDayStart(date) ?? 0) + DAY_MS), 3)) {
    const { lines } = parseDialog((await workspace.read(toDialogPath(fileDate))) ?? '');
    found.push(...lines.filter(({ message: { timestamp } }) => (timestamp === undefined ? fileDate : toDay(timestamp)) === date));
  }
  return found;
}

function replaceSection(file: string, section: string): string {
  const begin = file.indexOf(SUMMARY_BEGIN);
  const end = file.indexOf(SUMMARY_END, begin);
  if (begin === -1 || end === -1) return `${file.trimEnd()}\n\n${section}`;
  return file.slice(0, begin) + section + file.slice(end + SUMMARY_END.length).replace(/^\r?\n/, '');
}

function createExtract(lines: readonly DialogLine[]): string {
  const sessions = Map.groupBy(lines, ({ sessionKey }) => sessionKey);
  return [...sessions]
    .map(([key, sessionLines]) => {
      const userLines = sessionLines.filter(({ message }) => message.role === 'user' && getText(message).trim() !== '');
      const excerpts = userLines.slice(0, MAX_LINES).map(({ message }) => `- ${toFirstLine(getText(message))}`);
      const more = userLines.length > MAX_LINES ? [`- … and ${userLines.length - MAX_LINES} more`] : [];
      return [
        `### ${key === '' ? 'Conversation' : key.replaceAll(/\s+/g, ' ')}`,
        '',
        `${sessionLines.length} messages.`,
        '',
        ...excerpts,
        ...more,
      ].join('\n');
    })
    .join('\n\n');
}

/** The beginning of a text, on one line. */
function toFirstLine(text: string): string {
  const chars = [...text.replaceAll(/\s+/g, ' ').trim()];
  return chars.length <= MAX_LINE_CHARS ? chars.join('') : `${chars.slice(0, MAX_LINE_CHARS).join('')} …`;
}
