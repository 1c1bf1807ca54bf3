import type { HistoryMessage } from '#shared/rpc/records.ts';
import { canBeSeen } from '#shared/seen.ts';
import { TAG_CHARS } from '#lib/chat/labels.ts';

/** A message of another product's export, as `sessions.import` takes it. */
export interface ImportedMessage {
  id: string;
  parentId: string | null;
  role: 'user' | 'assistant';
  content: HistoryMessage['content'];
  attachments?: HistoryMessage['attachments'];
  /** Milliseconds since 1970. */
  timestamp: number;
  model?: string;
}

/** A chat of another product's export. */
export interface ImportedChat {
  /** Told by the export; the same chat is brought in once. */
  id: string;
  title: string;
  tags: string[];
  pinned: boolean;
  archived: boolean;
  messages: ImportedMessage[];
}

/** A message in a tree, or one that nobody is shown: what is below it goes to what is above it. */
export interface TreeNode {
  id: string;
  parentId: string | null;
  message: Omit<ImportedMessage, 'id' | 'parentId'> | null;
}

/** Stands for a picture that is not in the export. */
export const PICTURE = '[Picture]';
/** Tags that a chat may have (`sessions.tag`). */
const MOST_TAGS = 50;

type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const stringsOf = (value: unknown): string[] => (Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []);

/** A text with the pictures that were given with it, where their addresses have them; a word stands for each that lies beside the export. The content is empty without any. */
export function withPictures(text: string, addresses: readonly string[]): Pick<ImportedMessage, 'content' | 'attachments'> {
  const pictures = addresses.map((address) => /^data:(image\/(png|jpeg|gif|webp));base64,([\w+/]+=*)$/.exec(address));
  const words = [text, ...pictures.map((picture) => (picture ? '' : PICTURE))].filter((each) => each.trim() !== '').join('\n\n');
  const parts = pictures.flatMap((picture) => {
    const [, mimeType = '', kind = '', data = ''] = picture ?? [];
    return picture ? { type: 'image' as const, mimeType, data, filename: `picture.${kind}` } : [];
  });
  if (parts.length === 0) return { content: words };
  return {
    content: words === '' ? parts : [{ type: 'text', text: words }, ...parts],
    // A history that leaves out the bytes of large ones tells of them by this.
    attachments: parts.map(({ filename, mimeType, data }) => ({ filename, mimeType, size: Math.floor((data.length * 3) / 4) })),
  };
}

/** Seconds since 1970 (as Python writes them), milliseconds, or a date as text; `other` where it is none of these. */
export function timeOf(value: unknown, other: number): number {
  const time = typeof value === 'number' ? (value < 1e11 ? value * 1000 : value) : Date.parse(textOf(value));
  return Number.isFinite(time) && time > 0 ? Math.round(time) : other;
}

/** The messages of a tree that are said, those of the branch that ends in `headId` last. What goes round in a circle is cut off. */
export function saidOf(nodes: readonly TreeNode[], headId: string | null): ImportedMessage[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const found = new Map<string, string | null>();
  /** The nearest that is said, from a message upwards; what was passed on the way is not gone through again. */
  const above = (id: string | null): string | null => {
    const passed = new Set<string>();
    let at = id;
    while (at !== null && !passed.has(at) && !found.has(at) && !byId.get(at)?.message) {
      passed.add(at);
      at = byId.get(at)?.parentId ?? null;
    }
    const said = at === null || passed.has(at) ? null : (found.get(at) ?? (byId.get(at)?.message ? at : null));
    for (const each of passed) found.set(each, said);
    return said;
  };
  const parents = new Map(
    nodes.map(({ id, parentId }) => {
      const parent = above(parentId);
      return [id, parent === id ? null : parent];
    }),
  );
  const branch = new Set<string>();
  for (let at = above(headId); at !== null && !branch.has(at); at = parents.get(at) ?? null) branch.add(at);
  const message = ({ id, message }: TreeNode): ImportedMessage[] =>
    message ? [{ id, parentId: parents.get(id) ?? null, ...message }] : [];
  const others = nodes.filter(({ id }) => !branch.has(id));
  const active = [...branch].reverse().flatMap((id) => byId.get(id) ?? []);
  return [...others, ...active].flatMap(message);
}

/** The beginning of a text, without half a character at its end. */
export const cut = (text: string, chars: number): string =>
  text
    .trim()
    .slice(0, chars)
    .replace(/[\ud800-\udbff]$/, '')
    .trimEnd();

/** As `sessions.tag` takes them: none that is empty, none too long, not too many. */
export const tagsOf = ({ tags }: ImportedChat): string[] =>
  [...new Set(tags.map((tag) => cut(tag, TAG_CHARS)))].filter(canBeSeen).slice(0, MOST_TAGS);

/** As `sessions.import` reads it. */
export const jsonLines = ({ messages }: ImportedChat): string => messages.map((message) => `${JSON.stringify(message)}\n`).join('');
