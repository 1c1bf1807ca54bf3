import {
  type ImportedChat,
  isFields,
  joinParagraphs,
  orderMessages,
  type PictureRef,
  toChat,
  toFields,
  toList,
  toMessage,
  toText,
  toTime,
  type TreeNode,
} from '../imported-chat.ts';
import type { ChatFormat } from './chat-format.ts';

/** ChatGPT: `conversations.json`, since 2026 split into `conversations-000.json` and so on. */
export const chatGpt: ChatFormat = {
  product: 'ChatGPT',
  fromValue: (value) => {
    const chat = toConversation(value);
    return chat && [chat];
  },
};

/** A conversation: a tree of messages under `mapping`. */
function toConversation(value: unknown): ImportedChat | null {
  if (!isFields(value) || !isFields(value['mapping'])) return null;
  const start = toTime(value['create_time'], Date.now());
  const defaultModel = toText(value['default_model_slug']);
  const leftOut: string[] = [];
  const nodes = Object.entries(value['mapping']).map(([id, node]): TreeNode => {
    const { message, parent } = toFields(node);
    return { id, parentId: typeof parent === 'string' ? parent : null, message: readMessage(message, { start, defaultModel, leftOut }) };
  });
  return toChat({
    id: toText(value['conversation_id']) || toText(value['id']),
    title: toText(value['title']),
    pinned: value['is_starred'] === true,
    archived: value['is_archived'] === true,
    messages: orderMessages(nodes, toText(value['current_node']) || (nodes.at(-1)?.id ?? null)),
    leftOut,
  });
}

interface Conversation {
  start: number;
  defaultModel: string;
  leftOut: string[];
}

function readMessage(value: unknown, { start, defaultModel, leftOut }: Conversation): TreeNode['message'] {
  if (!isFields(value) || !isFields(value['author']) || !isFields(value['content'])) return null;
  const { role } = value['author'];
  const metadata = toFields(value['metadata']);
  const pictures = readPictures(value['content']);
  // Pictures that the model made come as the result of a tool.
  const isPicture = role === 'tool' && pictures.length > 0;
  if ((role !== 'user' && role !== 'assistant' && !isPicture) || metadata['is_visually_hidden_from_conversation'] === true) return null;
  const isReply = role !== 'user';
  const text = isPicture ? '' : readContent(value['content']);
  const model = isReply ? toText(metadata['model_slug']) || defaultModel : '';
  for (const attachment of toList(metadata['attachments'])) {
    const { name, mime_type: mimeType } = toFields(attachment);
    if (!toText(mimeType).startsWith('image/') && toText(name) !== '') leftOut.push(toText(name));
  }
  return toMessage({
    role: isReply ? 'assistant' : 'user',
    text,
    pictures,
    timestamp: toTime(value['create_time'], start),
    ...(model ? { model } : {}),
  });
}

/** Marks in the text that ChatGPT shows as a link to a source, a card or a name: a kind and its arguments. */
const MARKS = / ?\ue200([^\ue200\ue201]*)\ue201/g;

/** Keeps the text of names and links; other marks have no text. */
const replaceMarks = (text: string): string =>
  text.replaceAll(MARKS, (mark, inner: string) => {
    const [kind, argument = ''] = inner.split('\ue202');
    const words = kind === 'entity' ? /^\["[^"]*","([^"]+)"/.exec(argument)?.[1] : kind === 'url' ? argument : undefined;
    return words === undefined ? '' : `${mark.startsWith(' ') ? ' ' : ''}${words}`;
  });

/** Text, code and transcripts of speech. */
function readContent({ content_type: type, parts, text, language }: Readonly<Record<string, unknown>>): string {
  if (type === 'code') {
    const code = toText(text);
    return code.trim() === '' ? '' : `\`\`\`\`${/^\w+$/.test(toText(language)) ? toText(language) : ''}\n${code}\n\`\`\`\``;
  }
  if (type !== 'text' && type !== 'multimodal_text') return '';
  return joinParagraphs(
    toList(parts).map((part) => {
      if (typeof part === 'string') return replaceMarks(part);
      return isFields(part) && part['content_type'] === 'audio_transcription' ? toText(part['text']) : '';
    }),
  );
}

/** The pictures of a message by the name of their file: `file-service://file-x` and `sediment://file_x` are in the zip as `file-x-….png`. */
const readPictures = ({ parts }: Readonly<Record<string, unknown>>): PictureRef[] =>
  toList(parts).flatMap((part) =>
    isFields(part) && part['content_type'] === 'image_asset_pointer'
      ? [{ file: toText(part['asset_pointer']).replace(/^[\w-]+:\/\//, '') }]
      : [],
  );
