import { type ImportedChat, isFields, saidOf, stringsOf, textOf, timeOf, type TreeNode } from './imported-chat.ts';

/** A chat of Open WebUI's export: a tree of messages under `chat.history`, in older ones a list under `chat.messages`; null where it is none. */
export function fromOpenWebUi(value: unknown): ImportedChat | null {
  if (!isFields(value) || !isFields(value['chat'])) return null;
  const { chat, meta } = value;
  const history = isFields(chat['history']) ? chat['history'] : {};
  const listed: unknown[] = Array.isArray(chat['messages']) ? chat['messages'] : [];
  const tree = isFields(history['messages']) ? Object.entries(history['messages']) : undefined;
  if (!tree && !Array.isArray(chat['messages'])) return null;
  const begun = timeOf(value['created_at'] ?? chat['timestamp'], Date.now());
  const nodes =
    tree?.map(([id, node]): TreeNode => nodeOf(id, isFields(node) ? textOf(node['parentId']) || null : null, node, begun)) ??
    listed.map((node, at): TreeNode => nodeOf(String(at), at === 0 ? null : String(at - 1), node, begun));
  return {
    id: textOf(value['id']) || textOf(chat['id']),
    title: textOf(value['title']) || textOf(chat['title']),
    tags: stringsOf(isFields(meta) ? meta['tags'] : chat['tags']),
    pinned: value['pinned'] === true,
    archived: value['archived'] === true,
    messages: saidOf(nodes, textOf(history['currentId']) || (nodes.at(-1)?.id ?? null)),
  };
}

function nodeOf(id: string, parentId: string | null, node: unknown, begun: number): TreeNode {
  const { role, content, timestamp, model } = isFields(node) ? node : {};
  const text = textOf(content);
  const isSaid = (role === 'user' || role === 'assistant') && text.trim() !== '';
  if (!isSaid) return { id, parentId, message: null };
  const name = role === 'assistant' ? textOf(model) : '';
  return { id, parentId, message: { role, content: text, timestamp: timeOf(timestamp, begun), ...(name ? { model: name } : {}) } };
}
