import {
  type ImportedChat,
  isFields,
  joinParagraphs,
  orderMessages,
  toChat,
  toFields,
  toList,
  toMessage,
  toText,
  toTime,
  type TreeNode,
} from '../imported-chat.ts';
import type { ChatFormat } from './chat-format.ts';

/** Parent id of a first message. */
const NO_PARENT = '00000000-0000-4000-8000-000000000000';

/** Claude: `conversations.json` of its data export. */
export const claude: ChatFormat = {
  product: 'Claude',
  fromValue: (value) => (isFields(value) && Array.isArray(value['chat_messages']) ? [toConversation(value)] : null),
};

function toConversation(value: Readonly<Record<string, unknown>>): ImportedChat {
  const start = toTime(value['created_at'], Date.now());
  const model = toText(value['model']);
  const leftOut: string[] = [];
  let before: string | null = null;
  const nodes = toList(value['chat_messages']).map((message, at): TreeNode => {
    const fields = toFields(message);
    const id = toText(fields['uuid']) || String(at);
    const namedParent = toText(fields['parent_message_uuid']);
    // Older exports are lists without parents.
    const parentId = namedParent === NO_PARENT ? null : namedParent || before;
    before = id;
    return { id, parentId, message: readMessage(fields, { start, model, leftOut }) };
  });
  return toChat({
    id: toText(value['uuid']),
    title: toText(value['name']),
    pinned: value['is_starred'] === true,
    messages: orderMessages(nodes, toText(value['current_leaf_message_uuid']) || before),
    leftOut,
  });
}

function readMessage(
  { sender, text, content, created_at: createdAt, attachments, files }: Readonly<Record<string, unknown>>,
  { start, model, leftOut }: { start: number; model: string; leftOut: string[] },
): TreeNode['message'] {
  if (sender !== 'human' && sender !== 'assistant') return null;
  const parts = toList(content).flatMap((part) => (isFields(part) && part['type'] === 'text' ? toText(part['text']) : []));
  const documents = toList(attachments).map((attachment) => {
    const { file_name: name, extracted_content: extracted } = toFields(attachment);
    if (toText(extracted).trim() === '') {
      if (toText(name) !== '') leftOut.push(toText(name));
      return '';
    }
    return `**${toText(name) || 'Document'}**\n\n${fence(toText(extracted))}`;
  });
  // The export has the names of files, not their contents.
  for (const file of toList(files)) {
    const name = toText(toFields(file)['file_name']);
    if (name !== '') leftOut.push(name);
  }
  const role = sender === 'human' ? 'user' : 'assistant';
  return toMessage({
    role,
    text: joinParagraphs([joinParagraphs(parts) || toText(text), ...documents]),
    timestamp: toTime(createdAt, start),
    ...(role === 'assistant' && model ? { model } : {}),
  });
}

/** Text in a code fence that is longer than any within it. */
function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  return `${'`'.repeat(longest + 1)}\n${text}\n${'`'.repeat(longest + 1)}`;
}
