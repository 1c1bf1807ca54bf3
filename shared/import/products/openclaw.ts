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
import { type ChatFormat, joinById } from './chat-format.ts';

/** OpenClaw: `sessions/sessions.json` with titles, and a tree of messages in `sessions/<id>.jsonl`. */
export const openClaw: ChatFormat = {
  product: 'OpenClaw',
  fromValue: (value, path) => {
    if (!isFields(value) || !/(^|\/)sessions\.json$/.test(path)) return null;
    const entries = Object.values(value).filter(isFields);
    if (entries.length === 0 || !entries.every(({ sessionId }) => typeof sessionId === 'string')) return null;
    return entries.map((entry) => toChat({ id: toId(toText(entry['sessionId'])), title: readTitle(entry), messages: [] }));
  },
  fromLines: (values, path) => {
    const [header] = values;
    if (!isFields(header) || header['type'] !== 'session') return null;
    const id = toText(header['id']) || (/([^/]+)\.jsonl$/.exec(path)?.[1] ?? '');
    const start = toTime(header['timestamp'], Date.now());
    return [readTranscript(values.slice(1).filter(isFields), { id: toId(id), start })];
  },
  join: joinById,
};

const toId = (id: string): string => (id === '' ? '' : `openclaw-${id}`);

const readTitle = ({ label, displayName, subject }: Readonly<Record<string, unknown>>): string =>
  [label, displayName, subject].map(toText).find((name) => name !== '') ?? '';

function readTranscript(lines: readonly Readonly<Record<string, unknown>>[], { id, start }: { id: string; start: number }): ImportedChat {
  let before: string | null = null;
  let title = '';
  const nodes = lines.map((line, at): TreeNode => {
    const lineId = toText(line['id']) || String(at);
    // Transcripts of older versions have no parents.
    const parentId = typeof line['parentId'] === 'string' ? line['parentId'] : 'parentId' in line ? null : before;
    before = lineId;
    if (line['type'] === 'session_info') title = toText(line['name']) || title;
    return { id: lineId, parentId, message: line['type'] === 'message' ? readMessage(line, start) : null };
  });
  return toChat({ id, title, messages: orderMessages(nodes, before) });
}

function readMessage(line: Readonly<Record<string, unknown>>, start: number): TreeNode['message'] {
  const { role, content, model, timestamp } = toFields(line['message']);
  if (role !== 'user' && role !== 'assistant') return null;
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : toList(content).map(toFields);
  const pictures = parts.flatMap((part): PictureRef[] => {
    if (part['type'] !== 'image') return [];
    const { data, mimeType } = part as Readonly<Record<string, unknown>>;
    return toText(data) === '' ? [] : [{ mimeType: toText(mimeType) || 'image/png', data: toText(data) }];
  });
  return toMessage({
    role,
    text: joinParagraphs(parts.map((part) => (part['type'] === 'text' ? toText(part['text']) : ''))),
    pictures,
    timestamp: toTime(timestamp ?? line['timestamp'], start),
    ...(role === 'assistant' && toText(model) ? { model: toText(model) } : {}),
  });
}
