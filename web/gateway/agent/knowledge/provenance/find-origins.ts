import { parseDialog } from '../../../knowledge/memory/dialog/dialog-lines.ts';
import { parseDialogDate } from '../../../knowledge/memory/layout.ts';
import { getText } from '../../../knowledge/memory/memory-message.ts';
import type { Workspace } from '../../../knowledge/memory/workspace.ts';
import { extractTerms } from '../../../knowledge/search/text/extract-terms.ts';
import { toPlainText } from '../../../storage/session-views.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import type { FileExcerpt, NewVersion, OriginMessage } from './provenance.ts';

/** Number of newest messages of a chat in which a text's origin is looked for. */
const MAX_EXAMINED = 40;
/** Maximum number of messages recorded besides the one that was answered. */
const MAX_SUPPORTING = 4;
/** Minimum share of a text's words that a message contains to count as its origin. */
const MIN_SHARE = 0.5;

/** Messages that a text was made from: the person's last one, and those that contain most of its words. Oldest first. */
export function selectOrigins<M extends OriginMessage>(text: string, messages: readonly M[]): M[] {
  const spoken = messages.filter(({ role }) => role === 'user' || role === 'assistant');
  const terms = new Set(extractTerms(text));
  const shares = new Map(
    spoken.map((message) => {
      const own = new Set(extractTerms(toPlainText(message.content)));
      return [message, terms.size === 0 ? 0 : [...terms].filter((term) => own.has(term)).length / terms.size];
    }),
  );
  const asked = spoken.findLast(({ role }) => role === 'user');
  const supporting = spoken
    .filter((message) => message !== asked && (shares.get(message) ?? 0) >= MIN_SHARE)
    .sort((a, b) => (shares.get(b) ?? 0) - (shares.get(a) ?? 0))
    .slice(0, MAX_SUPPORTING);
  return spoken.filter((message) => message === asked || supporting.includes(message));
}

/** Messages of a chat that a text of its current reply was made from. */
export async function findChatOrigins(
  messages: Pick<Vault['messages'], 'branch'>,
  sessionKey: string | null,
  text: string,
): Promise<OriginMessage[]> {
  if (sessionKey === null) return [];
  const branch = await messages.branch(sessionKey, { limit: MAX_EXAMINED, most: 0 });
  return selectOrigins(text, branch.messages);
}

/** Origins named by a reference such as `dialog/2026-11-20.jsonl#L3` or `memory/2026-11-20.md#L3-L5`; empty if it names no file. */
export async function findReferencedOrigins(
  workspace: Pick<Workspace, 'read'>,
  sourceRef: string,
): Promise<Required<Pick<NewVersion, 'messages' | 'files'>>> {
  const [, path = '', from, to = from] = /^([^#:\s\\]+\.[a-z]+)(?:[#:]L?(\d+)(?:-L?(\d+))?)?/i.exec(sourceRef.trim()) ?? [];
  const none = { messages: [], files: [] };
  if (path === '' || path.split('/').some((name) => name === '' || name === '..' || name === '.')) return none;
  const text = await workspace.read(path);
  if (text === undefined) return none;
  const [first, last] = from === undefined ? [1, Infinity] : [Number(from), Number(to)];
  if (parseDialogDate(path) === undefined) return { messages: [], files: [toExcerpt(path, text, first, last)] };
  const lines = parseDialog(text).lines.filter(({ line }) => line >= first && line <= last);
  return { messages: toOriginMessages(lines), files: [] };
}

/** Stored messages of dialog lines. */
export const toOriginMessages = (lines: ReturnType<typeof parseDialog>['lines']): OriginMessage[] =>
  lines.flatMap(({ sessionKey, message }) =>
    message.id === undefined
      ? []
      : [{ id: message.id, sessionKey, role: message.role, content: getText(message), timestamp: message.timestamp ?? 0 }],
  );

function toExcerpt(path: string, text: string, first: number, last: number): FileExcerpt {
  if (last === Infinity) return { path, text };
  return { path, lines: first === last ? String(first) : `${first}-${last}`, text: getLines(text, first, last) };
}

/** Lines of a text, counted from 1. */
export const getLines = (text: string, first: number, last: number): string =>
  text
    .split(/\r?\n/)
    .slice(first - 1, last)
    .join('\n');
