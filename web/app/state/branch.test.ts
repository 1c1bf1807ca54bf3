import { expect, test } from 'vitest';
import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';
import { trimToLastUserMessage, toStoredText, mergePage, insertMessage } from './branch.ts';

const at = (id: string, role: HistoryMessage['role'] = 'user'): HistoryMessage => ({ id, role, content: id, timestamp: 1 });
const ids = (messages: readonly HistoryMessage[] | null): string | undefined => messages?.map(({ id }) => id).join('');

test('a page that was read again joins on to what was shown above it', () => {
  const { messages, isContinued } = mergePage([at('a'), at('b'), at('c')], [at('b'), at('d')]);
  expect(ids(messages)).toBe('abd');
  expect(isContinued).toBe(true);
});

test('a page that does not join replaces what was shown, and reports it', () => {
  expect(mergePage([at('a'), at('b')], [at('x')])).toMatchObject({ messages: [{ id: 'x' }], isContinued: false });
  expect(mergePage([], [at('x')])).toMatchObject({ isContinued: false });
  expect(ids(mergePage([at('a')], []).messages)).toBe('');
});

test('a message goes under its parent, and what hung there before leaves the branch', () => {
  const shown = [at('a'), at('b', 'assistant'), at('c'), at('d', 'assistant')];
  expect(ids(insertMessage(shown, at('e'), 'd'))).toBe('abcde');
  expect(ids(insertMessage(shown, at('e'), 'b'))).toBe('abe');
  expect(ids(insertMessage(shown, at('e'), null))).toBe('e');
  expect(ids(insertMessage(shown, at('c'), 'b'))).toBe('abcd');
  expect(insertMessage(shown, at('e'), 'not shown')).toBeNull();
});

test('a new answer goes under the last message of the person', () => {
  expect(ids(trimToLastUserMessage([at('a'), at('b', 'assistant')]))).toBe('a');
  expect(ids(trimToLastUserMessage([at('b', 'assistant')]))).toBe('b');
});

test('a sent text is recognised in the form in which it is stored', () => {
  expect(toStoredText('Cafe\u0301\r\nbar\u0007 ')).toBe(toStoredText('Café\nbar'));
  expect(toStoredText('one')).not.toBe(toStoredText('two'));
});
