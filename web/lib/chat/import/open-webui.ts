import { type ImportedChat, isFields, saidOf, stringsOf, textOf, timeOf, type TreeNode, withPictures } from './imported-chat.ts';

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
  const { role, content: text, timestamp, model, files } = isFields(node) ? node : {};
  const said = withPictures(textOf(text), picturesOf(files));
  const isSaid = (role === 'user' || role === 'assistant') && said.content.length > 0;
  if (!isSaid) return { id, parentId, message: null };
  const name = role === 'assistant' ? textOf(model) : '';
  return { id, parentId, message: { role, ...said, timestamp: timeOf(timestamp, begun), ...(name ? { model: name } : {}) } };
}

/** The addresses of pictures among the files of a message: newer versions keep the picture itself elsewhere. */
const picturesOf = (files: unknown): string[] =>
  Array.isArray(files) ? files.flatMap((file) => (isFields(file) && file['type'] === 'image' ? textOf(file['url']) : [])) : [];
