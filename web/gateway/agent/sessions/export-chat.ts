import { readModelParameters } from '#shared/rpc/model-parameters.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { MessageRecord, SessionRecord } from '../../storage/chat-records.ts';
import { toExportLine } from '../../storage/session-views.ts';
import { getActiveBranch, sortForExport, toMarkdown } from './session-transfer.ts';

/** Maximum characters per part of an export; a longer message is a part by itself. */
export const MAX_EXPORT_CHARS = 4 * 1024 * 1024;

interface ExportOptions {
  /** Id of the message at which this part starts. */
  cursor?: string | undefined;
  /** Chats of its sub-agents, which follow it in Markdown. */
  subAgents?: readonly { title: string; messages: readonly MessageRecord[] }[];
}

/** A part of a session as JSON Lines with every branch, or as Markdown. Throws `NOT_FOUND` if the message `cursor` is gone. */
export function exportChat(
  session: SessionRecord,
  messages: readonly MessageRecord[],
  format: 'jsonl' | 'markdown',
  { cursor, subAgents = [] }: ExportOptions = {},
): { content: string; cursor: string | null } {
  /** Headings by the ids of the messages that follow them. */
  const headings = new Map(subAgents.map(({ title, messages: [start] }) => [start?.id, `# ${title}\n\n`]));
  const ordered =
    format === 'jsonl'
      ? sortForExport(messages, session.headId)
      : [...getActiveBranch(messages, session.headId), ...subAgents.flatMap((each) => each.messages)];
  const first = cursor === undefined ? 0 : ordered.findIndex(({ id }) => id === cursor);
  if (first < 0) throw new RpcError('NOT_FOUND', 'The session has changed since this `cursor`. Start the export again.');
  let content = format === 'markdown' && first === 0 ? `# ${session.title}\n\n` : '';
  let index = first;
  for (; index < ordered.length && (index === first || content.length < MAX_EXPORT_CHARS); index++) {
    const message = ordered[index];
    const parameters = index === 0 ? readModelParameters(session.parameters) : undefined;
    if (message)
      content += format === 'jsonl' ? toExportLine(message, parameters) : `${headings.get(message.id) ?? ''}${toMarkdown(message)}`;
  }
  return { content, cursor: ordered[index]?.id ?? null };
}
