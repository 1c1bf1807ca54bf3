import {
  type ImportedChat,
  isFields,
  orderMessages,
  type PictureRef,
  toChat,
  toFields,
  toList,
  toMessage,
  toPictureRef,
  toText,
  toTime,
  type TreeNode,
} from '../imported-chat.ts';
import type { ChatFormat } from './chat-format.ts';

type Fields = Readonly<Record<string, unknown>>;

/** LobeHub (LobeChat): tables of messages, topics and sessions, under `state` in older exports and under `data` in those of its database. */
export const lobeHub: ChatFormat = {
  product: 'LobeHub',
  fromValue: (value) => {
    if (!isFields(value)) return null;
    const tables =
      isFields(value['data']) && 'schemaHash' in value ? value['data'] : 'exportType' in value ? toFields(value['state']) : null;
    return tables && toConversations(tables);
  },
};

/** A topic is a chat; so are the messages of a session that are in no topic. */
function toConversations(tables: Fields): ImportedChat[] {
  const sessions = indexById(tables['sessions']);
  const topics = indexById(tables['topics']);
  const messages = toList(tables['messages']).filter(isFields);
  const files = indexById(tables['files']);
  const attached = Map.groupBy(toList(tables['messagesFiles']).filter(isFields), (link) => toText(link['messageId']));
  const chats = Map.groupBy(messages, (message) => toText(message['topicId']) || `inbox-${toText(message['sessionId']) || 'default'}`);
  return [...chats].map(([id, list]) => {
    const topic = toFields(topics.get(id));
    const session = toFields(sessions.get(toText(list[0]?.['sessionId'])));
    const title = toText(topic['title']) || toText(session['title']) || toText(toFields(session['meta'])['title']);
    const leftOut: string[] = [];
    const findPictures = (message: Fields): PictureRef[] =>
      [...toList(message['files']), ...(attached.get(toText(message['id'])) ?? []).map((link) => link['fileId'])].flatMap((fileId) => {
        const file = toFields(files.get(toText(fileId)));
        if (toText(file['fileType']).startsWith('image/')) return [toPictureRef(toText(file['url']) || toText(file['name']))];
        if (toText(file['name']) !== '') leftOut.push(toText(file['name']));
        return [];
      });
    const nodes = toNodes(list, findPictures);
    const isPinned = topic['favorite'] === true || topic['favorite'] === 1;
    return toChat({ id, title, pinned: isPinned, messages: orderMessages(nodes, nodes.at(-1)?.id ?? null), leftOut });
  });
}

function toNodes(messages: readonly Fields[], findPictures: (message: Fields) => PictureRef[]): TreeNode[] {
  const sorted = messages.toSorted((a, b) => toTime(a['createdAt'], 0) - toTime(b['createdAt'], 0));
  const ids = new Set(sorted.map((message) => toText(message['id'])));
  let previousId: string | null = null;
  return sorted.map((message, at): TreeNode => {
    const id = toText(message['id']) || String(at);
    const namedParent = toText(message['parentId']);
    // A question has no parent in older versions: it follows the message before it.
    const parentId = ids.has(namedParent) && namedParent !== id ? namedParent : previousId;
    previousId = id;
    const { role } = message;
    if (role !== 'user' && role !== 'assistant') return { id, parentId, message: null };
    const model = toText(message['model']) || toText(message['fromModel']);
    return {
      id,
      parentId,
      message: toMessage({
        role,
        text: toText(message['content']),
        pictures: findPictures(message),
        timestamp: toTime(message['createdAt'], Date.now()),
        ...(role === 'assistant' && model ? { model } : {}),
      }),
    };
  });
}

const indexById = (table: unknown): Map<string, Fields> =>
  new Map(
    toList(table)
      .filter(isFields)
      .map((row) => [toText(row['id']), row]),
  );
