import { type ImportedChat, isFields, saidOf, stringsOf, textOf, timeOf, type TreeNode } from './imported-chat.ts';

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
    pinned: false,
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

/** What was said. Pictures lie beside the export, not in it: a word stands for each. */
function contentOf(content: Readonly<Record<string, unknown>>): string {
  const { content_type: type, parts, text, language } = content;
  if (type === 'code') {
    const code = textOf(text);
    return code.trim() === '' ? '' : `\`\`\`\`${/^\w+$/.test(textOf(language)) ? textOf(language) : ''}\n${code}\n\`\`\`\``;
  }
  if (type !== 'text' && type !== 'multimodal_text') return '';
  const pictures = Array.isArray(parts) ? parts.filter((part) => isFields(part) && part['content_type'] === 'image_asset_pointer') : [];
  return [...stringsOf(parts), ...pictures.map(() => '[Picture]')].filter((part) => part.trim() !== '').join('\n\n');
}
