import { expect, it } from 'vitest';
import type { MessageRecord } from './chat-records.ts';
import { toHistory } from './session-views.ts';

it('sends quotes instead of the texts of the sources if a reply is too large for a history', () => {
  const text = `Start. ${'文'.repeat(20_000)} The quote. ${'文'.repeat(4_000)}`;
  const start = text.indexOf('The quote.');
  const locator = { page: 3, start: 100, end: 100 + text.length };
  const quote = { text: 'The quote.', start, end: start + 10 };
  const reply: MessageRecord = {
    ...{ id: 'a', sessionKey: 'main/main', parentId: null, depth: 0, role: 'assistant', content: 'A claim.', timestamp: 1 },
    citations: [1, 2].map((number) => ({ start: 0, end: 7, number, quote })),
    sources: [1, 2].map((number) => ({ number, id: `d#${number}`, kind: 'passage', title: 'Document', text, locator })),
  };
  const [message] = toHistory({ messages: [reply], unread: {} }).messages;
  expect(message).toMatchObject({ content: 'A claim.', citations: [{ quote: { text: 'The quote.', start: 0, end: 10 } }, {}] });
  expect(message?.leftOut).toBeUndefined();
  expect(message?.sources?.[1]).toMatchObject({ text: 'The quote.', locator: { page: 3, start: 100 + start, end: 110 + start } });
});
