import {
  type ImportedChat,
  isFields,
  orderMessages,
  toChat,
  toFields,
  toList,
  toMessage,
  toPictureRef,
  toStrings,
  toText,
  toTime,
  type TreeNode,
} from '../imported-chat.ts';
import type { ChatFormat } from './chat-format.ts';

/** Open WebUI: a tree of messages under `chat.history`, in older exports a list under `chat.messages`. */
export const openWebUi: ChatFormat = {
  product: 'Open WebUI',
  fromValue: (value) => {
    const chat = toConversation(value);
    return chat && [chat];
  },
};

function toConversation(value: unknown): ImportedChat | null {
  if (!isFields(value) || !isFields(value['chat'])) return null;
  const { chat, meta } = value;
  const history = toFields(chat['history']);
  const tree = isFields(history['messages']) ? Object.entries(history['messages']) : undefined;
  if (!tree && !Array.isArray(chat['messages'])) return null;
  const start = toTime(value['created_at'] ?? chat['timestamp'], Date.now());
  const nodes =
    tree?.map(([id, node]): TreeNode => toNode(id, isFields(node) ? toText(node['parentId']) || null : null, node, start)) ??
    toList(chat['messages']).map((node, at): TreeNode => toNode(String(at), at === 0 ? null : String(at - 1), node, start));
  return toChat({
    id: toText(value['id']) || toText(chat['id']),
    title: toText(value['title']) || toText(chat['title']),
    tags: toStrings(isFields(meta) ? meta['tags'] : chat['tags']),
    pinned: value['pinned'] === true,
    archived: value['archived'] === true,
    messages: orderMessages(nodes, toText(history['currentId']) || (nodes.at(-1)?.id ?? null)),
  });
}

function toNode(id: string, parentId: string | null, node: unknown, start: number): TreeNode {
  const { role, content, timestamp, model, files } = toFields(node);
  if (role !== 'user' && role !== 'assistant') return { id, parentId, message: null };
  const name = role === 'assistant' ? toText(model) : '';
  // Newer versions keep pictures as files of the server, which the export does not have.
  const pictures = toList(files).flatMap((file) => (isFields(file) && file['type'] === 'image' ? [toPictureRef(toText(file['url']))] : []));
  const message = toMessage({
    role,
    text: toText(content),
    pictures,
    timestamp: toTime(timestamp, start),
    ...(name ? { model: name } : {}),
  });
  return { id, parentId, message };
}
