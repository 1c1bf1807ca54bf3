import { describe, expect } from 'vitest';
import { z } from '#shared/rpc/zod.ts';
import { CHAT_EVENTS, events as schemas } from '#shared/rpc/events.ts';
import { verifies } from '../../../tests/requirements.ts';
import { createCronHosts } from '../../../tests/support/cron-hosts.ts';
import { createTestGateway, waitFor } from '../../../tests/support/test-gateway.ts';
import { sendRawRequest } from '../../../tests/support/raw-connection.ts';

describe('the tables of the interface document, by behaviour', () => {
  verifies(
    [
      'chat.delta/payload',
      'chat.tool_call/payload',
      'chat.tool_result/payload',
      'chat.done/payload',
      'chat.error/payload',
      'states.chat/generating',
      'states.chat/done',
      'states.chat/failed',
      'events/fields',
    ],
    'what a generation pushes, to its end',
    async () => {
      await using gw = await createTestGateway({
        model: (_call, count) =>
          [['Let me see. ', { tool: 'current_time', args: {} }], ['It is late.']][count - 1] ?? [{ status: 400, body: 'no' }],
      });
      const { client, events } = await gw.client();
      const chat = () => events.filter(({ event }) => (CHAT_EVENTS as readonly string[]).includes(event));
      const done = await client.call('chat.send', { message: 'hi', sessionId: 's' });
      expect(done.completed).toBe(true);
      const chatEvents = chat().map(({ event, payload: { agentId, runId, sessionId, ...payload } }) => {
        expect({ agentId, runId, sessionId }).toEqual({ agentId: 'main', runId: done.runId, sessionId: 's' });
        return [event, payload];
      });
      const toolCallId = expect.any(String) as string;
      expect(chatEvents).toEqual([
        ['chat.delta', { delta: 'Let me see. ', role: 'assistant', offset: 0 }],
        ['chat.tool_call', { tool: 'current_time', args: {}, toolCallId }],
        ['chat.tool_result', { tool: 'current_time', result: expect.anything() as unknown, toolCallId }],
        ['chat.delta', { delta: 'It is late.', role: 'assistant', offset: 12 }],
        ['chat.done', { usage: done.usage, messageId: done.messageId }],
      ]);
      for (const [method, params] of [
        ['chat.send', { message: 'again', sessionId: 's' }],
        ['chat.resend', { sessionId: 's' }],
        ['chat.edit', { message: 'other', sessionId: 's' }],
      ] as const) {
        const before = chat().length;
        await expect(client.call(method, params), method).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
        expect(chat().slice(before), method).toMatchObject([
          { event: 'chat.error', payload: { sessionId: 's', error: { code: 'INTERNAL_ERROR' } } },
        ]);
      }
      for (const { event, payload } of chat())
        expect(z.strictObject(schemas[event as 'chat.done'].shape).safeParse(payload).error, event).toBeUndefined();
    },
  );

  verifies(['states.chat/aborted', 'error.aborted/meaning'], 'an abort while a reply comes', async () => {
    await using gw = await createTestGateway({ model: () => ['half', { wait: new Promise(() => {}) }] });
    const { client, events } = await gw.client();
    expect(await client.call('chat.abort', { sessionId: 'main' })).toEqual({ aborted: false, runIds: [] });
    const pendingSend = client.call('chat.send', { message: 'hi' });
    await waitFor(() => events.some(({ event }) => event === 'chat.delta'));
    expect((await client.call('chat.abort', { sessionId: 'main', agentId: 'main' })).aborted).toBe(true);
    await expect(pendingSend).rejects.toMatchObject({ code: 'ABORTED' });
    expect(events.findLast(({ event }) => event.startsWith('chat.'))).toMatchObject({
      event: 'chat.error',
      payload: { error: { code: 'ABORTED' } },
    });
  });

  verifies(
    [
      'error.auth-required/meaning',
      'error.not-found/meaning',
      'error.invalid-params/meaning',
      'error.rate-limited/meaning',
      'error.internal/meaning',
      'error.method-not-found/meaning',
      'error.already-exists/meaning',
      'error.not-implemented/meaning',
    ],
    'each code, where it belongs',
    async () => {
      await using gw = await createTestGateway();
      const { client } = await gw.client();
      const failure = (method: string, params: object = {}) =>
        client.request(method, params).then(
          () => 'none',
          (error: { code?: string }) => error.code,
        );
      await client.call('agents.add', { agent_id: 'taken' });
      expect(await failure('sessions.preview', { path: 'main/none.jsonl' })).toBe('NOT_FOUND');
      expect(await failure('chat.send', { message: 'hi', agentId: 'nobody' })).toBe('NOT_FOUND');
      expect(await failure('chat.send', { message: 5 })).toBe('INVALID_PARAMS');
      expect(await failure('exec.create', { command: 'true' })).toBe('INTERNAL_ERROR');
      expect(await failure('chat.sing')).toBe('METHOD_NOT_FOUND');
      expect(await failure('agents.add', { agent_id: 'taken' })).toBe('ALREADY_EXISTS');
      for (const method of ['wizard.start', 'wizard.step', 'push.send', 'voicewake.status'])
        expect(await failure(method), method).toBe('NOT_IMPLEMENTED');
      const { client: reader } = await gw.client({ scopes: ['read'] });
      await expect(reader.call('chat.send', { message: 'hi' })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
      const socket = gw.link({ socket: true });
      const codes: (string | undefined)[] = [];
      socket.receive({ message: (text) => codes.push((JSON.parse(text) as { error?: { code: string } }).error?.code), close: () => {} });
      socket.send('{"type":"req","id":"c","method":"connect","params":{"minProtocol":3,"maxProtocol":3}}');
      for (let n = 0; n < 101; n++) socket.send(`{"type":"req","id":"${n}","method":"health"}`);
      await waitFor(() => codes.includes('RATE_LIMITED'));
    },
  );

  verifies(
    [
      'agents.list/earlier',
      'agents.bindings/earlier',
      'channels.list/earlier',
      'channels.status/earlier',
      'models.list/earlier',
      'models.probe/earlier',
      'cron.list/earlier',
      'cron.add/earlier',
      'tools.list/earlier',
      'tts.speak/earlier',
    ],
    'what a client of protocol 2 gets',
    async () => {
      await using gw = await createTestGateway();
      const { client } = await gw.client();
      await client.call('config.set', { key: 'bindings', value: [{ pattern: 'telegram:*', agentId: 'main' }] });
      const earlier = async (method: string, params: object = {}): Promise<unknown> => {
        const answer = await sendRawRequest(gw, method, JSON.stringify(params), 2);
        return answer.ok ? answer.payload : answer.error.code;
      };
      const text = expect.any(String) as string;
      expect(await earlier('agents.list')).toEqual([{ id: 'main', name: 'Main', model: null }]);
      expect(await earlier('agents.bindings')).toContainEqual({ pattern: text, agentId: 'main' });
      expect(await earlier('channels.list')).toEqual([{ id: 'webchat', type: 'webchat', status: 'running' }]);
      for (const name of ['channel_id', 'channelId'])
        expect(await earlier('channels.status', { [name]: 'webchat' })).toMatchObject({ channel_id: 'webchat' });
      expect(await earlier('models.list')).toMatchObject([
        { id: 'guide/guide', provider: 'guide' },
        { id: 'test/scripted', provider: 'test' },
      ]);
      for (const probe of [{ model: 'test/scripted' }, { model: 'scripted', provider: 'test' }])
        expect(await earlier('models.probe', probe)).toEqual({ available: true, latency: expect.any(Number) as number });
      expect(await earlier('cron.add', { cron: '0 9 * * *', message: 'hi' })).toEqual({ id: text });
      expect(await earlier('cron.list')).toMatchObject([{ id: text, cron: '0 9 * * *' }]);
      expect(await earlier('tools.list')).toContainEqual({ name: 'current_time', description: text });
      expect(await earlier('tts.speak', { text: 'hi' })).toBe('NOT_IMPLEMENTED');
    },
  );

  verifies(['frame.request/members', 'frame.response/members', 'frame.event/members'], 'these members and no others', async () => {
    await using gw = await createTestGateway();
    const link = gw.link();
    const frames: Record<string, unknown>[] = [];
    link.receive({ message: (text) => frames.push(JSON.parse(text) as Record<string, unknown>), close: () => {} });
    const sendFrame = async (frame: Record<string, unknown>) => {
      link.send(JSON.stringify(frame));
      await waitFor(() => frames.some(({ type, id }) => type === 'res' && id === frame.id));
      return frames.find(({ type, id }) => type === 'res' && id === frame.id);
    };
    const params = { minProtocol: 3, maxProtocol: 3, events: 'all' };
    const payload = expect.any(Object) as object;
    expect(await sendFrame({ type: 'req', id: 'c', method: 'connect', params })).toEqual({ type: 'res', id: 'c', ok: true, payload });
    const right = { type: 'req', id: 'h', method: 'health', params: {} };
    expect(await sendFrame(right)).toEqual({ type: 'res', id: 'h', ok: true, payload });
    const error = { code: 'INVALID_PARAMS', message: expect.any(String) as string };
    for (const [at, wrong] of [
      { type: 'request' },
      { type: 'res' },
      { method: 5 },
      { method: '' },
      { params: [] },
      { params: 'x' },
    ].entries()) {
      const answer = await sendFrame({ ...right, ...wrong, id: `w${at}` });
      expect(answer, JSON.stringify(wrong)).toEqual({ type: 'res', id: `w${at}`, ok: false, error });
    }
    expect(await sendFrame({ type: 'req', id: 'n', method: 'none' })).toEqual({
      ...{ type: 'res', id: 'n', ok: false, error: { code: 'METHOD_NOT_FOUND', message: expect.any(String) as string } },
    });
    await sendFrame({ ...right, id: 's', method: 'chat.send', params: { message: 'hi' } });
    const pushed = frames.filter(({ type }) => type === 'event');
    expect(pushed.length).toBeGreaterThan(3);
    for (const [at, frame] of pushed.entries())
      expect(frame).toEqual({ type: 'event', event: expect.any(String) as string, seq: at + 1, payload });
  });

  verifies('states.job/toggled', 'from either state to either', async () => {
    await using gw = await createCronHosts().open();
    const id = await gw.add();
    for (const enabled of [false, false, true, true]) {
      expect(await gw.api.call('cron.toggle', { id, enabled })).toEqual({ ok: true, enabled });
      expect((await gw.api.call('cron.list', {})).jobs).toMatchObject([{ id, enabled }]);
    }
  });
});
