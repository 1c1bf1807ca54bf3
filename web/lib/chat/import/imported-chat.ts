/** A message of another product's export, as `sessions.import` takes it. */
export interface ImportedMessage {
  id: string;
  parentId: string | null;
  role: 'user' | 'assistant';
  content: string;
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

type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const stringsOf = (value: unknown): string[] => (Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []);

/** Seconds since 1970 (as Python writes them), milliseconds, or a date as text; `other` where it is none of these. */
export function timeOf(value: unknown, other: number): number {
  const time = typeof value === 'number' ? (value < 1e11 ? value * 1000 : value) : Date.parse(textOf(value));
  return Number.isFinite(time) && time > 0 ? Math.round(time) : other;
}

/** The messages of a tree that are said, those of the branch that ends in `headId` last. What goes round in a circle is cut off. */
export function saidOf(nodes: readonly TreeNode[], headId: string | null): ImportedMessage[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const above = (id: string | null): string | null => {
    const passed = new Set<string>();
    for (let at = id; at !== null && !passed.has(at); at = byId.get(at)?.parentId ?? null) {
      if (byId.get(at)?.message) return at;
      passed.add(at);
    }
    return null;
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

/** As `sessions.import` reads it. */
export const jsonLines = ({ messages }: ImportedChat): string => messages.map((message) => `${JSON.stringify(message)}\n`).join('');
