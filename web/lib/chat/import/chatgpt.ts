import { type ImportedChat, isFields, PICTURE, saidOf, stringsOf, textOf, timeOf, type TreeNode } from './imported-chat.ts';

/** A conversation of ChatGPT's `conversations.json`: a tree of messages under `mapping`; null where it is none. */
export function fromChatGpt(value: unknown): ImportedChat | null {
  if (!isFields(value) || !isFields(value['mapping'])) return null;
  const begun = timeOf(value['create_time'], Date.now());
  const nodes = Object.entries(value['mapping']).map(([id, node]): TreeNode => {
    const { message, parent } = isFields(node) ? node : {};
    return { id, parentId: typeof parent === 'string' ? parent : null, message: said(message, begun) };
  });
  return {
    id: textOf(value['conversation_id']) || textOf(value['id']),
    title: textOf(value['title']),
    tags: [],
    pinned: value['is_starred'] === true,
    archived: value['is_archived'] === true,
    messages: saidOf(nodes, textOf(value['current_node']) || (nodes.at(-1)?.id ?? null)),
  };
}

function said(value: unknown, begun: number): TreeNode['message'] {
  if (!isFields(value) || !isFields(value['author']) || !isFields(value['content'])) return null;
  const { role } = value['author'];
  const metadata = isFields(value['metadata']) ? value['metadata'] : {};
  if ((role !== 'user' && role !== 'assistant') || metadata['is_visually_hidden_from_conversation'] === true) return null;
  const content = contentOf(value['content']);
  if (content === '') return null;
  const model = textOf(metadata['model_slug']);
  return { role, content, timestamp: timeOf(value['create_time'], begun), ...(role === 'assistant' && model ? { model } : {}) };
}

/** What ChatGPT shows as a link to a source, a card or a name stands between these in its text: a kind, and what it is of. */
const MARKS = / ?\ue200([^\ue200\ue201]*)\ue201/g;

/** Of a name the name stays, of a link its words; the rest has no words of its own. */
const withoutMarks = (text: string): string =>
  text.replaceAll(MARKS, (mark, inner: string) => {
    const [kind, what = ''] = inner.split('\ue202');
    const words = kind === 'entity' ? /^\["[^"]*","([^"]+)"/.exec(what)?.[1] : kind === 'url' ? what : undefined;
    return words === undefined ? '' : `${mark.startsWith(' ') ? ' ' : ''}${words}`;
  });

/** What was said. Pictures lie beside the export, not in it: a word stands for each. */
function contentOf(content: Readonly<Record<string, unknown>>): string {
  const { content_type: type, parts, text, language } = content;
  if (type === 'code') {
    const code = textOf(text);
    return code.trim() === '' ? '' : `\`\`\`\`${/^\w+$/.test(textOf(language)) ? textOf(language) : ''}\n${code}\n\`\`\`\``;
  }
  if (type !== 'text' && type !== 'multimodal_text') return '';
  const pictures = Array.isArray(parts) ? parts.filter((part) => isFields(part) && part['content_type'] === 'image_asset_pointer') : [];
  return [...stringsOf(parts).map(withoutMarks), ...pictures.map(() => PICTURE)].filter((part) => part.trim() !== '').join('\n\n');
}
