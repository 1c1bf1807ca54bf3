import type { SessionEntry } from '#shared/rpc/record-schemas.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { toFileName } from '../files/save-file.ts';

export type ChatFormat = 'markdown' | 'jsonl';

/**
 * Exports a chat as a file: Markdown to read, JSON Lines with every branch to import. Rejects if the gateway refuses, or the chat changes
 * during the export.
 */
export async function exportChat({ path, title }: SessionEntry, format: ChatFormat): Promise<File> {
  const parts: string[] = [];
  let type = '';
  for (let cursor: string | null | undefined; cursor !== null;) {
    const part: { content: string; mimeType: string; cursor: string | null } = await gateway.call('sessions.export', {
      path,
      format,
      ...(cursor === undefined ? {} : { cursor }),
    });
    parts.push(part.content);
    type = part.mimeType;
    cursor = part.cursor;
  }
  return new File(parts, `${toFileName(title, 'chat')}.${format === 'markdown' ? 'md' : 'jsonl'}`, { type });
}
