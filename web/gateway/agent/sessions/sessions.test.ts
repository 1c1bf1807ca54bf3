import { describe, expect } from 'vitest';
import { sessionEntry } from '#shared/rpc/record-schemas.ts';
import type { MessageRecord } from '../../storage/chat-records.ts';
import { newMessage, newRun, newSession } from '../../storage/fixture.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { createScript, type TestGateway, createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const createDeferred = (): { promise: Promise<void>; resolve: () => void } => Promise.withResolvers<void>();

/** A session in the vault with these messages below one another. */
async function storeSession(gw: TestGateway, sessionId: string, contents: readonly Partial<MessageRecord>[]): Promise<MessageRecord[]> {
  const key = `main/${sessionId}`;
  const messages: MessageRecord[] = [];
  for (const change of contents)
    messages.push(newMessage(`${sessionId}-${messages.length}`, messages.at(-1) ?? null, { sessionKey: key, ...change }));
  const [first, ...rest] = messages;
  if (!first) throw new Error('a session begins with a message');
  await gw.vault.runs.begin({ session: newSession(key), message: first, run: newRun(`run-${sessionId}`, first.id, { sessionKey: key }) });
  await gw.vault.runs.finish({ runId: `run-${sessionId}`, status: 'done', endedAt: 1, messages: rest });
  return messages;
}

describe('sessions', () => {
  verifies(['sessions.list/entries', 'sessions.list/details'], 'what an entry carries; the one used last comes first', async () => {
    const clock = new FakeClock();
    await using gw = await createTestGateway({ clock, model: createScript(['A fine', ' answer']) });
    const { client } = await gw.client();
    const started = clock.now();
    expect(await client.call('sessions.list', {})).toEqual({ sessions: [], total: 0, cursor: null });
    await client.call('chat.send', { message: 'What is a heron?\nAnd a stork?', sessionId: 'birds' });
    clock.advance(5000);
    await client.call('chat.send', { message: 'Name a tree', sessionId: 'trees' });
    const list = async () => sessionEntry.array().parse((await client.call('sessions.list', {})).sessions);
    const [trees, birds] = await list();
    expect(trees).toMatchObject({ sessionId: 'trees', createdAt: started + 5000, updatedAt: started + 5000 });
    expect(birds).toEqual({
      agentId: 'main',
      sessionId: 'birds',
      file: 'birds.jsonl',
      path: 'main/birds.jsonl',
      size: expect.any(Number),
      title: 'What is a heron?',
      createdAt: started,
      updatedAt: started,
      messageCount: 2,
      preview: 'A fine answer',
      pinned: false,
      archived: false,
      folder: null,
      tags: [],
    });
    expect(birds?.size).toBeGreaterThan(100);
    clock.advance(5000);
    await client.call('chat.send', { message: 'More on herons', sessionId: 'birds' });
    const after = await list();
    expect(
      after.map(({ sessionId, messageCount, updatedAt, createdAt }) => [sessionId, messageCount, updatedAt - started, createdAt - started]),
    ).toEqual([
      ['birds', 4, 10_000, 0],
      ['trees', 2, 5000, 5000],
    ]);
    expect(after[0]?.size).toBeGreaterThan(birds?.size ?? Infinity);
  });

  verifies('sessions.list/details', 'a session with a run under way says so', async () => {
    const gate = createDeferred();
    await using gw = await createTestGateway({ model: () => ['half', { wait: gate.promise }] });
    const { client, events } = await gw.client();
    const pendingSend = client.call('chat.send', { message: 'hi' });
    await waitFor(() => events.some(({ event }) => event === 'chat.delta'));
    expect((await client.call('sessions.list', {})).sessions).toMatchObject([{ sessionId: 'main', running: true }]);
    gate.resolve();
    await pendingSend;
    expect((await client.call('sessions.list', {})).sessions[0]).not.toHaveProperty('running');
  });

  verifies('sessions.preview/messages', 'the last ones, oldest first: 50, or as many as asked for', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const messages = await storeSession(
      gw,
      'long',
      Array.from({ length: 250 }, () => ({})),
    );
    const ids = messages.map(({ id }) => id);
    const preview = async (limit?: number): Promise<string[]> =>
      (await client.call('sessions.preview', { path: 'main/long.jsonl', ...(limit === undefined ? {} : { limit }) })).messages.map(
        ({ id }) => id,
      );
    expect(await preview()).toEqual(ids.slice(-50));
    expect(await preview(1)).toEqual(ids.slice(-1));
    expect(await preview(200)).toEqual(ids.slice(-200));
    for (const limit of [0, 201, 1.5]) await expect(preview(limit)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    const [message] = (await client.call('sessions.preview', { path: 'main/long.jsonl', limit: 1 })).messages;
    // Nothing of how it is kept.
    expect(message).toEqual({ id: 'long-249', role: 'user', content: 'text of long-249', timestamp: 1000, parentId: 'long-248' });
  });

  verifies('sessions.delete/deletes', 'the entry and the messages are gone, all are told, and the name is free again', async () => {
    await using gw = await createTestGateway();
    const { client, events } = await gw.client();
    const { messageId } = await client.call('chat.send', { message: 'hi', sessionId: 'a' });
    await client.call('chat.send', { message: 'hi', sessionId: 'b' });
    const path = 'main/a.jsonl';
    expect(await client.call('sessions.delete', { path })).toMatchObject({ deleted: true });
    expect((await client.call('sessions.list', {})).sessions.map(({ sessionId }) => sessionId)).toEqual(['b']);
    expect(await gw.vault.messages.get(messageId)).toBeUndefined();
    expect(events.findLast(({ event }) => event === 'sessions.changed')?.payload).toEqual({
      path,
      agentId: 'main',
      sessionId: 'a',
      deleted: true,
    });
    await expect(client.call('sessions.delete', { path })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(client.call('chat.history', { sessionId: 'a' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await client.call('chat.send', { message: 'anew', sessionId: 'a' });
    expect((await client.call('chat.history', { sessionId: 'a' })).messages.map(({ content }) => content)).toEqual(['anew', 'Hello there']);
  });

  for (const method of ['sessions.delete', 'sessions.reset'] as const) {
    verifies(
      ['sessions.delete/deletes', 'sessions.reset/keeps-entry'],
      `${method} ends what is under way and what waits, and neither writes any more`,
      async () => {
        await using gw = await createTestGateway({ model: () => ['half', { wait: new Promise(() => {}) }] });
        const { client, events } = await gw.client();
        const runs = [client.call('chat.send', { message: 'first' }), client.call('chat.send', { message: 'waits' })];
        const ends = Promise.allSettled(runs);
        await waitFor(() => events.some(({ event }) => event === 'chat.delta'));
        await client.call(method, { path: 'main/main.jsonl' });
        expect(await ends).toMatchObject([
          { status: 'rejected', reason: { code: 'ABORTED' } },
          { status: 'rejected', reason: { code: 'ABORTED' } },
        ]);
        expect(gw.calls.map(({ signal }) => signal.aborted)).toEqual([true]);
        const { sessions } = await client.call('sessions.list', {});
        expect(sessions.map(({ messageCount, running }) => [messageCount, running])).toEqual(
          method === 'sessions.delete' ? [] : [[0, undefined]],
        );
        expect(await gw.vault.messages.recent(10)).toEqual([]);
        expect(await gw.vault.runs.unfinished()).toEqual([]);
        expect(gw.faults).toEqual([]);
      },
    );
  }

  verifies(
    'sessions.reset/keeps-entry',
    'the content goes, title and time of creation stay, and the chat goes on from nothing',
    async () => {
      const clock = new FakeClock();
      await using gw = await createTestGateway({ clock });
      const { client } = await gw.client();
      await client.call('chat.send', { message: 'hi' });
      await client.call('sessions.rename', { path: 'main/main.jsonl', title: 'Kept' });
      const [before] = (await client.call('sessions.list', {})).sessions;
      clock.advance(1000);
      expect(await client.call('sessions.reset', { path: 'main/main.jsonl' })).toMatchObject({ reset: true });
      const [after] = (await client.call('sessions.list', {})).sessions;
      expect(after).toEqual({ ...before, size: 0, messageCount: 0, preview: '', updatedAt: clock.now() });
      expect(await client.call('chat.history', { sessionId: 'main' })).toEqual({ messages: [], versions: {}, cursor: null, runs: [] });
      await client.call('chat.send', { message: 'again' });
      expect(gw.calls[1]?.body.messages.map(({ content }) => content).slice(1)).toEqual(['again']);
      expect((await client.call('sessions.list', {})).sessions).toMatchObject([{ title: 'Kept', messageCount: 2 }]);
    },
  );

  verifies('sessions.list/details', 'the title is the first line of the message, without emphasis marks', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    for (const [sessionId, message, title] of [
      ['a', '**plan** the *whole* week, _please_\nfrom Monday', 'plan the whole week, please'],
      ['b', '***All*** of “**it**”', 'All of “it”'],
      ['c', 'What is 2 * 3 * 4, and *.ts or *.js?', 'What is 2 * 3 * 4, and *.ts or *.js?'],
      ['d', 'a*b*c, snake_case_name and __init__', 'a*b*c, snake_case_name and __init__'],
      ['e', `**${'word '.repeat(11)}word** and more`, `${'word '.repeat(10)}word word…`],
      ['f', '\u202eherons \u2066stand\u2069', 'herons stand'],
    ] as const) {
      await client.call('chat.send', { sessionId, message });
      const { sessions } = await client.call('sessions.list', { paths: [`main/${sessionId}.jsonl`] });
      expect(sessions[0]?.title).toBe(title);
    }
  });

  verifies(
    'sessions.list/details',
    'a folder reads in the order that it has, as do a provider and a page of the wiki beside their words',
    async () => {
      const TURNED = '\u202eherons \u2066stand\u2069';
      await using gw = await createTestGateway();
      const { client } = await gw.client();
      await client.call('chat.send', { sessionId: 'a', message: 'x' });
      await client.call('sessions.move', { path: 'main/a.jsonl', folder: `${TURNED}/still` });
      expect((await client.call('sessions.list', { folder: 'herons stand' })).sessions[0]?.folder).toBe('herons stand/still');
      await client.call('config.patch', { patch: { providers: { p: { name: TURNED, baseUrl: 'http://p.test/v1' } } } });
      expect((await client.call('models.providers', {})).providers.find(({ id }) => id === 'p')?.name).toBe('herons stand');
      for (const page of [{ content: `# ${TURNED}\n` }, { content: '', title: TURNED }])
        expect((await client.call('wiki.savePage', { path: 'a', ...page })).page.title).toBe('herons stand');
    },
  );

  verifies('sessions.list/details', 'a title is visible text, even if a message or a stored chat has none', async () => {
    const UNSEEN = '\u200b\u2060\u3164';
    await using gw = await createTestGateway({ model: createScript(['ok']) });
    const { client } = await gw.client();
    const getTitle = async (sessionId: string): Promise<string | undefined> =>
      (await client.call('sessions.list', {})).sessions.find((each) => each.sessionId === sessionId)?.title;
    await client.call('chat.send', { message: UNSEEN, sessionId: 'unseen' });
    await client.call('chat.send', { message: `${UNSEEN}\n\nHerons`, sessionId: 'below' });
    const attachments = [{ filename: 'heron.txt', content: btoa('a heron'), mimeType: 'text/plain' }];
    await client.call('chat.send', { message: UNSEEN, sessionId: 'file', attachments });
    expect([await getTitle('unseen'), await getTitle('below'), await getTitle('file')]).toEqual(['New chat', 'Herons', 'heron.txt']);
    await storeSession(gw, 'stored', [{ content: 'x' }]);
    await gw.vault.sessions.update('main/stored', { title: UNSEEN });
    expect(await getTitle('stored')).toBe('New chat');
    for (const [method, params] of [
      ['agents.add', { agent_id: 'a', config: { name: UNSEEN } }],
      ['keys.create', { name: UNSEEN }],
      ['device.initiate', { deviceName: UNSEEN }],
      ['drawings.create', { title: UNSEEN }],
      ['sessions.rename', { path: 'main/stored.jsonl', title: UNSEEN }],
      ['sessions.move', { path: 'main/stored.jsonl', folder: UNSEEN }],
      ['sessions.tag', { path: 'main/stored.jsonl', tags: [UNSEEN] }],
      ['cron.add', { name: UNSEEN, cron: '0 9 * * *', message: 'x' }],
    ] as const) {
      await expect(client.request(method, params), method).rejects.toMatchObject({ code: 'INVALID_PARAMS', message: /can be seen/ });
    }
  });

  verifies('sessions.rename/title', 'it outlives further messages and the host', async () => {
    await using gw = await createTestGateway();
    const { client, events } = await gw.client();
    await client.call('chat.send', { message: 'first words' });
    const path = 'main/main.jsonl';
    expect(await client.call('sessions.rename', { path, title: '  A name — 名前 ' })).toMatchObject({
      session: { path, title: 'A name — 名前' },
    });
    expect(events.findLast(({ event }) => event === 'sessions.changed')?.payload).toMatchObject({ path });
    const pasted = { path, title: '\nOne \r\n and\u2028two\n' };
    expect(await client.call('sessions.rename', pasted)).toMatchObject({ session: { title: 'One and two' } });
    await client.call('sessions.rename', { path, title: 'A name — 名前' });
    await client.call('chat.send', { message: 'other words' });
    await using next = await createTestGateway({ vault: gw.vault });
    const { client: later } = await next.client();
    expect((await later.call('sessions.list', {})).sessions).toMatchObject([{ title: 'A name — 名前', messageCount: 4 }]);
    for (const title of ['', '   ', ' \n ', '\u200b\u2060', 'x'.repeat(201)]) {
      await expect(later.call('sessions.rename', { path, title })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    }
  });

  verifies('sessions/order', 'and wrong ones change nothing', async () => {
    await using gw = await createTestGateway();
    const { client, events } = await gw.client();
    await client.call('chat.send', { message: 'first words' });
    const path = 'main/main.jsonl';
    const steps: [method: string, params: Record<string, unknown>, expected: object][] = [
      ['pin', {}, { pinned: true }],
      ['pin', { pinned: false }, { pinned: false }],
      ['pin', { pinned: true }, { pinned: true }],
      ['archive', {}, { archived: true }],
      ['archive', { archived: false }, { archived: false }],
      ['move', { folder: 'Work/名前' }, { folder: 'Work/名前' }],
      ['move', { folder: null }, { folder: null }],
      ['move', { folder: ' Work ' }, { folder: 'Work' }],
      ['tag', { tags: ['a', ' b ', 'a'] }, { tags: ['a', 'b'] }],
    ];
    for (const [method, params, expected] of steps) {
      const eventCount = events.length;
      expect(await client.request(`sessions.${method}`, { path, ...params }), method).toMatchObject({ session: { path, ...expected } });
      await waitFor(() => events.slice(eventCount).some(({ event, payload }) => event === 'sessions.changed' && payload.path === path));
    }
    const wrong: [method: string, params: Record<string, unknown>][] = [
      ['pin', { pinned: 'yes' }],
      ['archive', { archived: 1 }],
      ['move', {}],
      ...['', ' ', '/', 'a//b', '/a', 'a/', 'x'.repeat(301), 5].map((folder): [string, Record<string, unknown>] => ['move', { folder }]),
      ...[undefined, 'a', [''], ['x'.repeat(51)], [5], Array.from({ length: 51 }, String)].map(
        (tags): [string, Record<string, unknown>] => ['tag', { tags }],
      ),
    ];
    for (const [method, params] of wrong) {
      await expect(client.request(`sessions.${method}`, { path, ...params }), JSON.stringify([method, params])).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
      });
    }
    for (const method of ['pin', 'archive', 'move', 'tag']) {
      const params = { path: 'main/none.jsonl', ...(method === 'move' ? { folder: null } : method === 'tag' ? { tags: [] } : {}) };
      await expect(client.request(`sessions.${method}`, params)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
    await client.call('chat.send', { message: 'other words' });
    await using next = await createTestGateway({ vault: gw.vault });
    const { client: later } = await next.client();
    expect((await later.call('sessions.list', {})).sessions).toMatchObject([
      { pinned: true, archived: false, folder: 'Work', tags: ['a', 'b'] },
    ]);
  });

  verifies('sessions/path', 'anything that is not the key of a session is NOT_FOUND', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'hi' });
    const wrong = [
      '',
      'main',
      'main/main',
      'main/main.json',
      'main/main.jsonl.bak',
      'main/main.jsonl\n',
      '/main/main.jsonl',
      './main/main.jsonl',
      'main/../main/main.jsonl',
      '../../etc/passwd',
      'main\\main.jsonl',
      'main/main/main.jsonl',
      'main//main.jsonl',
      'main/%6dain.jsonl',
      'MAIN/main.jsonl',
      'main/none.jsonl',
      'none/main.jsonl',
      '__proto__/constructor.jsonl',
      `main/${'x'.repeat(129)}.jsonl`,
    ];
    for (const path of wrong) {
      for (const [method, params] of [
        ['sessions.preview', { path }],
        ['sessions.delete', { path }],
        ['sessions.reset', { path }],
        ['sessions.rename', { path, title: 'x' }],
      ] as const) {
        await expect(client.request(method, params), `${method} ${path}`).rejects.toMatchObject({ code: 'NOT_FOUND' });
      }
    }
    expect((await client.call('sessions.preview', { path: 'main/main.jsonl' })).messages).toHaveLength(2);
    expect(gw.faults).toEqual([]);
  });
});

describe('chat.history', () => {
  verifies('chat.history/pages', '200 by default, 1,000 at most; the cursor leads on without a gap, then is null', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const ids = (
      await storeSession(
        gw,
        'long',
        Array.from({ length: 1205 }, () => ({})),
      )
    ).map(({ id }) => id);
    const page = async (options: { limit?: number; before?: string } = {}) =>
      client.call('chat.history', { sessionId: 'long', ...options });
    expect((await page()).messages.map(({ id }) => id)).toEqual(ids.slice(-200));
    expect((await page({ limit: 1000 })).messages).toHaveLength(1000);
    for (const limit of [0, -1, 1001]) await expect(page({ limit })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    const pages: string[][] = [];
    for (let before: string | null | undefined; before !== null;) {
      const { messages, cursor }: { messages: { id: string }[]; cursor: string | null } = await page({
        limit: 500,
        ...(before === undefined ? {} : { before }),
      });
      pages.unshift(messages.map(({ id }) => id));
      before = cursor;
    }
    expect(pages.map(({ length }) => length)).toEqual([205, 500, 500]);
    expect(pages.flat()).toEqual(ids);
    await storeSession(gw, 'other', [{}]);
    for (const before of ['other-0', 'none', '__proto__']) await expect(page({ before })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await page({ before: 'long-0' })).toMatchObject({ messages: [], cursor: null });
  });

  verifies('chat.history/pages', 'a message over 128 KiB is a placeholder with its size; what text fits stays', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const small = 'x'.repeat(127 * KIB);
    const picture = { type: 'image' as const, mimeType: 'image/png', data: 'A'.repeat(200 * KIB) };
    const call = { id: 'c', tool: 'write', args: { text: 'y'.repeat(9 * MIB) } };
    await storeSession(gw, 'large', [
      { content: small },
      { content: 'x'.repeat(300 * KIB) },
      // Fewer characters than the limit, more bytes.
      { content: '漢'.repeat(100 * KIB) },
      {
        content: [{ type: 'text', text: 'look at this' }, picture],
        attachments: [{ filename: 'a.png', mimeType: 'image/png', size: 150 * KIB }],
      },
      { role: 'assistant', content: 'I write', toolCalls: [call] },
    ]);
    for (const { messages } of [
      await client.call('chat.history', { sessionId: 'large' }),
      await client.call('sessions.preview', { path: 'main/large.jsonl' }),
    ]) {
      expect(messages.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4].map((at) => `large-${at}`));
      const [fullMessage, long, wide, pictured, called] = messages;
      expect(fullMessage?.content).toBe(small);
      expect(long?.content).toBe('[300 KiB left out here]');
      expect(wide?.content).toBe('[300 KiB left out here]');
      expect(pictured?.content).toBe('look at this\n\n[200 KiB left out here]');
      expect(pictured?.attachments).toEqual([{ filename: 'a.png', mimeType: 'image/png', size: 150 * KIB }]);
      expect(called).toMatchObject({ content: 'I write\n\n[9,216 KiB left out here]', toolCalls: [{ id: 'c', tool: 'write', args: {} }] });
      expect(messages.map(({ leftOut }) => leftOut?.text)).toEqual([undefined, true, true, false, false]);
      for (const message of messages) expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThanOrEqual(128 * KIB);
    }
    // Only the response is shortened: the store has the whole text and returns it.
    expect((await gw.vault.messages.get('large-1'))?.content).toHaveLength(300 * KIB);
    const text = (messageId: string) => client.call('chat.text', { sessionId: 'large', messageId });
    expect(await text('large-2')).toEqual({ text: '漢'.repeat(100 * KIB) });
    expect(await text('large-3')).toEqual({ text: 'look at this' });
    await expect(text('none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(client.call('chat.text', { sessionId: 'main', messageId: 'large-2' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  verifies('chat.history/pages', 'over 8 MiB the rest is left for the next page', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const ids = (
      await storeSession(
        gw,
        'heavy',
        Array.from({ length: 100 }, () => ({ content: 'x'.repeat(120 * KIB) })),
      )
    ).map(({ id }) => id);
    const first = await client.call('chat.history', { sessionId: 'heavy' });
    const bytes = Buffer.byteLength(JSON.stringify(first.messages));
    expect(bytes).toBeLessThanOrEqual(8 * MIB + KIB);
    // One more would not have had room.
    expect(bytes).toBeGreaterThan(8 * MIB - 121 * KIB);
    expect(first.cursor).toBe(first.messages[0]?.id);
    const second = await client.call('chat.history', { sessionId: 'heavy', before: first.cursor ?? '' });
    expect(second.cursor).toBeNull();
    expect([...second.messages, ...first.messages].map(({ id }) => id)).toEqual(ids);
  });
});
