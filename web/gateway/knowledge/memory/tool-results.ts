import { sha256 } from '#shared/sha256.ts';
import { toResultPath } from './layout.ts';
import { type MemoryMessage, getText } from './memory-message.ts';
import type { Workspace } from './workspace.ts';

/** Characters of the result that a stub keeps next to the file's name, if the setting leaves room. */
const STUB_CHARS = 500;
/**
 * Minimum age in milliseconds at which a file is written again. Rewriting restarts its retention period when its result is passed again.
 */
const FRESH_MS = 3_600_000;

/**
 * Stores each tool result of more than `maxLength` characters as a file and replaces it with a stub: the file's name and the beginning of
 * the text. The same result always maps to the same file, which is written before its stub is returned.
 */
export async function storeToolResults(
  messages: readonly MemoryMessage[],
  maxLength: number,
  workspace: Workspace,
  now: number,
): Promise<MemoryMessage[]> {
  const result: MemoryMessage[] = [];
  for (const message of messages) {
    const text = getText(message);
    if (message.role !== 'tool' || text.length <= maxLength || isStub(text)) {
      result.push(message);
      continue;
    }
    const path = toResultPath(toUuid(await sha256(text)));
    const file = await workspace.stat(path);
    if (!file || file.modifiedAt < now - FRESH_MS || (await workspace.read(path)) !== text) await workspace.write(path, text);
    const rest = typeof message.content === 'string' ? [] : message.content.filter(({ type }) => type !== 'text');
    const stub = createStub(text, path, maxLength);
    result.push({ ...message, content: rest.length === 0 ? stub : [{ type: 'text', text: stub }, ...rest] });
  }
  return result;
}

function createStub(text: string, path: string, maxLength: number): string {
  const excerpt = [...text.slice(0, Math.min(STUB_CHARS, maxLength / 2) + 1)].slice(0, -1).join('');
  return `${excerpt}\n[… The whole result has ${text.length} characters and lies in ${path}]`;
}

/** With a small `maxLength` a stub may be longer than the limit. */
const isStub = (text: string): boolean =>
  text.length < 2 * STUB_CHARS && /characters and lies in tool_result\/[0-9a-f-]{36}\.txt\]$/.test(text);

/** Builds a UUID of version 8 (RFC 9562, section 5.8) from a hash in hex. */
function toUuid(hash: string): string {
  const [, a = '', b = '', c = '', d = '', e = ''] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(hash) ?? [];
  return `${a}-${b}-8${c}-8${d}-${e}`;
}
