import { BlobWriter, configure, TextReader, Uint8ArrayReader, ZipWriter } from '@zip.js/zip.js';
import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import type { SelectedFile } from '../import-files.ts';
import { readImport } from '../read-import.ts';
import { toJsonLines } from '../write-import.ts';

configure({ useWebWorkers: false });

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2]);
const createFile = (path: string, content: unknown): SelectedFile => ({
  path,
  blob: new Blob([typeof content === 'string' || content instanceof Uint8Array ? (content as string) : JSON.stringify(content)]),
});
const lines = (...values: unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('');
async function zip(files: Readonly<Record<string, unknown>>): Promise<SelectedFile> {
  const writer = new ZipWriter(new BlobWriter());
  for (const [path, content] of Object.entries(files)) {
    if (content instanceof Uint8Array) await writer.add(path, new Uint8ArrayReader(content));
    else await writer.add(path, new TextReader(typeof content === 'string' ? content : JSON.stringify(content)));
  }
  return { path: 'export.zip', blob: await writer.close() };
}
async function read(...files: SelectedFile[]) {
  const reading = await readImport(files);
  const chats = reading.chats.map((each) => (each.kind === 'other' ? each : expect.fail('is one of Perch')));
  return { ...reading, chats };
}
const toTexts = (chat: { messages: { role: string; text: string; model?: string }[] } | undefined) =>
  chat?.messages.map(({ role, text, model }) => (model === undefined ? [role, text] : [role, text, model]));

const chatGptChat = (n: number, parts: [unknown[], unknown[]], contentType = 'text', metadata?: object) => ({
  title: `Chat ${n}`,
  create_time: 1_780_000_000 + n,
  conversation_id: `c-${n}`,
  default_model_slug: 'gpt-5-thinking',
  current_node: 'a',
  mapping: {
    root: { id: 'root', message: null, parent: null },
    u: {
      parent: 'root',
      message: { author: { role: 'user' }, content: { content_type: contentType, parts: parts[0] }, ...(metadata && { metadata }) },
    },
    a: {
      parent: 'u',
      message: { author: { role: 'assistant' }, content: { content_type: contentType, parts: parts[1] }, ...(metadata && { metadata }) },
    },
  },
});

verifies('chats.app/import', 'of ChatGPT: every part of a split export; other files of it are not chats', async () => {
  const { chats, rejected } = await read(
    await zip({
      'conversations-000.json': [chatGptChat(1, [['One?'], ['One.']])],
      'conversations-001.json': [chatGptChat(2, [['Two?'], ['Two.']])],
      'shared_conversations.json': [],
      'user.json': {},
      'chat.html': '<html>',
    }),
  );
  expect(chats.map(({ product, chat }) => [product, chat.id])).toEqual([
    ['ChatGPT', 'c-1'],
    ['ChatGPT', 'c-2'],
  ]);
  expect(rejected).toEqual([]);
});

verifies('chats.app/import', 'of ChatGPT: spoken messages become text; replies without a model get the model of the chat', async () => {
  const transcript = (text: string) => [
    { content_type: 'audio_transcription', text, direction: 'in' },
    { content_type: 'audio_asset_pointer', asset_pointer: 'sediment://x' },
  ];
  const voice = chatGptChat(1, [transcript('How do I bake bread'), transcript('Mix flour and water')], 'multimodal_text', {});
  const { chats } = await read(createFile('conversations.json', [voice]));
  expect(toTexts(chats[0]?.chat)).toEqual([
    ['user', 'How do I bake bread'],
    ['assistant', 'Mix flour and water', 'gpt-5-thinking'],
  ]);
});

verifies('chats.app/import', 'of ChatGPT: pictures of the zip by the names that it gives them, also generated ones', async () => {
  const pointer = (address: string) => ({ content_type: 'image_asset_pointer', asset_pointer: address });
  const chat = chatGptChat(
    1,
    [['Look', pointer('file-service://file-AB12'), pointer('sediment://file_00cd'), pointer('sediment://file_gone')], ['Nice']],
    'multimodal_text',
  );
  const tool = {
    parent: 'a',
    message: { author: { role: 'tool' }, content: { content_type: 'multimodal_text', parts: [pointer('sediment://file_ee')] } },
  };
  const withTool = { ...chat, current_node: 't', mapping: { ...chat.mapping, t: tool } };
  const { chats, pictures } = await read(
    await zip({
      'conversations.json': [withTool],
      'file-AB12-cat.png': PNG,
      'file_00cd-sanitized.dat': PNG,
      'user-x/file_ee-made.png': PNG,
      'file_ff-no.png': 'no picture',
    }),
  );
  const { content, added, missing } = await toJsonLines(chats[0]?.chat ?? { messages: [] }, pictures);
  expect([added, missing]).toEqual([3, 1]);
  const [question, , made] = content
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { role: string; content: { type: string; text?: string; filename?: string }[] });
  expect(question?.content.map(({ type, text, filename }) => text ?? `${type} ${filename}`)).toEqual([
    'Look\n\n[Picture]',
    'image file-AB12-cat.png',
    'image file_00cd-sanitized.dat',
  ]);
  expect(made).toMatchObject({ role: 'assistant', content: [{ type: 'image', filename: 'file_ee-made.png' }] });
});

verifies('chats.app/import', 'of Claude: branches, documents with their text, memories', async () => {
  const message = (uuid: string, sender: string, text: string, parent: string, more: object = {}) => ({
    ...{ uuid, sender, created_at: '2026-01-02T03:04:05Z', parent_message_uuid: parent, attachments: [], files: [] },
    content: [
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text },
    ],
    ...more,
  });
  const chat = {
    uuid: '7b1c',
    name: 'Bread',
    created_at: '2026-01-02T03:04:05Z',
    chat_messages: [
      message('q', 'human', 'How?', '00000000-0000-4000-8000-000000000000', {
        attachments: [{ file_name: 'notes.txt', extracted_content: 'Use ```yeast```' }],
        files: [{ file_name: 'photo.jpg' }],
      }),
      message('a1', 'assistant', 'Like this.', 'q'),
      message('a2', 'assistant', 'Or like that.', 'q'),
    ],
  };
  const { chats, memories, rejected } = await read(
    await zip({
      'conversations.json': [chat],
      'memories.json': [{ conversations_memory: '**Work context**\n\nBakes bread.', project_memories: { p: 'Prefers rye.' } }],
      'users.json': [{ uuid: 'u', full_name: 'Someone' }],
      'projects.json': [{ uuid: 'p', name: 'Baking', docs: [] }],
    }),
  );
  expect(rejected).toEqual([]);
  expect(chats.map(({ chat: { id, title, leftOut } }) => [id, title, leftOut])).toEqual([['7b1c', 'Bread', ['photo.jpg']]]);
  expect(chats[0]?.chat.messages.map(({ id, parentId, text }) => [id, parentId, text])).toEqual([
    ['a1', 'q', 'Like this.'],
    ['q', null, 'How?\n\n**notes.txt**\n\n````\nUse ```yeast```\n````'],
    ['a2', 'q', 'Or like that.'],
  ]);
  expect(memories.map(({ product, memory: { text, category } }) => [product, text, category])).toEqual([
    ['Claude', 'Bakes bread.', 'fact'],
    ['Claude', 'Prefers rye.', 'preference'],
  ]);
});

verifies('chats.app/import', 'of Gemini: prompts of Takeout, those close in time as one chat, answers as Markdown', async () => {
  const record = (time: string, title: string, html?: string, more: object = {}) => ({
    ...{ header: 'Gemini Apps', title, time, products: ['Gemini Apps'] },
    ...(html === undefined ? {} : { safeHtmlItem: [{ html }] }),
    ...more,
  });
  const { chats, pictures } = await read(
    await zip({
      'Takeout/My Activity/Gemini Apps/MyActivity.json': [
        record('2026-05-02T10:00:00Z', 'Used an app'),
        record('2026-05-01T10:10:00Z', 'Prompted And rye?', '<ul><li>Yes &amp; <b>no</b></li><li><code>x &lt; y</code></li></ul>'),
        record('2026-05-01T10:00:00Z', 'Prompted What is bread? Attached 1 file.', '<h2>Bread</h2><p>Food.</p>', {
          imageFile: 'loaf-1.png',
        }),
        record('2026-05-03T10:00:00Z', 'Demandé Pourquoi ?', '<p>Parce que.</p>'),
      ],
      'Takeout/My Activity/Gemini Apps/loaf-1.png': PNG,
      'Takeout/My Activity/YouTube/MyActivity.json': [{ header: 'YouTube', title: 'Watched x', time: '2026-05-01T10:00:00Z' }],
    }),
  );
  expect(chats.map(({ chat }) => [chat.title, toTexts(chat)])).toEqual([
    [
      'What is bread?',
      [
        ['user', 'What is bread?'],
        ['assistant', '## Bread\n\nFood.'],
        ['user', 'And rye?'],
        ['assistant', '- Yes & **no**\n- `x < y`'],
      ],
    ],
    [
      'Demandé Pourquoi ?',
      [
        ['user', 'Demandé Pourquoi ?'],
        ['assistant', 'Parce que.'],
      ],
    ],
  ]);
  expect((await toJsonLines(chats[0]?.chat ?? { messages: [] }, pictures)).added).toBe(1);
});

verifies('chats.app/import', 'of Gemini as HTML, as JSON, and both with the address of the chat', async () => {
  const cell = (header: string, body: string, { side = '', link = '' } = {}) =>
    `<div class="outer-cell mdl-cell mdl-cell--12-col mdl-shadow--2dp"><div class="mdl-grid"><div class="header-cell mdl-cell mdl-cell--12-col"><p class="mdl-typography--title">${header}<br></p></div><div class="content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1">${body}</div><div class="content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1 mdl-typography--text-right">${side}</div><div class="content-cell mdl-cell mdl-cell--12-col mdl-typography--caption"><b>Products:</b><br>&emsp;${header}<br>${link && `<b>Details:</b><br>&emsp;From: <a href="${link}">${link}</a><br>`}<b>Why is this here?</b><br>&emsp;<a href="https://myaccount.google.com/activitycontrols">here</a>.</div></div></div>`;
  const page = (...cells: string[]) =>
    `<html><head><title>My Activity History</title><style type="text/css">.outer-cell{margin:0}</style></head><body><div class="mdl-grid">${cells.join('')}</div></body></html>`;
  const chat = 'https://gemini.google.com/app/c0ffee1234567890';
  const html = page(
    cell('Gemini Apps', 'Used an Assistant feature<br>May 3, 2026, 10:00:00\u202fAM GMT+00:00<br>'),
    cell('Gemini Apps', 'Gave feedback:&nbsp;Good response<br>May 3, 2026, 9:00:00\u202fAM GMT+00:00<br><p>Thanks.</p>'),
    cell('Gemini Apps', 'Prompted&nbsp;Later?<br>May 2, 2026, 10:00:00 PM GMT-02:00<br><p>Same chat.</p>', { link: chat }),
    cell(
      'Gemini-appar',
      'Gav instruktionen&nbsp;Och råg?<br>1 maj 2026 12:10:00 CEST<br><ul><li>Ja &amp; <b>nej</b></li></ul>\n<div><pre><code>x &lt; y</code></pre></div>',
    ),
    cell(
      'Gemini Apps',
      'Prompted&nbsp;What is\n  bread &lt;really&gt;?<br>And why?<br>Attached 2 files.<br>-&nbsp; <a href="loaf%201.png">loaf 1.png</a><br>-&nbsp; <a href="notes.pdf">notes.pdf</a><br>May 1, 2026, 10:00:00 AM UTC<br><h2>Bread</h2><p>Food.</p><br>',
      { side: '<img src="loaf%201.png" class="image-preview">' },
    ),
    cell('Gemini Apps', 'Prompted&nbsp;Undated<br>45 Nonsense 2026, 10:00:00 UTC<br><p>Still read.</p>'),
    cell('Gemini Apps', 'Prompted&nbsp;No date at all<br><p>Lost.</p>'),
    cell('Gemini Apps', 'Prompted&nbsp;First<br>2026年4月1日 12:23:08 CST<br><p>Same chat.</p>', { link: chat }),
    cell('YouTube', 'Watched&nbsp;x<br>May 1, 2026, 10:00:00 AM UTC<br>'),
  );
  const { chats, pictures, unrecognized } = await read(
    await zip({
      'Takeout/My Activity/Gemini Apps/MyActivity.html': html,
      'Takeout/My Activity/Gemini Apps/loaf 1.png': PNG,
      'Takeout/My Activity/YouTube/MyActivity.html': page(cell('YouTube', 'Watched&nbsp;x<br>May 1, 2026, 10:00:00 AM UTC<br>')),
      'Takeout/Gemini/gemini_gems_data.html': '<div>Gems</div>',
      'Takeout/archive_browser.html': '<html>',
    }),
  );
  expect(chats.map((each) => [each.product, each.chat.id, toTexts(each.chat)])).toEqual([
    [
      'Gemini',
      'gemini-c0ffee1234567890',
      [
        ['user', 'First'],
        ['assistant', 'Same chat.'],
        ['user', 'Later?'],
        ['assistant', 'Same chat.'],
      ],
    ],
    [
      'Gemini',
      `gemini-${Date.UTC(2026, 4, 1, 9, 59, 59)}`,
      [
        ['user', 'Undated'],
        ['assistant', 'Still read.'],
        ['user', 'What is\n  bread <really>?\nAnd why?'],
        ['assistant', '## Bread\n\nFood.'],
        ['user', 'Och råg?'],
        ['assistant', '- Ja & **nej**\n\n````\nx < y\n````'],
      ],
    ],
  ]);
  expect(chats[1]?.chat.leftOut).toEqual(['notes.pdf']);
  expect((await toJsonLines(chats[1]?.chat ?? { messages: [] }, pictures)).added).toBe(1);
  expect(unrecognized).toEqual([{ file: 'MyActivity.html', count: 1 }]);
  // The same prompts as JSON are the same chats.
  const record = (title: string, time: string, titleUrl?: string) => ({
    ...{ header: 'Gemini Apps', products: ['Gemini Apps'], title: `Prompted ${title}`, time, titleUrl, safeHtmlItem: [{ html: 'Yes' }] },
  });
  const json = await read(
    createFile('MyActivity.json', [record('Later?', '2026-05-03T00:00:00.123Z', chat), record('Bread?', '2026-05-01T09:59:59.999Z')]),
  );
  expect(json.chats.map((each) => each.chat.id)).toEqual(chats.map((each) => each.chat.id));
  const alone = await read(createFile('Minhaatividade.html', html));
  expect(alone.chats.map((each) => each.chat.id)).toEqual(chats.map((each) => each.chat.id));
});

verifies('chats.app/import-bad', 'pages without prompts of Gemini, cut and hostile ones', async () => {
  const refused = (content: string) =>
    expect(readImport([createFile('MyActivity.html', content)])).rejects.toMatchObject({ refusal: 'geminiHtml' });
  const cell = '<div class="outer-cell"><div class="header-cell">';
  await refused('<html>');
  await refused(`${cell}YouTube</div><div class="content-cell">Watched&nbsp;x<br>May 1, 2026, 10:00:00 AM UTC</div>`);
  const start = `${cell}Gemini Apps</div><div class="content-cell">Prompted&nbsp;`;
  const cut = await read(createFile('MyActivity.html', `${start}Hi<br>May 1, 2026, 10:00:00 AM UTC<br><p>Yes</p>${start}Not the e`));
  expect([cut.chats.map((each) => toTexts(each.chat)), cut.unrecognized]).toEqual([
    [
      [
        ['user', 'Hi'],
        ['assistant', 'Yes'],
      ],
    ],
    [{ file: 'MyActivity.html', count: 1 }],
  ]);
  const hostile = [
    `${start}${'<br>'.repeat(200_000)}`,
    `${start}${'<'.repeat(200_000)}`,
    `${start}${'<a href="'.repeat(100_000)}`,
    `${start}${'&nbsp;'.repeat(100_000)}<br>May 1, 2026, 10:00:00 AM UTC<br>${'<img src="'.repeat(50_000)}`,
    `${start}Hi<br>${'1:00:00 '.repeat(9)}2026<br>`,
    start.repeat(20_000),
  ];
  const began = performance.now();
  for (const content of hostile) await readImport([createFile('MyActivity.html', content)]).catch(() => {});
  expect(performance.now() - began).toBeLessThan(10_000);
});

verifies('chats.app/import', 'of LobeHub: topics and the rest of a session are chats, in both of its formats', async () => {
  const messages = [
    { id: 'q', role: 'user', content: 'Hi', topicId: 't', sessionId: 's', createdAt: 1_700_000_000_000, files: ['f'] },
    {
      id: 'a',
      role: 'assistant',
      content: 'Hello',
      parentId: 'q',
      topicId: 't',
      sessionId: 's',
      createdAt: 1_700_000_001_000,
      model: 'qwen',
    },
    { id: 'b', role: 'assistant', content: 'Good day', parentId: 'q', topicId: 't', sessionId: 's', createdAt: 1_700_000_002_000 },
    { id: 'x', role: 'user', content: 'Loose', topicId: null, sessionId: 's', createdAt: '2026-01-01T00:00:00Z' },
  ];
  const tables = {
    messages,
    topics: [{ id: 't', title: 'Greeting', favorite: 1 }],
    sessions: [{ id: 's', meta: { title: 'Friend' } }],
    files: [{ id: 'f', fileType: 'application/pdf', name: 'a.pdf' }],
  };
  for (const value of [
    { exportType: 'all', state: tables, version: 7 },
    { data: tables, mode: 'postgres', schemaHash: 'x' },
  ]) {
    const { chats } = await read(createFile('lobe.json', value));
    expect(chats.map(({ product, chat }) => [product, chat.id, chat.title, chat.pinned, chat.leftOut])).toEqual([
      ['LobeHub', 't', 'Greeting', true, ['a.pdf']],
      ['LobeHub', 'inbox-s', 'Friend', false, []],
    ]);
    expect(chats[0]?.chat.messages.map(({ id, parentId }) => [id, parentId])).toEqual([
      ['a', 'q'],
      ['q', null],
      ['b', 'q'],
    ]);
  }
});

verifies('chats.app/import', 'of Jan: a folder for each thread, its title and its messages in different files', async () => {
  const message = (id: string, role: string, value: string, at: number, metadata = {}) => ({
    ...{ id, object: 'thread.message', thread_id: 'jan_1', role, created_at: at, metadata },
    content: [{ type: 'text', text: { value, annotations: [] } }],
  });
  const { chats } = await read(
    createFile('jan/threads/jan_1/thread.json', { id: 'jan_1', object: 'thread', title: 'Tea', assistants: [] }),
    createFile(
      'jan/threads/jan_1/messages.jsonl',
      lines(message('2', 'assistant', 'Leaves.', 1_700_000_005, { model: 'llama' }), message('1', 'user', 'What is tea?', 1_700_000_000)),
    ),
    createFile('jan/threads/jan_2/thread.json', { id: 'jan_2', object: 'thread', title: 'Never begun' }),
  );
  expect(chats.map(({ product, chat }) => [product, chat.id, chat.title, toTexts(chat)])).toEqual([
    [
      'Jan',
      'jan_1',
      'Tea',
      [
        ['user', 'What is tea?'],
        ['assistant', 'Leaves.', 'llama'],
      ],
    ],
  ]);
});

verifies('chats.app/import', 'of LM Studio: versions are branches, the selected one goes on; no reasoning', async () => {
  const user = (text: string) => ({
    versions: [{ type: 'singleStep', role: 'user', content: [{ type: 'text', text }] }],
    currentlySelected: 0,
  });
  const step = (text: string, style?: object) => ({
    type: 'contentBlock',
    content: [{ type: 'text', text }],
    genInfo: { identifier: 'qwen3' },
    style,
  });
  const reply = (text: string) => ({ type: 'multiStep', role: 'assistant', steps: [step('hm', { type: 'thinking' }), step(text)] });
  const { chats } = await read(
    createFile('1730000000000.conversation.json', {
      ...{ name: 'Tea', pinned: true, createdAt: 1_730_000_000_000 },
      messages: [user('Tea?'), { versions: [reply('No.'), reply('Yes.')], currentlySelected: 1 }, user('Thanks')],
    }),
  );
  expect(chats[0]?.chat).toMatchObject({ id: 'lm-studio-1730000000000', title: 'Tea', pinned: true });
  expect(chats[0]?.chat.messages.map(({ id, parentId, text, model }) => [id, parentId, text, model])).toEqual([
    ['1.0', '0.0', 'No.', 'qwen3'],
    ['0.0', null, 'Tea?', undefined],
    ['1.1', '0.0', 'Yes.', 'qwen3'],
    ['2.0', '1.1', 'Thanks', undefined],
  ]);
});

verifies('chats.app/import', 'of OpenClaw: transcripts with titles, memory, daily notes and skills', async () => {
  const line = (id: string, parentId: string | null, message: object) => ({
    type: 'message',
    id,
    parentId,
    timestamp: '2026-02-06T07:49:03Z',
    message,
  });
  const { chats, memories, days, skills, rejected, leftOut } = await read(
    await zip({
      '.openclaw/agents/main/sessions/sessions.json': { 'agent:main:main': { sessionId: 's-1', displayName: 'Main', updatedAt: 1 } },
      '.openclaw/agents/main/sessions/s-1.jsonl': lines(
        { type: 'session', version: 3, id: 's-1', timestamp: '2026-02-06T07:49:00Z' },
        { type: 'model_change', id: 'm', parentId: null },
        line('q', 'm', { role: 'user', content: 'Hi' }),
        line('c', 'q', { role: 'assistant', content: [{ type: 'toolCall', name: 'read' }] }),
        line('r', 'c', { role: 'toolResult', content: [{ type: 'text', text: 'file' }] }),
        line('a', 'r', {
          role: 'assistant',
          model: 'gpt',
          content: [
            { type: 'thinking', thinking: 'x' },
            { type: 'text', text: 'Hello' },
          ],
        }),
      ),
      '.openclaw/workspace/MEMORY.md': '# Memory\n\n## Preferences\n- Likes tea\n- Works\n  at night\n',
      '.openclaw/workspace/memory/2026-02-06.md': '# Friday\n\nRain.\n',
      '.openclaw/workspace/SOUL.md': '# Soul\n',
      '.openclaw/openclaw.json': { gateway: { auth: { token: 'secret' } } },
      '.openclaw/logs/run.jsonl': lines({ level: 'info' }),
      '.openclaw/workspace/skills/tea/SKILL.md': '---\nname: tea\n---\nBoil.',
      '.openclaw/workspace/skills/tea/scripts/boil.sh': 'echo',
    }),
  );
  expect(chats.map(({ product, chat }) => [product, chat.id, chat.title, toTexts(chat)])).toEqual([
    [
      'OpenClaw',
      'openclaw-s-1',
      'Main',
      [
        ['user', 'Hi'],
        ['assistant', 'Hello', 'gpt'],
      ],
    ],
  ]);
  expect(chats[0]?.chat.messages.map(({ parentId }) => parentId)).toEqual([null, 'q']);
  expect(memories.map(({ memory: { text, category } }) => [text, category])).toEqual([
    ['Likes tea', 'preference'],
    ['Works\nat night', 'preference'],
  ]);
  expect(rejected).toEqual([]);
  expect(leftOut).toEqual(['openclaw.json', 'run.jsonl', 'SOUL.md']);
  expect(days).toEqual([{ date: '2026-02-06', text: '# Friday\n\nRain.\n' }]);
  expect(skills.map(({ name, files }) => [name, files.map(({ path }) => path)])).toEqual([['tea', ['SKILL.md', 'scripts/boil.sh']]]);
});

verifies('chats.app/import-bad', 'a wrong product, an empty export, a zip cut short, a list cut short', async () => {
  const refusal = (...files: SelectedFile[]) =>
    readImport(files).then(
      () => 'taken',
      (error: { refusal?: string }) => error.refusal,
    );
  expect(await refusal(createFile('package.json', { name: 'x', version: '1' }))).toBe('unknown');
  expect(await refusal(await zip({ 'user.json': {}, 'conversations.json': [] }))).toBe('nothingInside');
  expect(await refusal(await zip({ 'a.md': '# A note', 'b/c.md': 'Another' }))).toBe('notes');
  expect(await refusal(createFile('notes/a.md', '# A note'), createFile('notes/b.md', '# Another'))).toBe('notes');
  const complete = await zip({ 'conversations-000.json': [chatGptChat(1, [['One?'], ['One.']])] });
  expect(await refusal({ path: 'cut.zip', blob: complete.blob.slice(0, complete.blob.size - 30) })).toBe('brokenZip');
  const list = JSON.stringify([chatGptChat(1, [['One?'], ['One.']]), chatGptChat(2, [['Two?'], ['Two.']])]);
  expect(await refusal(createFile('conversations.json', list.slice(0, -1)))).toBe('notJson');
  const { chats, rejected } = await readImport([
    await zip({
      'conversations-000.json': list,
      'conversations-001.json': list.slice(0, -1),
      'conversations-002.json': new Uint8Array([0x5b, 0xff]),
    }),
  ]);
  expect(chats).toHaveLength(2);
  expect(rejected).toEqual([
    { file: 'conversations-001.json', why: 'notJson' },
    { file: 'conversations-002.json', why: 'notUtf8' },
  ]);
});
