import {
  type ImportedChat,
  isFields,
  joinParagraphs,
  orderMessages,
  type PictureRef,
  toChat,
  toList,
  toMessage,
  toPictureRef,
  toStrings,
  toText,
  toTime,
  type TreeNode,
} from '../imported-chat.ts';
import type { ChatFormat } from './chat-format.ts';

/** LibreChat: the messages of a conversation in a list, or as a tree of `children`. */
export const libreChat: ChatFormat = {
  product: 'LibreChat',
  fromValue: (value) => {
    const chat = toConversation(value);
    return chat && [chat];
  },
};

function toConversation(value: unknown): ImportedChat | null {
  if (!isFields(value) || typeof value['conversationId'] !== 'string' || !Array.isArray(value['messages'])) return null;
  const start = toTime(value['exportAt'], Date.now());
  const nodes: TreeNode[] = [];
  const waiting: unknown[] = [...value['messages']];
  // The list grows during the loop.
  for (const node of waiting) {
    if (!isFields(node)) continue;
    const { messageId, parentMessageId, isCreatedByUser, createdAt, model, children } = node;
    for (const child of toList(children)) waiting.push(child);
    const role = isCreatedByUser === true ? 'user' : 'assistant';
    const name = role === 'assistant' ? toText(model) : '';
    nodes.push({
      id: toText(messageId) || String(nodes.length),
      parentId: toText(parentMessageId) || null,
      message: toMessage({
        role,
        text: readContent(node),
        pictures: readPictures(node),
        timestamp: toTime(createdAt, start),
        ...(name ? { model: name } : {}),
      }),
    });
  }
  return toChat({
    id: value['conversationId'],
    title: toText(value['title']),
    tags: toStrings(value['tags']),
    messages: orderMessages(nodes, nodes.at(-1)?.id ?? null),
  });
}

function readContent({ text, content }: Readonly<Record<string, unknown>>): string {
  if (toText(text).trim() !== '') return toText(text);
  return joinParagraphs(
    toList(content).map((part) => {
      if (!isFields(part) || part['type'] !== 'text') return '';
      return toText(isFields(part['text']) ? part['text']['value'] : part['text']);
    }),
  );
}

/** Pictures that were sent with a message, or generated. */
const readPictures = ({ files, attachments }: Readonly<Record<string, unknown>>): PictureRef[] =>
  [...toList(files), ...toList(attachments)].flatMap((file) =>
    isFields(file) && toText(file['type']).startsWith('image/') ? [toPictureRef(toText(file['filepath']))] : [],
  );
