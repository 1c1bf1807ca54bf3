import { expect, test } from 'vitest';
import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';
import { toChatItems, getReplyText, type ReplySegment, loadReplyText } from './chat-items.ts';

const message = (fields: Partial<HistoryMessage> & Pick<HistoryMessage, 'id' | 'role'>): HistoryMessage => ({
  content: '',
  timestamp: 1,
  ...fields,
});

test('all that comes between two messages of the person is one reply', () => {
  const items = toChatItems([
    message({ id: 'u1', role: 'user', content: 'Look it up' }),
    message({ id: 'a1', role: 'assistant', content: 'Looking.', toolCalls: [{ id: 'c1', tool: 'search', args: { q: 'x' } }] }),
    message({ id: 't1', role: 'tool', content: '{"hits":2}', toolCallId: 'c1', name: 'search' }),
    message({ id: 'a2', role: 'assistant', content: 'Found it.', model: 'p/m' }),
    message({ id: 'u2', role: 'user', content: 'Thanks' }),
  ]);
  expect(items.map(({ kind, key }) => `${kind} ${key}`)).toEqual(['user u1', 'reply a2', 'user u2']);
  const reply = items[1];
  if (reply?.kind !== 'reply') throw new Error('no reply');
  expect(reply.segments).toEqual([
    { kind: 'text', text: 'Looking.' },
    { kind: 'tool', use: { id: 'c1', tool: 'search', args: { q: 'x' }, result: '{"hits":2}', state: 'done' } },
    { kind: 'text', text: 'Found it.' },
  ]);
  expect(reply.model).toBe('p/m');
  expect(getReplyText(reply.segments)).toBe('Looking.\n\nFound it.');
});

test('a reply keeps the key it had while it streamed', () => {
  const [, reply] = toChatItems(
    [message({ id: 'u', role: 'user' }), message({ id: 'a', role: 'assistant', content: 'x' })],
    new Map([['a', 'run:1']]),
  );
  expect(reply?.key).toBe('run:1');
});

test('recalled memories belong to one reply, whichever of its messages has them', () => {
  const recalled = [{ id: 'm', text: 'x', source: 'remembered', at: null, why: { words: ['x'], beside: [], timely: false } }];
  const items = toChatItems([
    message({ id: 'u', role: 'user' }),
    message({ id: 'a1', role: 'assistant', toolCalls: [{ id: 'c', tool: 't', args: {} }] }),
    message({ id: 't', role: 'tool', toolCallId: 'c' }),
    message({ id: 'a2', role: 'assistant', recalled }),
    message({ id: 'u2', role: 'user' }),
    message({ id: 'a3', role: 'assistant' }),
  ]);
  expect(items.flatMap((item) => (item.kind === 'reply' ? [[item.ids, item.recalled]] : []))).toEqual([
    [['a1', 't', 'a2'], recalled],
    [['a3'], []],
  ]);
});

test.each([
  [{ aborted: true }, 'aborted'],
  [{ interrupted: true }, 'interrupted'],
  [{ error: { code: 'INTERNAL_ERROR', message: 'no' } }, 'failed'],
  [{}, 'done'],
] as const)('how a reply ended is told: %o', (fields, end) => {
  const [reply] = toChatItems([message({ id: 'a', role: 'assistant', content: 'x', ...fields })]);
  expect(reply).toMatchObject({ kind: 'reply', end });
});

test.each([
  ['{"error":"no such file"}', 'error'],
  ['{"error":"a person denied it","denied":true}', 'denied'],
  ['{"hits":2,"denied":true}', 'done'],
  ['{"requestId":"q","status":"failed","exitCode":2,"stdout":"","stderr":"no"}', 'error'],
  ['{"requestId":"q","status":"completed","exitCode":0,"stdout":"\\"status\\":\\"failed\\"","stderr":""}', 'done'],
])('how a tool ended is told: %s', (content, state) => {
  const [reply] = toChatItems([
    message({ id: 'a', role: 'assistant', toolCalls: [{ id: 'c', tool: 't', args: {} }] }),
    message({ id: 'r', role: 'tool', content, toolCallId: 'c' }),
  ]);
  expect(reply).toMatchObject({ segments: [{ kind: 'tool', use: { state } }] });
});

test('after a reply that was cut short another try is a reply of its own', () => {
  const items = toChatItems([
    message({ id: 'a', role: 'assistant', content: 'half', aborted: true }),
    message({ id: 'b', role: 'assistant', content: 'whole' }),
  ]);
  expect(items.map(({ key }) => key)).toEqual(['a', 'b']);
});

test('files that came with a reply are shown below its text', () => {
  const [small, large] = toChatItems([
    message({
      id: 'a',
      role: 'assistant',
      content: [
        { type: 'text', text: 'Here.' },
        { type: 'image', mimeType: 'image/png', data: 'AAAA' },
      ],
      aborted: true,
    }),
    message({
      id: 'b',
      role: 'assistant',
      content: 'Large.\n\n[391 KiB left out here]',
      attachments: [{ filename: 'b.zip', mimeType: 'application/zip', size: 9 }],
      leftOut: { bytes: 400_000, text: false },
    }),
    message({ id: 'c', role: 'assistant', content: '[300 KiB left out here]', leftOut: { bytes: 307_200, text: true } }),
  ]);
  expect(small).toMatchObject({
    segments: [
      { kind: 'text', text: 'Here.' },
      { kind: 'files', files: [{ filename: 'Image', mimeType: 'image/png', size: null, content: 'AAAA' }] },
    ],
  });
  expect(large).toMatchObject({
    segments: [
      { kind: 'text', text: 'Large.' },
      { kind: 'files', files: [{ filename: 'b.zip', size: 9, content: null, stored: { messageId: 'b', index: 0 } }] },
      { kind: 'left-out', messageId: 'c', bytes: 307_200 },
    ],
  });
});

test('a result that a history left out is fetched for its tool', () => {
  const reply = (result: Partial<HistoryMessage>) =>
    toChatItems([
      message({ id: 'a', role: 'assistant', content: '', toolCalls: [{ id: 'c', tool: 'read', args: {} }] }),
      message({ id: 'b', role: 'tool', toolCallId: 'c', name: 'read', ...result }),
    ]);
  const [left] = reply({ content: '[300 KiB left out here]', leftOut: { bytes: 307_200, text: true } });
  expect(left).toMatchObject({ segments: [{ kind: 'tool', use: { result: null, leftOut: { messageId: 'b', bytes: 307_200 } } }] });
  const [pictured] = reply({ content: '{"error":"too dark"}\n\n[300 KiB left out here]', leftOut: { bytes: 307_200, text: false } });
  expect(pictured).toMatchObject({ segments: [{ kind: 'tool', use: { result: '{"error":"too dark"}', state: 'error' } }] });
});

test('a summary is a line of its own, and cuts no reply in two', () => {
  const compaction = {
    summary: '## Goals',
    trigger: 'manual' as const,
    messages: 2,
    tokensBefore: 90,
    tokensAfter: 20,
    model: 'p/m',
    at: 1,
  };
  const talk = (at: number): string[] =>
    toChatItems(
      [
        message({ id: 'u1', role: 'user', content: 'Hi' }),
        message({ id: 'a1', role: 'assistant', content: 'Looking.', toolCalls: [{ id: 'c1', tool: 'search', args: {} }] }),
        message({ id: 't1', role: 'tool', content: '{}', toolCallId: 'c1' }),
        message({ id: 'a2', role: 'assistant', content: 'Found.' }),
        message({ id: 'u2', role: 'user', content: 'Thanks' }),
      ].map((each, index) => (index === at ? { ...each, compaction } : each)),
    ).map(({ kind }) => kind);
  expect(talk(0)).toEqual(['user', 'summary', 'reply', 'user']);
  expect(talk(2)).toEqual(['user', 'summary', 'reply', 'user']);
  expect(talk(3)).toEqual(['user', 'reply', 'summary', 'user']);
});

test('reasoning precedes the text and calls', () => {
  const messages: HistoryMessage[] = [
    { id: 'q', role: 'user', content: 'hi', timestamp: 1 },
    {
      id: 'a',
      role: 'assistant',
      content: '',
      timestamp: 2,
      reasoning: { text: 'which?', ms: 5 },
      toolCalls: [{ id: 'c', tool: 't', args: {} }],
    },
    { id: 'r', role: 'tool', content: 'x', timestamp: 3, toolCallId: 'c' },
    { id: 'b', role: 'assistant', content: 'yes', timestamp: 4, reasoning: { text: 'so', ms: 7, cut: true } },
  ];
  const [, reply] = toChatItems(messages);
  expect(reply?.kind === 'reply' && reply.segments.map((segment) => (segment.kind === 'tool' ? 'tool' : segment))).toEqual([
    { kind: 'reasoning', text: 'which?', ms: 5 },
    'tool',
    { kind: 'reasoning', text: 'so', ms: 7, cut: true },
    { kind: 'text', text: 'yes' },
  ]);
  expect(reply?.kind === 'reply' && getReplyText(reply.segments)).toBe('yes');
});

test('a reply is copied with the texts that were left out of it', async () => {
  let segments: ReplySegment[] = [
    { kind: 'text', text: 'First.' },
    { kind: 'left-out', messageId: 'b', bytes: 2_000_000 },
  ];
  const whole = loadReplyText(
    () => segments,
    (id) => {
      segments = segments.map((each) => (each.kind === 'left-out' && each.messageId === id ? { kind: 'text', text: 'Large.' } : each));
      return Promise.resolve();
    },
  );
  expect(await whole).toBe('First.\n\nLarge.');
});

test('a reply says what it read, and which of it the one before had not read', () => {
  const items = toChatItems([
    message({ id: 'u1', role: 'user' }),
    message({ id: 'a1', role: 'assistant', content: 'Reading.' }),
    message({ id: 't1', role: 'tool', toolCallId: 'c', outside: ['web:pages.test'] }),
    message({ id: 'a2', role: 'assistant', content: 'Read.', outside: ['web:pages.test'], quotedUrls: ['https://pages.test/'] }),
    message({ id: 'u2', role: 'user' }),
    message({ id: 'a3', role: 'assistant', content: 'Yes.', outside: ['web:pages.test'] }),
    message({ id: 'u3', role: 'user', outside: ['document:a.pdf'] }),
    message({ id: 'a4', role: 'assistant', content: 'And that.', outside: ['web:pages.test', 'document:a.pdf'] }),
  ]);
  const replies = items.flatMap((item) => (item.kind === 'reply' ? [item] : []));
  expect(replies.map(({ outside, read }) => [outside, read])).toEqual([
    [['web:pages.test'], ['web:pages.test']],
    [['web:pages.test'], []],
    [['web:pages.test', 'document:a.pdf'], ['document:a.pdf']],
  ]);
  expect(replies[0]?.segments.map((segment) => (segment.kind === 'text' ? segment.links : null))).toEqual([
    undefined,
    null,
    { sources: ['web:pages.test'], quoted: new Set(['https://pages.test/']) },
  ]);
});

test('a call that a stop left without a result is unfinished, not failed', () => {
  const [reply] = toChatItems([
    message({ id: 'a1', role: 'assistant', toolCalls: [{ id: 'c1', tool: 'exec', args: {} }] }),
    message({ id: 't1', role: 'tool', content: '{"error":"the run ended before the tool did"}', toolCallId: 'c1', name: 'exec' }),
    message({ id: 'a2', role: 'assistant', aborted: true }),
  ]);
  expect(reply?.kind === 'reply' && reply.segments).toMatchObject([{ kind: 'tool', use: { state: 'unfinished' } }]);
});
