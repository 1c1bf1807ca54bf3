import { expect, test } from 'vitest';
import { toChatItems } from './chat-items.ts';
import { loadUntilMessage } from '#features/chat/load-until.ts';
import { findItemIndex, parseMessageHash, toMessageLink } from './message-link.ts';

test('a link names its message, whatever the id has in it', () => {
  for (const id of ['a1', 'run:1', 'ü/#?%', ' ']) {
    const link = new URL(toMessageLink('main', 'a b', id), 'http://perch.test');
    expect(link.pathname).toBe('/chat/main/a%20b');
    expect(parseMessageHash(link.hash)).toBe(id);
  }
});

test.each(['', '#', '#message-', '#days', '#message-%E0%A4%A'])('%j names none', (hash) => expect(parseMessageHash(hash)).toBeNull());

test('a message is found in the item that shows it, a step of a reply too', () => {
  const message = (id: string, role: 'user' | 'assistant' | 'tool') => ({ id, role, content: 'x', timestamp: 1 });
  const items = toChatItems([message('u', 'user'), message('a1', 'assistant'), message('t', 'tool'), message('a2', 'assistant')]);
  expect(['u', 'a1', 't', 'a2', 'gone'].map((id) => findItemIndex(items, id))).toEqual([0, 1, 1, 1, -1]);
});

test('pages above are read until the message is there, the top is reached, or reading fails', async () => {
  const pages = (count: number, failsAt = Infinity) => ({
    messages: [{ id: `m${count}` }],
    cursor: `${count}` as string | null,
    reads: 0,
    async loadOlder() {
      if (++this.reads >= failsAt) return;
      const next = Number(this.cursor) - 1;
      this.messages = [{ id: `m${next}` }, ...this.messages];
      this.cursor = next === 0 ? null : `${next}`;
    },
  });
  const read = async (chat: ReturnType<typeof pages>, id: string): Promise<number> => {
    await loadUntilMessage(chat, id);
    return chat.reads;
  };
  expect(await read(pages(5), 'm5')).toBe(0);
  expect(await read(pages(5), 'm2')).toBe(3);
  expect(await read(pages(5), 'nowhere')).toBe(5);
  expect(await read(pages(5, 2), 'nowhere')).toBe(2);
});
