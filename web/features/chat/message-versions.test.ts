import { expect, test } from 'vitest';
import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';
import { toChatItems } from '#app/state/chat-items.ts';
import { findVersions } from './message-versions.ts';

const said = (id: string, role: HistoryMessage['role'], more: Partial<HistoryMessage> = {}): HistoryMessage => ({
  ...{ id, role, content: id, timestamp: 1 },
  ...more,
});

test('a message and a reply that others stand beside; the reply by the first of its messages', () => {
  const messages = [
    said('q2', 'user'),
    said('call', 'assistant', { toolCalls: [{ id: 'c', tool: 't', args: {} }] }),
    said('result', 'tool', { toolCallId: 'c' }),
    said('answer', 'assistant'),
    said('next', 'user'),
  ];
  const known = { q2: ['q1', 'q2', 'q3'], call: ['call', 'other'] };
  expect(toChatItems(messages).map((item) => findVersions(item, known))).toEqual([
    { ids: ['q1', 'q2', 'q3'], at: 1 },
    { ids: ['call', 'other'], at: 0 },
    null,
  ]);
});
