import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';

/** Names of the roles in the headings of an export. */
export const SPEAKERS = { user: 'You', assistant: 'Assistant', system: 'System', tool: 'Tool' } as const;
const HEADING = /^## (?:(You|System)|(Assistant)(?: \((.+)\))?|(Tool)(?: .*)?)$/;
/** A line of text that looks like such a heading, with any backslashes that already escape it. */
const HEADING_LIKE = /^(\\*)(?=## (?:You|Assistant|System|Tool)\b)/gm;

/** Escapes lines of text that look like headings of an export. */
export const escapeHeadings = (text: string): string => text.replace(HEADING_LIKE, '\\$1');

/**
 * Reads a Markdown export of `sessions.export`: a title and messages with their roles. Tool calls and results stay as text of the reply
 * above them; attached files and times are not included: all messages have the time `at`, in milliseconds since 1970. Throws
 * `INVALID_PARAMS` if there is no message.
 */
export function parseMarkdownChat(text: string, at: number): { title: string | undefined; messages: HistoryMessage[] } {
  const messages: (HistoryMessage & { content: string })[] = [];
  let title: string | undefined;
  for (const line of text.replaceAll('\r\n', '\n').split('\n')) {
    const [, roleName, assistant, model, tool] = HEADING.exec(line) ?? [];
    const last = messages.at(-1);
    if (roleName ?? assistant) {
      const role = roleName === 'You' ? 'user' : roleName === 'System' ? 'system' : 'assistant';
      const id = String(messages.length);
      messages.push({ id, role, content: '', timestamp: at, parentId: last?.id ?? null, ...(model ? { model } : {}) });
    } else if (last)
      last.content += `${tool ? `**${line.slice('## '.length)}**` : line.replace(HEADING_LIKE, (marks) => marks.slice(1))}\n`;
    else title ??= /^# (.+)$/.exec(line)?.[1]?.trim();
  }
  if (messages.length === 0)
    throw new RpcError(
      'INVALID_PARAMS',
      'No messages found in `content`. It must be an export in JSON Lines or Markdown (## You, ## Assistant).',
    );
  return { title, messages: messages.map((message) => ({ ...message, content: message.content.trim() })) };
}
