import {
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

type Fields = Readonly<Record<string, unknown>>;

/** LM Studio: `<time>.conversation.json`. Each message has versions, of which one is selected. */
export const lmStudio: ChatFormat = {
  product: 'LM Studio',
  fromValue: (value, path) => {
    if (!isFields(value) || !Array.isArray(value['messages'])) return null;
    const messages = value['messages'].map(toFields);
    if (!messages.every(({ versions }) => Array.isArray(versions)) || !('name' in value || path.endsWith('.conversation.json')))
      return null;
    const start = toTime(value['createdAt'], Date.now());
    const leftOut: string[] = [];
    const nodes: TreeNode[] = [];
    let head: string | null = null;
    for (const [at, message] of messages.entries()) {
      const selected = typeof message['currentlySelected'] === 'number' ? message['currentlySelected'] : 0;
      const parentId: string | null = head;
      for (const [version, content] of toList(message['versions']).entries()) {
        const id = `${at}.${version}`;
        // Messages have no times: their order is kept.
        nodes.push({ id, parentId, message: readVersion(toFields(content), start + at, leftOut) });
        if (version === selected || head === parentId) head = id;
      }
    }
    const id = /([^/]+)\.conversation\.json$/.exec(path)?.[1] ?? (typeof value['createdAt'] === 'number' ? String(value['createdAt']) : '');
    return [
      toChat({
        id: id && `lm-studio-${id.replaceAll(/[^\w-]/g, '-')}`,
        title: toText(value['name']),
        pinned: value['pinned'] === true,
        messages: orderMessages(nodes, head),
        leftOut,
      }),
    ];
  },
};

function readVersion(version: Fields, timestamp: number, leftOut: string[]): TreeNode['message'] {
  const { role } = version;
  if (role !== 'user' && role !== 'assistant') return null;
  const steps = version['type'] === 'multiStep' ? toList(version['steps']).map(toFields) : [version];
  // Reasoning and the status of tools are blocks of their own.
  const textSteps = steps.filter((step) => step['type'] !== 'debugInfoBlock' && toFields(step['style'])['type'] !== 'thinking');
  const parts = textSteps.flatMap(({ content }) => toList(content).map(toFields));
  const pictures = parts.flatMap((part): PictureRef[] => {
    if (part['type'] !== 'file') return [];
    const file = toText(part['fileIdentifier']);
    if (part['fileType'] === 'image') return [{ file }];
    if (file !== '') leftOut.push(file);
    return [];
  });
  const model =
    toText(toFields(version['senderInfo'])['senderName']) ||
    steps.map(({ genInfo }) => toText(toFields(genInfo)['identifier'])).find((name) => name !== '');
  return toMessage({
    role,
    text: joinParagraphs(parts.map((part) => (part['type'] === 'text' ? toText(part['text']) : ''))),
    pictures,
    timestamp,
    ...(role === 'assistant' && model ? { model } : {}),
  });
}
