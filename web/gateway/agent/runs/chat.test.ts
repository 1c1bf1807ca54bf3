import { describe, expect, vi } from 'vitest';
import type { EventFrame } from '#shared/rpc/frames.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { type ModelScript, createScript, type TestGateway, createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';

const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';

const getDeltaText = (events: EventFrame[], runId: unknown): string =>
  events.flatMap(({ event, payload }) => (event === 'chat.delta' && payload.runId === runId ? [String(payload.delta)] : [])).join('');
const getTerminalEvents = (events: EventFrame[]): EventFrame[] =>
  events.filter(({ event }) => event === 'chat.done' || event === 'chat.error');
const createDeferred = (): { promise: Promise<void>; resolve: () => void } => Promise.withResolvers<void>();

async function getHistory(gw: TestGateway, sessionId = 'main') {
  const { client } = await gw.client();
  return (await client.call('chat.history', { sessionId })).messages;
}

describe('chat.send', () => {
  verifies(['chat.send/streams', 'chat.send/result', 'chat.send/defaults'], 'deltas, done, and the answer at the end', async () => {
    await using gw = await createTestGateway({ model: createScript(['Hel', 'lo']) });
    const { client, events } = await gw.client();
    const done = await client.call('chat.send', { message: 'hi' });
    expect(done).toMatchObject({ completed: true, sessionId: 'main', usage: { estimated: true } });
    expect(getDeltaText(events, done.runId)).toBe('Hello');
    expect(getTerminalEvents(events)).toMatchObject([
      { event: 'chat.done', payload: { runId: done.runId, agentId: 'main', messageId: done.messageId } },
    ]);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(await getHistory(gw)).toMatchObject([
      { role: 'user', content: 'hi', parentId: null },
      { role: 'assistant', content: 'Hello', id: done.messageId, model: 'test/scripted' },
    ]);
    expect(gw.faults).toEqual([]);
  });

  verifies(
    ['chat.send/sanitize', 'chat.send/prepares', 'chat.send/time-context'],
    'the model gets the time, the store gets the clean message',
    async () => {
      await using gw = await createTestGateway({ clock: new FakeClock(Date.UTC(2026, 10, 21, 9, 30)) });
      const { client } = await gw.client();
      await client.call('config.set', { key: 'chat.timeZone', value: 'Europe/Berlin' });
      await client.call('chat.send', { message: 'caf\u0065\u0301\u0007\tx\r\ny' });
      await expect(client.call('chat.send', { message: 'a\0b' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
      await expect(client.call('chat.send', { message: '\u0007 ' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
      const [system, user] = gw.calls[0]?.body.messages ?? [];
      expect(gw.calls[0]?.context).toContain('21 November 2026 at 10:30');
      expect(String(system?.content)).not.toContain('2026');
      expect(user?.content).toBe('caf\u00e9\tx\ny');
      const messages = await getHistory(gw);
      expect(messages[0]?.content).toBe('caf\u00e9\tx\ny');
      expect(JSON.stringify(messages)).not.toContain('2026 at');
    },
  );

  verifies('chat.send/time-context', 'and its tool tells the time by the same clock', async () => {
    await using gw = await createTestGateway({
      clock: new FakeClock(Date.UTC(2026, 10, 21, 9, 30)),
      model: (_call, count) => (count === 1 ? [{ tool: 'current_time', args: {} }] : ['Half past six.']),
    });
    const { client } = await gw.client();
    await client.call('config.set', { key: 'chat.timeZone', value: 'Asia/Tokyo' });
    await client.call('chat.send', { message: 'What time is it?' });
    const toolResult = (await getHistory(gw)).find(({ role }) => role === 'tool')?.content;
    expect(JSON.parse(String(toolResult))).toMatchObject({ timeZone: 'Asia/Tokyo', local: expect.stringContaining('18:30') as string });
  });

  verifies('chat.send/queue', 'the second message waits for the first reply and follows it', async () => {
    const gate = createDeferred();
    await using gw = await createTestGateway({ model: (_call, count) => (count === 1 ? ['one', { wait: gate.promise }] : ['two']) });
    const { client, events } = await gw.client();
    const first = client.call('chat.send', { message: 'a' });
    await waitFor(() => events.some(({ event }) => event === 'chat.delta'));
    const second = client.call('chat.send', { message: 'b' });
    const other = await client.call('chat.send', { message: 'elsewhere', sessionId: 'other' });
    expect(gw.calls).toHaveLength(2);
    expect(other.completed).toBe(true);
    gate.resolve();
    await Promise.all([first, second]);
    expect((await getHistory(gw)).map(({ content }) => content)).toEqual(['a', 'one', 'b', 'two']);
  });

  verifies('chat.send/abort-previous', 'the earlier run has settled before the new one begins', async () => {
    await using gw = await createTestGateway({
      model: (_call, count) => (count === 1 ? ['half', { wait: new Promise(() => {}) }] : ['new']),
    });
    const { client, events } = await gw.client();
    const first = client.call('chat.send', { message: 'a' });
    first.catch(() => {});
    await waitFor(() => events.some(({ event }) => event === 'chat.delta'));
    await client.call('chat.send', { message: 'b', abortPrevious: true });
    await expect(first).rejects.toMatchObject({ code: 'ABORTED' });
    expect((await getHistory(gw)).map(({ content, aborted }) => [content, aborted])).toEqual([
      ['a', undefined],
      ['half', true],
      ['b', undefined],
      ['new', undefined],
    ]);
  });

  verifies('chat.send/wordless', 'an attachment without words is sent, and names the chat', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const png = { filename: 'holiday.png', mimeType: 'image/png', content: PIXEL.split(',')[1] ?? '' };
    await client.call('chat.send', { message: '', attachments: [png] });
    await client.call('chat.send', { message: ' \n', attachments: [{ ...png, filename: 'b.png' }] });
    const sent = gw.calls.at(-1)?.body.messages.filter(({ role }) => role === 'user');
    expect(sent?.map(({ content }) => content)).toEqual([
      [{ type: 'image_url', image_url: { url: PIXEL } }],
      [{ type: 'image_url', image_url: { url: PIXEL } }],
    ]);
    const { messages } = await client.call('chat.history', { sessionId: 'main' });
    expect(messages[0]).toMatchObject({ content: [{ type: 'image' }], attachments: [{ filename: 'holiday.png' }] });
    expect((await client.call('sessions.list', {})).sessions[0]).toMatchObject({ title: 'holiday.png' });
    for (const nothing of [{ message: '' }, { message: ' ', attachments: [] }])
      await expect(client.request('chat.send', nothing)).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: '`message` must not be empty.',
      });
  });

  verifies('chat.send/attachments', 'kept as parts, refused when too large or broken', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const png = { filename: 'a.png', mimeType: 'image/png', content: btoa('not really a picture') };
    await client.call('chat.send', { message: 'look', attachments: [png] });
    expect(await getHistory(gw)).toMatchObject([
      {
        content: [
          { type: 'text', text: 'look' },
          { type: 'image', mimeType: 'image/png' },
        ],
        attachments: [{ filename: 'a.png', size: 20 }],
      },
      {},
    ]);
    await client.call('chat.send', { message: 'again', attachments: [{ ...png, filename: '\u202egnp.exe' }] });
    expect((await getHistory(gw))[2]).toMatchObject({ content: [{}, { filename: 'gnp.exe' }], attachments: [{ filename: 'gnp.exe' }] });
    const refused = async (attachment: object): Promise<string> =>
      client.call('chat.send', { message: 'x', attachments: [{ filename: 'f', mimeType: 'image/png', ...attachment } as typeof png] }).then(
        () => 'accepted',
        (error: Error) => error.message,
      );
    expect(await refused({ content: '!!!' })).toContain('not valid base64');
    expect(await refused({ content: 'A'.repeat(9 * 1024 * 1024) })).toContain('6 MB');
    expect(await refused({ content: 'AAAA', size: 99 })).toContain('99 bytes');
    expect(await refused({})).toContain('content');
    expect(await getHistory(gw)).toHaveLength(4);
  });
});

describe('runs', () => {
  verifies(
    ['chat.abort/keeps-partial', 'chat.abort/aborts', 'chat.abort/reaches-provider', 'runs/one-terminal-event'],
    'in the middle of a reply',
    async () => {
      await using gw = await createTestGateway({ model: createScript(['par', 'tial', { wait: new Promise(() => {}) }]) });
      const { client, events } = await gw.client();
      const pendingSend = client.call('chat.send', { message: 'hi' });
      pendingSend.catch(() => {});
      await waitFor(() => getDeltaText(events, events.find(({ event }) => event === 'chat.delta')?.payload.runId) === 'partial');
      const { aborted, runIds } = await client.call('chat.abort', { sessionId: 'main' });
      expect(aborted).toBe(true);
      await expect(pendingSend).rejects.toMatchObject({ code: 'ABORTED' });
      expect(gw.calls[0]?.signal.aborted).toBe(true);
      expect(getTerminalEvents(events)).toMatchObject([{ event: 'chat.error', payload: { runId: runIds[0], error: { code: 'ABORTED' } } }]);
      expect((await getHistory(gw))[1]).toMatchObject({ role: 'assistant', content: 'partial', aborted: true });
      expect(await client.call('chat.abort', { sessionId: 'main' })).toEqual({ aborted: false, runIds: [] });
    },
  );

  verifies('runs/one-terminal-event', 'the provider refuses, cuts, or says nothing useful', async () => {
    const modelSteps = [
      [{ status: 500, body: 'boom' }],
      ['half', { cut: true }],
      [{ status: 401, body: '{"error":{"message":"bad key"}}' }],
      ['ok'],
    ] as const;
    await using gw = await createTestGateway({
      clock: new FakeClock(),
      model: (call) => modelSteps[Number(call.body.messages.at(-1)?.content)] ?? [],
    });
    const { client, events } = await gw.client();
    for (const index of [1, 2]) {
      const failure = await client.call('chat.send', { message: String(index), sessionId: `s${index}` }).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'INTERNAL_ERROR' });
    }
    await client.call('chat.send', { message: '3', sessionId: 's3' });
    expect(getTerminalEvents(events).map(({ event, payload }) => [payload.sessionId, event])).toEqual([
      ['s1', 'chat.error'],
      ['s2', 'chat.error'],
      ['s3', 'chat.done'],
    ]);
    expect((await getHistory(gw, 's1'))[1]).toMatchObject({ content: 'half', error: { code: 'INTERNAL_ERROR' } });
    expect(gw.faults).toEqual([]);
  });

  verifies('runs/silent-provider', 'ends after 60 s of silence, with what had come', async () => {
    const clock = new FakeClock();
    await using gw = await createTestGateway({ clock, model: createScript(['so far', { wait: new Promise(() => {}) }]) });
    const { client, events } = await gw.client();
    const pendingSend = client.call('chat.send', { message: 'hi' });
    pendingSend.catch(() => {});
    await waitFor(() => events.some(({ event }) => event === 'chat.delta'));
    clock.advance(59_000);
    expect(getTerminalEvents(events)).toEqual([]);
    clock.advance(2_000);
    await expect(pendingSend).rejects.toMatchObject({ code: 'INTERNAL_ERROR', message: expect.stringContaining('60 s') });
    expect(getTerminalEvents(events)).toHaveLength(1);
    expect((await getHistory(gw))[1]).toMatchObject({ content: 'so far' });
  });

  verifies('runs/belongs-to-session', 'the client leaves, the reply is stored', async () => {
    const gate = createDeferred();
    await using gw = await createTestGateway({ model: createScript(['a', { wait: gate.promise }, 'b']) });
    const { client, events } = await gw.client();
    client.call('chat.send', { message: 'hi' }).catch(() => {});
    await waitFor(() => events.some(({ event }) => event === 'chat.delta'));
    client.close();
    const late = await gw.client();
    const { runs } = await late.client.call('chat.history', { sessionId: 'main' });
    expect(runs).toMatchObject([{ text: 'a' }]);
    gate.resolve();
    await waitFor(() => getTerminalEvents(late.events).length === 1);
    expect(late.events.find(({ event }) => event === 'chat.delta')?.payload).toMatchObject({ delta: 'b', offset: 1 });
    expect((await getHistory(gw))[1]).toMatchObject({ content: 'ab' });
  });

  verifies('runs/interrupted', 'a host that starts finds the run of one that died', async () => {
    const clock = new FakeClock();
    const gw = await createTestGateway({ clock, model: createScript(['kept', { wait: new Promise(() => {}) }]) });
    const { client, events } = await gw.client();
    client.call('chat.send', { message: 'hi' }).catch(() => {});
    await waitFor(() => events.some(({ event }) => event === 'chat.delta'));
    clock.advance(1_100);
    // The first host is left as it is: dead, nothing closed.
    await using next = await createTestGateway({ vault: gw.vault, model: createScript(['again']) });
    expect(await getHistory(next)).toMatchObject([{ content: 'hi' }, { content: 'kept', interrupted: true }]);
    const { client: after } = await next.client();
    await after.call('chat.resend', {});
    expect(await getHistory(next)).toMatchObject([{ content: 'hi' }, { content: 'again' }]);
  });

  verifies(
    'runs/interrupted',
    'the steps of one that died are in the history, with the results that had come; the next reply knows of them',
    async () => {
      const call = { tool: 'memory_add', args: { text: 'Tea' } };
      const gw = await createTestGateway({
        model: (_call, count) => (count === 1 ? ['I note it. ', call] : ['Now', { wait: new Promise(() => {}) }]),
      });
      const { client, events } = await gw.client();
      await client.call('config.set', { key: 'tools.policies', value: { 'memory_*': 'auto' } });
      client.call('chat.send', { message: 'hi' }).catch(() => {});
      await waitFor(() => events.filter(({ event }) => event === 'chat.delta').length === 2);
      // The first host is left as it is: dead, nothing closed.
      await using next = await createTestGateway({ vault: gw.vault, model: createScript(['done']) });
      const { client: after } = await next.client();
      await after.call('chat.send', { message: 'go on' });
      expect(next.calls[0]?.body.messages.slice(1)).toMatchObject([
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'I note it. ', tool_calls: [{ function: { name: 'memory_add' } }] },
        { role: 'tool', content: expect.stringContaining('Tea') as string },
        { role: 'user' },
      ]);
    },
  );

  verifies(
    ['runs/interrupted', 'chat.resend/regenerates', 'chat.edit/reruns'],
    'a message whose run died gets a new reply, and messages after a dead run include its steps, however it began',
    async () => {
      const dying: ModelScript = (_call, count) =>
        count === 2 ? ['Let me see. ', { tool: 'current_time', args: {} }] : count === 3 ? [{ wait: new Promise(() => {}) }] : ['fine'];
      const steps = [
        { role: 'assistant', content: 'Let me see. ', tool_calls: [{ function: { name: 'current_time' } }] },
        { role: 'tool', content: expect.stringContaining('timeZone') as string },
      ];
      const user = (content: string) => ({ role: 'user', content });
      for (const [firstStep, then, expectedEvents] of [
        ['chat.resend', 'chat.send', [user('hi'), ...steps, user('go on')]],
        ['chat.edit', 'chat.send', [user('hello'), ...steps, user('go on')]],
        ['chat.resend', 'chat.resend', [user('hi')]],
        ['chat.edit', 'chat.edit', [user('go on')]],
      ] as const) {
        const gw = await createTestGateway({ model: dying });
        const { client } = await gw.client();
        await client.call('chat.send', { message: 'hi' });
        client.request(firstStep, firstStep === 'chat.edit' ? { message: 'hello' } : {}).catch(() => {});
        await waitFor(() => gw.calls.length === 3);
        // The first host stays as after a crash, with nothing closed.
        await using next = await createTestGateway({ vault: gw.vault, model: createScript(['done']) });
        await (await next.client()).client.request(then, then === 'chat.resend' ? {} : { message: 'go on' });
        const { messages } = next.calls[0]?.body ?? { messages: [] };
        expect(
          messages.slice(1).map(({ role }) => role),
          `${firstStep}, ${then}`,
        ).toEqual(expectedEvents.map(({ role }) => role));
        expect(messages.slice(1), `${firstStep}, ${then}`).toMatchObject(expectedEvents);
      }
    },
  );

  verifies('usage/figures', 'stored with the reply', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const { usage } = await client.call('chat.send', { message: 'hi' });
    expect(usage.totalTokens).toBe(usage.inputTokens + usage.outputTokens);
    expect((await getHistory(gw))[1]?.usage).toEqual(usage);
    await waitFor(async () => (await gw.vault.usage.since(0)).length === 1);
  });
});

describe('usage of a reply', () => {
  verifies('usage/reply', 'the time of all its steps, the tokens of the last', async () => {
    const clock = new FakeClock();
    const gate = createDeferred();
    await using gw = await createTestGateway({
      clock,
      model: (_call, count) => (count === 1 ? [{ tool: 'current_time', args: {} }] : [{ wait: gate.promise }, 'Noon.']),
    });
    const { client } = await gw.client();
    const pendingSend = client.call('chat.send', { message: 'What time is it?' });
    await waitFor(() => gw.calls.length === 2);
    clock.advance(5000);
    gate.resolve();
    const { usage } = await pendingSend;
    const [, called, , reply] = await getHistory(gw);
    expect(reply).toMatchObject({ content: 'Noon.', elapsedMs: 5000 });
    expect(called).not.toHaveProperty('elapsedMs');
    // Both steps were asked with the message; the last one with the result of the tool too.
    expect(reply?.contextTokens).toBeGreaterThan(usage.totalTokens / 2);
    expect(reply?.contextTokens).toBeLessThan(usage.totalTokens);
  });
});

describe('tools', () => {
  verifies('chat.send/streams', 'a tool call, its result, and the answer made from it', async () => {
    await using gw = await createTestGateway({
      model: (_call, count) => (count === 1 ? ['Let me see. ', { tool: 'current_time', args: {} }] : ['It is late.']),
    });
    const { client, events } = await gw.client();
    await client.call('chat.send', { message: 'time?' });
    expect(
      events.filter(({ event }) => event.startsWith('chat.tool')).map(({ event, payload }) => [event, payload.tool ?? payload.tools]),
    ).toEqual([
      ['chat.tool_pending', ['current_time']],
      ['chat.tool_call', 'current_time'],
      ['chat.tool_result', 'current_time'],
    ]);
    expect((await getHistory(gw)).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(gw.calls[1]?.body.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
  });

  verifies('runs/interrupted', 'a step is stored once, and each of its results separately', async () => {
    const calls = [1, 2, 3].map(() => ({ tool: 'current_time', args: {} }));
    await using gw = await createTestGateway({ model: (_call, count) => (count === 1 ? calls : ['late']) });
    const { client } = await gw.client();
    const [steps, results] = [vi.spyOn(gw.vault.runs, 'saveStep'), vi.spyOn(gw.vault.runs, 'saveResult')];
    await client.call('chat.send', { message: 'time?' });
    expect(steps.mock.calls.map(([{ results: come }]) => come.size)).toEqual([0]);
    expect(results.mock.calls.map(([{ at }]) => at).sort()).toEqual([2, 3, 4]);
  });

  verifies('runs/one-terminal-event', 'an unknown tool is reported to the model instead of thrown', async () => {
    await using gw = await createTestGateway({ model: (_call, count) => (count === 1 ? [{ tool: 'constructor', args: {} }] : ['sorry']) });
    const { client, events } = await gw.client();
    await client.call('chat.send', { message: 'x' });
    expect(events.find(({ event }) => event === 'chat.tool_result')?.payload).toMatchObject({ isError: true });
    expect(getTerminalEvents(events)).toHaveLength(1);
  });
});
