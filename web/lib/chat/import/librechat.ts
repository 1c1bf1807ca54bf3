import { type ImportedChat, isFields, saidOf, stringsOf, textOf, timeOf, type TreeNode, withPictures } from './imported-chat.ts';

/** A conversation that LibreChat has exported as JSON, its messages in a list or as a tree of `children`; null where it is none. */
export function fromLibreChat(value: unknown): ImportedChat | null {
  if (!isFields(value) || typeof value['conversationId'] !== 'string' || !Array.isArray(value['messages'])) return null;
  const begun = timeOf(value['exportAt'], Date.now());
  const nodes: TreeNode[] = [];
  const waiting: unknown[] = [...value['messages']];
  // It grows while it is gone through.
  for (const node of waiting) {
    if (!isFields(node)) continue;
    const { messageId, parentMessageId, isCreatedByUser, createdAt, model, children } = node;
    if (Array.isArray(children)) for (const child of children as unknown[]) waiting.push(child);
    const said = withPictures(contentOf(node), picturesOf(node));
    const role = isCreatedByUser === true ? 'user' : 'assistant';
    const name = role === 'assistant' ? textOf(model) : '';
    nodes.push({
      id: textOf(messageId) || String(nodes.length),
      parentId: textOf(parentMessageId) || null,
      message: said.content.length === 0 ? null : { role, ...said, timestamp: timeOf(createdAt, begun), ...(name ? { model: name } : {}) },
    });
  }
  return {
    id: value['conversationId'],
    title: textOf(value['title']),
    tags: stringsOf(value['tags']),
    pinned: false,
    archived: false,
    messages: saidOf(nodes, nodes.at(-1)?.id ?? null),
  };
}

function contentOf({ text, content }: Readonly<Record<string, unknown>>): string {
  if (textOf(text).trim() !== '') return textOf(text);
  const parts: unknown[] = Array.isArray(content) ? content : [];
  return parts
    .flatMap((part) =>
      isFields(part) && part['type'] === 'text' ? textOf(isFields(part['text']) ? part['text']['value'] : part['text']) : [],
    )
    .filter((part) => part.trim() !== '')
    .join('\n\n');
}

/** The addresses of pictures that were given with a message, or made. */
const picturesOf = ({ files, attachments }: Readonly<Record<string, unknown>>): string[] =>
  [files, attachments]
    .flatMap((list): unknown[] => (Array.isArray(list) ? list : []))
    .flatMap((file) => (isFields(file) && textOf(file['type']).startsWith('image/') ? textOf(file['filepath']) : []));
