import { expect } from 'vitest';
import { BlobWriter, configure, TextReader, ZipWriter } from '@zip.js/zip.js';
import { verifies } from '../../tests/requirements.ts';
import { parseJsonLines } from '../../web/gateway/agent/sessions/session-transfer.ts';
import type { ImportedChat } from './imported-chat.ts';
import { PictureIndex } from './picture-index.ts';
import { isSavedChat, readImport } from './read-import.ts';
import { toJsonLines, toTags } from './write-import.ts';

configure({ useWebWorkers: false });

const file = (content: unknown, name = 'export.json'): File =>
  new File([typeof content === 'string' || content instanceof Blob ? content : JSON.stringify(content)], name);
const readExport = (file: File) => readImport([{ path: file.name, blob: file }]);
const readChats = async (content: unknown, name?: string): Promise<ImportedChat[]> =>
  (await readExport(file(content, name))).chats.map((each) => (each.kind === 'other' ? each.chat : expect.fail('is one of Perch')));
/** The messages as the gateway reads them. */
const toMessages = async (chat: ImportedChat | undefined) =>
  parseJsonLines(chat ? (await toJsonLines(chat, new PictureIndex())).content : '');

const node = (id: string, parent: string | null, role?: string, parts?: unknown[], more: object = {}) => [
  id,
  {
    id,
    parent,
    children: [],
    message: role
      ? { id, author: { role }, create_time: 1_700_000_000.5, content: { content_type: 'text', parts }, metadata: {}, ...more }
      : null,
  },
];
/** As ChatGPT writes it: an empty root, a hidden system message, and two answers to one question. */
const chatGpt = {
  title: 'Cats',
  create_time: 1_700_000_000,
  conversation_id: 'c-1',
  is_archived: true,
  current_node: 'a2',
  mapping: Object.fromEntries([
    node('root', null),
    node('s', 'root', 'system', ['You are helpful']),
    node('q', 's', 'user', ['What is a cat?', { content_type: 'image_asset_pointer', asset_pointer: 'file-service://x' }]),
    node('a2', 'q', 'assistant', ['A small animal.'], { metadata: { model_slug: 'gpt-4o' } }),
    node('a1', 'q', 'assistant', ['An animal.']),
    node('t', 'a2', 'tool', ['{"results": 3}']),
  ]),
};

verifies('chats.app/import', 'of ChatGPT: its tree without hidden messages, the abandoned branch first', async () => {
  const [chat] = await readChats([chatGpt], 'conversations.json');
  expect(chat).toMatchObject({ id: 'c-1', title: 'Cats', archived: true, pinned: false, tags: [] });
  expect(chat?.messages).toEqual([
    { id: 'a1', parentId: 'q', role: 'assistant', text: 'An animal.', pictures: [], timestamp: 1_700_000_000_500 },
    { id: 'q', parentId: null, role: 'user', text: 'What is a cat?', pictures: [{ file: 'x' }], timestamp: 1_700_000_000_500 },
    {
      ...{ id: 'a2', parentId: 'q', role: 'assistant', text: 'A small animal.', pictures: [] },
      ...{ timestamp: 1_700_000_000_500, model: 'gpt-4o' },
    },
  ]);
  expect((await toMessages(chat)).map(({ id, content }) => [id, content])).toEqual([
    ['a1', 'An animal.'],
    ['q', 'What is a cat?\n\n[Picture]'],
    ['a2', 'A small animal.'],
  ]);
});

verifies('chats.app/import', 'of ChatGPT: citation marks are removed, cited names stay; a star pins', async () => {
  const text =
    'Rain \ue200cite\ue202turn0search1\ue202turn0news2\ue201 in \ue200entity\ue202["city","Paris","capital of France"]\ue201, says \ue200url\ue202the office\ue202turn0search3\ue201.\ue200navlist\ue202News\ue202turn0news1\ue201';
  const mapping = Object.fromEntries([node('q', null, 'user', ['Weather?']), node('a', 'q', 'assistant', [text])]);
  const [chat] = await readChats([{ ...chatGpt, is_starred: true, current_node: 'a', mapping }]);
  expect(chat?.messages.at(-1)?.text).toBe('Rain in Paris, says the office.');
  expect(chat?.pinned).toBe(true);
});

verifies('chats.app/import', 'of Open WebUI and LibreChat: the pictures in it come along, for others a word stands', async () => {
  const image = (url: string) => ({ type: 'image', url });
  const webUi = {
    id: 'p-1',
    chat: {
      history: {
        messages: {
          q: {
            role: 'user',
            parentId: null,
            content: 'What is this?',
            files: [image('data:image/png;base64,AAAA'), { type: 'file', name: 'a.txt' }],
          },
          a: { role: 'assistant', parentId: 'q', content: 'A cat' },
          r: { role: 'user', parentId: 'a', content: '', files: [image('data:image/png;base64,BBBB')] },
          b: { role: 'assistant', parentId: 'r', content: '', files: [image('/api/v1/files/1/content')] },
        },
        currentId: 'b',
      },
    },
  };
  const file = { type: 'image/png', filepath: '/images/1/a.png' };
  const libre = { conversationId: 'p-2', messages: [{ messageId: 'q', text: 'And this?', isCreatedByUser: true, files: [file] }] };
  const [first, second] = await readChats([webUi, libre]);
  const picture = (data: string) => ({ type: 'image', mimeType: 'image/png', data, filename: 'picture.png' });
  const messages = await toMessages(first);
  expect(messages.map(({ content }) => content)).toEqual([
    [{ type: 'text', text: 'What is this?' }, picture('AAAA')],
    'A cat',
    [picture('BBBB')],
    '[Picture]',
  ]);
  // Attachments as a history without their bytes lists them.
  expect(messages[0]?.attachments).toEqual([{ filename: 'picture.png', mimeType: 'image/png', size: 3 }]);
  expect((await toMessages(second)).map(({ content }) => content)).toEqual(['And this?\n\n[Picture]']);
});

verifies('chats.app/import', 'of ChatGPT: the zip as it comes', async () => {
  const zip = new ZipWriter(new BlobWriter());
  await zip.add('export/chat.html', new TextReader('<h1>No</h1>'));
  await zip.add('export/conversations.json', new TextReader(JSON.stringify([chatGpt, chatGpt])));
  expect(await readChats(await zip.close(), 'export.zip')).toHaveLength(2);
});

verifies('chats.app/import', 'of Perch: the zip that several chats are saved as', async () => {
  const zip = new ZipWriter(new BlobWriter());
  await zip.add('Cats.jsonl', new TextReader('{"role":"user","content":"What is a cat?"}\n{"role":"assistant","content":"An animal."}\n'));
  await zip.add('Dogs.md', new TextReader('# On dogs\n\n## You\n\nWhat is a dog?\n'));
  const { chats, unrecognized } = await readExport(file(await zip.close(), 'chats.zip'));
  expect(chats).toMatchObject([
    { kind: 'perch', title: 'Cats', file: 'Cats.jsonl' },
    { kind: 'perch', title: 'On dogs', file: 'Dogs.md' },
  ]);
  expect(unrecognized).toEqual([]);
});

verifies(
  ['chats.app/import', 'chats.app/import-bad'],
  'of a zip: the chats in it, and each file that is none with its reason',
  async () => {
    const zip = new ZipWriter(new BlobWriter(), { level: 0 });
    const line = '{"role":"user","content":"What is a cat?"}\n';
    await zip.add('About.md', new TextReader('# About these\n\nSaved on Monday'));
    await zip.add('old/Cats.jsonl', new TextReader(line));
    await zip.add('old/Cut.jsonl', new TextReader(line.slice(0, -9)));
    await zip.add('old/Locked.jsonl', new TextReader(line), { password: 'x' });
    await zip.add('old/Cats.png', new TextReader('no picture'));
    const { chats, rejected } = await readExport(file(await zip.close(), 'chats.zip'));
    expect(chats).toMatchObject([{ title: 'Cats' }]);
    expect(rejected).toEqual([
      { file: 'Cut.jsonl', why: 'notJson' },
      { file: 'Locked.jsonl', why: 'damaged' },
      { file: 'About.md', why: 'noSpeaker' },
    ]);
  },
);

verifies('chats.app/import', 'of Open WebUI, with its tags, and of its older versions', async () => {
  const messages = {
    q: { id: 'q', parentId: null, childrenIds: ['a'], role: 'user', content: 'Hi', timestamp: 1_700_000_000 },
    a: { id: 'a', parentId: 'q', childrenIds: [], role: 'assistant', content: 'Hello', timestamp: 1_700_000_005, model: 'llama3' },
  };
  const now = {
    id: 'w-1',
    title: 'Greeting',
    pinned: true,
    meta: { tags: ['x', 7, 'y'] },
    chat: { history: { messages, currentId: 'a' } },
  };
  const old = {
    title: 'Old',
    created_at: 1_600_000_000,
    chat: {
      messages: [
        { role: 'user', content: 'One' },
        { role: 'assistant', content: 'Two' },
      ],
    },
  };
  const [first, second] = await readChats([now, old]);
  expect(first).toMatchObject({ id: 'w-1', title: 'Greeting', pinned: true, archived: false, tags: ['x', 'y'] });
  expect(first?.messages).toEqual([
    { id: 'q', parentId: null, role: 'user', text: 'Hi', pictures: [], timestamp: 1_700_000_000_000 },
    { id: 'a', parentId: 'q', role: 'assistant', text: 'Hello', pictures: [], timestamp: 1_700_000_005_000, model: 'llama3' },
  ]);
  expect(second?.messages.map(({ text, parentId, timestamp }) => [text, parentId, timestamp])).toEqual([
    ['One', null, 1_600_000_000_000],
    ['Two', '0', 1_600_000_000_000],
  ]);
});

verifies('chats.app/import', 'of LibreChat, as a list and as a tree', async () => {
  const answer = {
    messageId: 'a',
    parentMessageId: 'q',
    sender: 'GPT',
    model: 'gpt-4o',
    content: [
      { type: 'text', text: 'Yes' },
      { type: 'think', think: 'hm' },
    ],
  };
  const question = {
    messageId: 'q',
    parentMessageId: '00000000-0000-0000-0000-000000000000',
    isCreatedByUser: true,
    text: 'Is it?',
    createdAt: '2024-01-02T03:04:05.000Z',
  };
  const head = { conversationId: 'l-1', title: 'It', exportAt: '2024-02-01T00:00:00.000Z' };
  const expected = [
    { id: 'q', parentId: null, role: 'user', text: 'Is it?', pictures: [], timestamp: Date.UTC(2024, 0, 2, 3, 4, 5) },
    { id: 'a', parentId: 'q', role: 'assistant', text: 'Yes', pictures: [], timestamp: Date.UTC(2024, 1, 1), model: 'gpt-4o' },
  ];
  const [listed] = await readChats({ ...head, messages: [question, answer] });
  const [tree] = await readChats({ ...head, recursive: true, messages: [{ ...question, children: [answer] }] });
  expect(listed).toMatchObject({ id: 'l-1', title: 'It' });
  expect(listed?.messages).toEqual(expected);
  expect(tree?.messages).toEqual(expected);
});

verifies('chats.app/import', 'of Perch: as it stands, also a chat of one message', async () => {
  const line = `${JSON.stringify({ id: 'm', role: 'user', content: 'Hi', timestamp: 1 })}\n`;
  for (const content of [line, line + line.replace('"m"', '"n"')])
    expect((await readExport(file(content, 'My chat.jsonl'))).chats).toEqual([
      { kind: 'perch', content, title: 'My chat', file: 'My chat.jsonl' },
    ]);
  for (const [content, title] of [
    ['# Tea\n\n## You\n\nHi', 'Tea'],
    ['## Assistant (a/b)\n\nHi', 'My chat'],
  ] as const)
    expect((await readExport(file(content, 'My chat.md'))).chats).toEqual([{ kind: 'perch', content, title, file: 'My chat.md' }]);
  await expect(readExport(file('# Notes\n\nNothing said', 'notes.md'))).rejects.toThrow('has no messages');
});

verifies('chats.app/import-bad', 'each with its reason; what is none among others is counted', async () => {
  const refused = (content: unknown) =>
    readExport(file(content)).then(
      () => 'taken',
      ({ name, message }: Error) => `${name}: ${message}`,
    );
  const zip = new ZipWriter(new BlobWriter());
  await zip.add('notes.txt', new TextReader('no'));
  const other = await zip.close();
  expect(await refused('')).toBe('Unimportable: the file is empty');
  expect(await refused(JSON.stringify([chatGpt]).slice(0, -20))).toContain('isn’t valid JSON');
  expect(await refused('<html>')).toContain('isn’t valid JSON');
  expect(await refused(new Blob([new Uint8Array([0x5b, 0xff, 0xfe])]))).toContain('isn’t UTF-8 text');
  expect(await refused(other)).toContain('no chats in a supported format');
  expect(await refused(other.slice(0, 60))).toContain('zip file is damaged');
  for (const value of [[], {}, null, 7, [null, 'x'], { mapping: {} }, { chat: { messages: [] } }, { conversationId: 'x', messages: [] }])
    expect(await refused(value)).toContain('no chats found in a supported format');
  expect((await readExport(file([chatGpt, null, { chat: 1 }]))).unrecognized).toEqual([{ file: 'export.json', count: 2 }]);
});

verifies('chats.app/import-bad', 'trees that go round in a circle, and parents that are none', async () => {
  const round = {
    ...chatGpt,
    current_node: 'x',
    mapping: Object.fromEntries([
      node('x', 'y'),
      node('y', 'x'),
      node('q', 'x', 'user', ['Still']),
      node('z', 'nobody', 'user', ['There']),
    ]),
  };
  const self = { ...chatGpt, current_node: 'q', mapping: Object.fromEntries([node('q', 'q', 'user', ['Me'])]) };
  const [first] = await readChats(round);
  expect(first?.messages.map(({ text, parentId }) => [text, parentId])).toEqual([
    ['Still', null],
    ['There', null],
  ]);
  const [second] = await readChats(self);
  expect(second?.messages).toMatchObject([{ text: 'Me', parentId: null }]);
});

verifies('chats.app/import-bad', 'at maximum size and depth no step gets slower because of earlier ones', async () => {
  const most = 200_000;
  const wide = Array.from({ length: most }, (_, at) => ({ messageId: String(at), parentMessageId: 'q', text: 'x' }));
  const head = { conversationId: 'l-1', title: 'It' };
  const [tree] = await readChats({ ...head, messages: [{ messageId: 'q', isCreatedByUser: true, text: 'All?', children: wide }] });
  expect(tree?.messages).toHaveLength(most + 1);
  // Nothing between the two was shown to anyone.
  const chain = Array.from({ length: most }, (_, at) => node(`n${at}`, at === 0 ? 'q' : `n${at - 1}`));
  const mapping = Object.fromEntries([node('q', null, 'user', ['First']), ...chain, node('a', `n${most - 1}`, 'assistant', ['Last'])]);
  const [long] = await readChats({ ...chatGpt, current_node: 'a', mapping });
  expect(long?.messages).toMatchObject([{ id: 'q' }, { id: 'a', parentId: 'q' }]);
  const deep = `${'['.repeat(most)}${']'.repeat(most)}`;
  await expect(readExport(file(`{"mapping":${deep}}`))).rejects.toThrow('no chats found in a supported format');
});

verifies('chats.app/import-bad', 'cut anywhere: refused, never a part of it', async () => {
  for (const [content, name] of [
    [JSON.stringify([chatGpt], null, 2), 'conversations.json'],
    [JSON.stringify({ conversationId: 'l-1', title: 'It', messages: [{ messageId: 'q', text: 'Hi' }] }), 'librechat.json'],
    [JSON.stringify([{ id: 'w', title: 'W', chat: { messages: [{ role: 'user', content: 'One' }] } }]), 'webui.json'],
  ] as const)
    for (let at = 0; at < content.length; at++)
      await expect(readExport(file(content.slice(0, at), name)), content.slice(0, at)).rejects.toThrow();
});

verifies('chats.app/import-bad', 'tags that are none, or too long, are made such as a chat may have', async () => {
  const long = `${'x'.repeat(49)}😀 and more`;
  const tags = ['', ' ', ' birds ', 'birds', long, ...Array.from({ length: 60 }, (_, at) => `t${at}`)];
  const [chat] = await readChats([{ title: 'W', meta: { tags }, chat: { messages: [{ role: 'user', content: 'One' }] } }]);
  const importedTags = toTags(chat?.tags ?? []);
  expect(importedTags.slice(0, 3)).toEqual(['birds', 'x'.repeat(49), 't0']);
  expect(importedTags).toHaveLength(50);
});

verifies('chats.app/import', 'a JSON file that was opened is a chat if somebody speaks in it', async () => {
  const isChat = async (content: string): Promise<boolean> => isSavedChat(await readExport(file(content, 'opened.json')));
  expect(
    await isChat('{"id":"q","role":"user","content":"Hi","timestamp":1,"parentId":null}\n{"id":"a","role":"assistant","content":"Hello"}'),
  ).toBe(true);
  expect(await isChat(JSON.stringify([chatGpt]))).toBe(true);
  expect(await isChat('{"level":"info","text":"started"}\n{"level":"info","text":"stopped"}')).toBe(false);
});
