import { RpcError } from '#shared/rpc/errors.ts';
import type { HistoryMessage } from '#shared/rpc/records.ts';

/** Who speaks, in the headings of an export. */
export const SPEAKERS = { user: 'You', assistant: 'Assistant', system: 'System', tool: 'Tool' } as const;
const HEADING = /^## (?:(You|System)|(Assistant)(?: \((.+)\))?|(Tool)(?: .*)?)$/;
/** A line that would be taken for such a heading, behind as many backslashes as it was given already. */
const LIKE_HEADING = /^(\\*)(?=## (?:You|Assistant|System|Tool)\b)/gm;

/** Text that an export may hold without being taken for one of its headings. */
export const withoutHeadings = (text: string): string => text.replace(LIKE_HEADING, '\\$1');

/**
 * Reads what `sessions.export` gave as Markdown: a title, and who said what. What tools were asked and answered stays as text of the reply above it; attached
 * files are not in it, and times are not either: all messages have `at`, in milliseconds since 1970. Throws `INVALID_PARAMS` where nobody says anything.
 */
export function readMarkdown(text: string, at: number): { title: string | undefined; messages: HistoryMessage[] } {
  const messages: (HistoryMessage & { content: string })[] = [];
  let title: string | undefined;
  for (const line of text.replaceAll('\r\n', '\n').split('\n')) {
    const [, spoken, assistant, model, tool] = HEADING.exec(line) ?? [];
    const last = messages.at(-1);
    if (spoken ?? assistant) {
      const role = spoken === 'You' ? 'user' : spoken === 'System' ? 'system' : 'assistant';
      const id = String(messages.length);
      messages.push({ id, role, content: '', timestamp: at, parentId: last?.id ?? null, ...(model ? { model } : {}) });
    } else if (last)
      last.content += `${tool ? `**${line.slice('## '.length)}**` : line.replace(LIKE_HEADING, (marks) => marks.slice(1))}\n`;
    else title ??= /^# (.+)$/.exec(line)?.[1]?.trim();
  }
  if (messages.length === 0)
    throw new RpcError(
      'INVALID_PARAMS',
      'No messages found in `content`. It must be an export in JSON Lines or Markdown (## You, ## Assistant).',
    );
  return { title, messages: messages.map((message) => ({ ...message, content: message.content.trim() })) };
}
