import {
  isFields,
  joinParagraphs,
  orderMessages,
  type PictureRef,
  toMessageChain,
  toChat,
  toFields,
  toList,
  toMessage,
  toPictureRef,
  toText,
  toTime,
} from '../imported-chat.ts';
import { type ChatFormat, joinById } from './chat-format.ts';

/** Jan: a folder for each thread with `thread.json` and `messages.jsonl`. */
export const jan: ChatFormat = {
  product: 'Jan',
  fromValue: (value, path) => {
    if (!isFields(value) || typeof value['id'] !== 'string') return null;
    if (value['object'] !== 'thread' && !/(^|\/)thread\.json$/.test(path)) return null;
    const pinned = value['isFavorite'] === true || toFields(value['metadata'])['is_favorite'] === true;
    return [toChat({ id: value['id'], title: toText(value['title']), pinned, messages: [] })];
  },
  fromLines: (values) => {
    const [first] = values;
    if (!isFields(first) || first['object'] !== 'thread.message') return null;
    const messages = values
      .filter(isFields)
      .map((message, at) => ({ message, at: toTime(message['created_at'], at) }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ message }) => readMessage(message));
    const chain = toMessageChain(messages);
    return [toChat({ id: toText(first['thread_id']), messages: orderMessages(chain, String(chain.length - 1)) })];
  },
  join: joinById,
};

function readMessage({ role, content, created_at: createdAt, metadata }: Readonly<Record<string, unknown>>) {
  if (role !== 'user' && role !== 'assistant') return null;
  const parts = toList(content).map(toFields);
  const pictures = parts.flatMap((part): PictureRef[] => {
    const url = toText(toFields(part['image_url'])['url']);
    return url === '' ? [] : [toPictureRef(url)];
  });
  const { model } = toFields(metadata);
  const name = toText(isFields(model) ? model['id'] : model);
  return toMessage({
    role,
    text: joinParagraphs(parts.map(({ text }) => toText(isFields(text) ? text['value'] : text))),
    pictures,
    timestamp: toTime(createdAt, Date.now()),
    ...(role === 'assistant' && name ? { model: name } : {}),
  });
}
