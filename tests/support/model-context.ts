/** Matches a context block at either end of a message's text. */
const CONTEXT = /(?:\n\n)?\[context (\w+): [^\n]*\n([^]*?)\n\[end of context \1\](?:\n\n)?/;

interface ModelMessage {
  content: unknown;
}

/** The text between the lines of the newest context block of a request; empty if there is none. */
export function readContext(messages: readonly ModelMessage[]): string {
  const texts = messages.flatMap(({ content }) => toTexts(content));
  return CONTEXT.exec(texts.findLast((text) => CONTEXT.test(text)) ?? '')?.[2] ?? '';
}

/** The messages of a request without context blocks, and without messages that consist of one: the user's own text. */
export const removeContext = <M extends ModelMessage>(messages: readonly M[]): M[] =>
  messages.flatMap((message) => {
    const content = stripContext(message.content);
    return content === '' && message.content !== '' ? [] : [{ ...message, content }];
  });

const toTexts = (content: unknown): string[] =>
  typeof content === 'string'
    ? [content]
    : Array.isArray(content)
      ? content.map((part: { text?: unknown }) => String(part.text ?? ''))
      : [];

function stripContext(content: unknown): unknown {
  if (typeof content === 'string') return content.replace(CONTEXT, '');
  return Array.isArray(content) ? content.filter((part: { text?: unknown }) => !CONTEXT.test(String(part.text))) : content;
}
