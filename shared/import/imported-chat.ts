/** A picture of an export: its bytes in base64, or the name by which the export refers to a file. */
export type PictureRef = { mimeType: string; data: string } | { file: string };

/** A message of another product's export. */
export interface ImportedMessage {
  id: string;
  parentId: string | null;
  role: 'user' | 'assistant';
  /** Markdown; empty if there are only pictures. */
  text: string;
  pictures: PictureRef[];
  /** Milliseconds since the Unix epoch. */
  timestamp: number;
  model?: string;
}

/** A chat of another product's export. */
export interface ImportedChat {
  /** Identifies the chat in its product, so that it is imported once; empty if the export has no ID. */
  id: string;
  title: string;
  tags: string[];
  pinned: boolean;
  archived: boolean;
  messages: ImportedMessage[];
  /** Attached files and other parts that were not imported, by name. */
  leftOut: string[];
}

/** A message in a tree. `message` is null if it is not shown: its children then belong to its nearest shown ancestor. */
export interface TreeNode {
  id: string;
  parentId: string | null;
  message: Omit<ImportedMessage, 'id' | 'parentId'> | null;
}

type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
export const toFields = (value: unknown): Fields => (isFields(value) ? value : {});
export const toText = (value: unknown): string => (typeof value === 'string' ? value : '');
export const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const toStrings = (value: unknown): string[] => toList(value).filter((each) => typeof each === 'string');
/** Non-empty parts as paragraphs. */
export const joinParagraphs = (parts: readonly string[]): string => parts.filter((part) => part.trim() !== '').join('\n\n');

/** The picture of a data URL or base64 text, or a reference to a file of the export. */
export function toPictureRef(address: string): PictureRef {
  const [, mimeType, data] = /^data:(image\/(?:png|jpeg|gif|webp));base64,([\w+/]+=*)$/.exec(address) ?? [];
  return mimeType !== undefined && data !== undefined ? { mimeType, data } : { file: address };
}

/** Milliseconds from seconds (as Python writes them), milliseconds, or a date as text; `fallback` if it is none of these. */
export function toTime(value: unknown, fallback: number): number {
  const time = typeof value === 'number' ? (value < 1e11 ? value * 1000 : value) : Date.parse(toText(value));
  return Number.isFinite(time) && time > 0 ? Math.round(time) : fallback;
}

/** A chat with defaults for fields that an export lacks. */
export const toChat = (chat: Partial<ImportedChat> & Pick<ImportedChat, 'id' | 'messages'>): ImportedChat => ({
  title: '',
  tags: [],
  pinned: false,
  archived: false,
  leftOut: [],
  ...chat,
});

/** A message of a tree; null if it would have no text and no picture. */
export const toMessage = (
  message: Omit<ImportedMessage, 'id' | 'parentId' | 'pictures'> & { pictures?: PictureRef[] },
): TreeNode['message'] => (message.text.trim() === '' && !message.pictures?.length ? null : { pictures: [], ...message });

/** A list of messages without parents, as a tree. */
export const toMessageChain = (messages: readonly TreeNode['message'][]): TreeNode[] =>
  messages.map((message, at) => ({ id: String(at), parentId: at === 0 ? null : String(at - 1), message }));

/** The shown messages of a tree; those of the branch that ends in `headId` last. Cycles are cut. */
export function orderMessages(nodes: readonly TreeNode[], headId: string | null): ImportedMessage[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const nearestShown = new Map<string, string | null>();
  /** The nearest shown message from `id` upwards. Visited nodes are remembered, so that no path is walked twice. */
  const findShownAncestor = (id: string | null): string | null => {
    const visited = new Set<string>();
    let at = id;
    while (at !== null && !visited.has(at) && !nearestShown.has(at) && !byId.get(at)?.message) {
      visited.add(at);
      at = byId.get(at)?.parentId ?? null;
    }
    const ancestor = at === null || visited.has(at) ? null : (nearestShown.get(at) ?? (byId.get(at)?.message ? at : null));
    for (const each of visited) nearestShown.set(each, ancestor);
    return ancestor;
  };
  const parents = new Map(
    nodes.map(({ id, parentId }) => {
      const parent = findShownAncestor(parentId);
      return [id, parent === id ? null : parent];
    }),
  );
  const branch = new Set<string>();
  for (let at = findShownAncestor(headId); at !== null && !branch.has(at); at = parents.get(at) ?? null) branch.add(at);
  const toShown = ({ id, message }: TreeNode): ImportedMessage[] =>
    message ? [{ id, parentId: parents.get(id) ?? null, ...message }] : [];
  const inactive = nodes.filter(({ id }) => !branch.has(id));
  const active = [...branch].reverse().flatMap((id) => byId.get(id) ?? []);
  return [...inactive, ...active].flatMap(toShown);
}
