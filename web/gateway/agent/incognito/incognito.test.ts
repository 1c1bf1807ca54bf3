import { describe, expect } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import type { AnyEvent } from '#shared/rpc/events.ts';
import type { EventFrame } from '#shared/rpc/frames.ts';
import { createAgents } from '../agents.ts';
import { systemClock } from '#shared/async/clock.ts';
import { createFaultHandler } from '../../server/fault-handler.ts';
import { IncognitoService } from './incognito-service.ts';
import { settingsSchema } from '../../config/settings-schema.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { readDatabasesAsText } from '../../../../tests/support/read-databases.ts';
import { type ModelScript, createScript, createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';

const runId = 'run-1';
const toSendParams = (content: string) => ({ runId, messages: [{ role: 'user' as const, content }] });
const getEventPayloads = (events: readonly EventFrame[]): [string, unknown][] =>
  events.flatMap(({ event, payload }): [string, unknown][] => (event.startsWith('incognito.') ? [[event, payload]] : []));
const getTerminalEvents = (events: readonly EventFrame[]): string[] =>
  getEventPayloads(events).flatMap(([event]) => (event.endsWith('.done') || event.endsWith('.error') ? [event] : []));
const NEVER = new Promise<void>(() => {});

describe('a chat that is not stored', () => {
  verifies('incognito/streams', 'gets replies with the whole conversation, for its own connection only', async () => {
    await using gw = await createTestGateway({ model: createScript([{ think: 'A greeting. ' }, { think: 'Easy.' }, 'Hel', 'lo']) });
    const [{ client, events }, other] = [await gw.client({ events: 'own' }), await gw.client()];
    const picture = { filename: 'a.png', mimeType: 'image/png', content: 'iVBORw==' };
    const result = await client.call('incognito.send', {
      runId,
      messages: [
        { role: 'user', content: 'First' },
        { role: 'assistant', content: 'Yes?' },
        { role: 'user', content: 'Look', attachments: [picture] },
      ],
      systemPrompt: 'Be brief.',
      temperature: 0.5,
      thinking: 'low',
    });
    expect(result).toMatchObject({ completed: true, runId, model: 'test/scripted', usage: { estimated: true } });
    expect(getEventPayloads(events)).toEqual([
      ['incognito.reasoning', { runId, delta: 'A greeting. ', offset: 0 }],
      ['incognito.reasoning', { runId, delta: 'Easy.', offset: 12 }],
      ['incognito.delta', { runId, delta: 'Hel', offset: 0 }],
      ['incognito.delta', { runId, delta: 'lo', offset: 3 }],
      ['incognito.done', { runId, model: 'test/scripted', usage: result.usage }],
    ]);
    const [call] = gw.calls;
    expect(call?.body).toMatchObject({ temperature: 0.5, reasoning_effort: 'low' });
    expect(call?.context).toMatch(/^Current date and time/);
    expect(call?.body.messages).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'First' },
      { role: 'assistant', content: 'Yes?' },
      { role: 'user', content: [{ type: 'text', text: 'Look' }, { type: 'image_url' }] },
    ]);
    // Subscribers to all events receive none of it.
    await other.client.call('health', {});
    expect(other.events.map(({ event }) => event).filter((event) => event !== 'connect.challenge' && event !== 'tick')).toEqual([]);
  });

  const SECRET = 'zanzibar';
  /** Content of an ordinary chat, to prove that the search finds stored text. */
  const WRITTEN_TEXT = 'madagascar';
  const chatsToo =
    (answer: ModelScript): ModelScript =>
    (call, count) =>
      JSON.stringify(call.body).includes(WRITTEN_TEXT) ? [`The ${WRITTEN_TEXT} answer`] : answer(call, count);
  const endings: readonly [how: string, answer: ModelScript, code?: string][] = [
    ['ends well', createScript([{ think: `${SECRET} thoughts` }, `A ${SECRET} answer`])],
    [
      'is refused with its own words',
      createScript([{ status: 400, body: `{"error":{"message":"bad content: ${SECRET}"}}` }]),
      'INTERNAL_ERROR',
    ],
    ['finds no server', createScript([{ status: 503, body: `no room for ${SECRET}` }]), 'INTERNAL_ERROR'],
    ['is cut', createScript([`The ${SECRET} `, { cut: true }]), 'INTERNAL_ERROR'],
    ['is aborted', createScript([`The ${SECRET} `, { wait: NEVER }]), 'ABORTED'],
    ['has tools called that it was not offered', (_call, count) => (count === 1 ? [{ tool: SECRET, args: { word: SECRET } }] : ['No.'])],
  ];
  for (const [how, answer, code] of endings)
    verifies(['incognito/stores-nothing', 'incognito/one-terminal-event'], `leaves no word where it ${how}`, async () => {
      await using gw = await createTestGateway({ model: chatsToo(answer) });
      const { client, events } = await gw.client();
      const file = { filename: `${SECRET}.txt`, mimeType: 'text/plain', content: btoa(`${SECRET} file`) };
      const pendingSend = client.call('incognito.send', {
        ...{ runId, systemPrompt: `Speak of ${SECRET}.` },
        messages: [{ role: 'user', content: `The ${SECRET} question`, attachments: [file] }],
      });
      pendingSend.catch(() => {});
      if (code === 'ABORTED') {
        await waitFor(() => getEventPayloads(events).length > 0);
        await client.call('incognito.abort', { runId });
      }
      if (code) await expect(pendingSend).rejects.toMatchObject({ code });
      else await pendingSend;
      expect(getTerminalEvents(events)).toEqual([code ? 'incognito.error' : 'incognito.done']);

      await client.call('chat.send', { message: `The ${WRITTEN_TEXT} question` });
      expect((await client.call('sessions.list', {})).sessions).toHaveLength(1);
      // After the batched writes: usage, the log, the search index.
      const usage = (): Promise<Awaited<ReturnType<typeof gw.vault.usage.since>>> => gw.vault.usage.since(0);
      await waitFor(async () => (await usage()).some(({ sessionKey }) => sessionKey !== null), 'the chat to be counted');
      const { lines } = await client.call('logs.tail', { limit: 1000, json: true });
      expect(lines.length).toBeGreaterThan(0);
      const stored = `${await readDatabasesAsText()}\n${JSON.stringify(lines)}`.toLowerCase();
      expect(stored).toContain(`the ${WRITTEN_TEXT} question`);
      expect(stored).not.toContain(SECRET);
      expect(stored).not.toContain(btoa(SECRET).slice(0, 8).toLowerCase());
      const counted = (await usage()).filter(({ sessionKey }) => sessionKey === null);
      expect(counted.length).toBe(how.includes('server') || how.includes('refused') ? 0 : 1);
      expect(JSON.stringify(counted)).not.toContain(runId);
      expect(gw.faults).toEqual([]);
    });

  verifies('incognito/stores-nothing', 'an internal error is logged without the messages', async () => {
    const logged: unknown[] = [];
    await using gw = await createTestGateway();
    const incognito = new IncognitoService({
      vault: gw.vault,
      clock: systemClock,
      models: {
        resolve: () => Promise.reject(new TypeError(`cannot read ${SECRET}`)),
        addCost: (_key, usage) => Promise.resolve(usage),
        supportsImages: () => Promise.resolve(false),
        supportsReasoning: () => Promise.resolve(false),
        lacksReasoning: () => Promise.resolve(false),
        getContextTokens: () => Promise.resolve(null),
      },
      timeZone: () => 'UTC',
      main: () => createAgents(() => settingsSchema.parse({ chat: {}, agents: {} })).get('main'),
      fault: createFaultHandler((_id, error) => logged.push(error)),
    });
    const events: AnyEvent[] = [];
    const caller = { principal: 'owner', emit: (event: AnyEvent) => void events.push(event), signal: new AbortController().signal };
    await expect(incognito.send(toSendParams(SECRET), caller)).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(events).toMatchObject([{ event: 'incognito.error', payload: { runId, error: { code: 'INTERNAL_ERROR' } } }]);
    expect(logged.map(String)).toEqual(['Error: Incognito reply failed: TypeError']);
  });

  verifies('incognito/alone', 'no tools, no memory, no other model; and the guide looks into nothing of its owner', async () => {
    await using gw = await createTestGateway({ model: createScript([{ status: 401, body: 'no' }]) });
    const { client } = await gw.client();
    await client.call('memory.add', { text: `My boat is called ${SECRET}` });
    await client.call('config.patch', { patch: { chat: { fallbacks: ['guide/guide'] } } });
    await expect(client.call('incognito.send', toSendParams('What is my boat called?'))).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(gw.calls).toHaveLength(1);
    expect(gw.calls[0]?.body.tools ?? []).toEqual([]);
    expect(JSON.stringify(gw.calls[0])).not.toContain(SECRET);
    const guide = async (content: string): Promise<string> => {
      const { client: asking, events } = await gw.client({ events: 'own' });
      await asking.call('incognito.send', { ...toSendParams(content), model: 'guide/guide' });
      return getEventPayloads(events)
        .flatMap(([, payload]) => Object(payload).delta ?? [])
        .join('');
    };
    expect(await guide('What is my boat called?')).not.toContain(SECRET);
    expect(await guide('/tool current_time {}')).toMatch(/cannot|not/i);
    // In a chat it does, of the same question.
    const { messageId } = await client.call('chat.send', { message: 'What is my boat called?', model: 'guide/guide' });
    const { messages } = await client.call('chat.history', { sessionId: 'main' });
    expect(JSON.stringify(messages.find(({ id }) => id === messageId))).toContain(SECRET);
  });

  verifies(['incognito/aborts', 'incognito/one-terminal-event'], 'ends by an abort of the same caller, and no other', async () => {
    await using gw = await createTestGateway({ model: createScript(['half', { wait: NEVER }]) });
    const { client, events } = await gw.client();
    expect(await client.call('incognito.abort', { runId })).toEqual({ aborted: false });
    const pendingSend = client.call('incognito.send', toSendParams('hi'));
    pendingSend.catch(() => {});
    await waitFor(() => getEventPayloads(events).length > 0);
    await expect(client.call('incognito.send', toSendParams('again'))).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    const stranger = await GatewayClient.connect(gw.link({ principal: 'key:other' }), { params: { clientName: 'other' } });
    expect(await stranger.call('incognito.abort', { runId })).toEqual({ aborted: false });
    expect(await client.call('incognito.abort', { runId })).toEqual({ aborted: true });
    await expect(pendingSend).rejects.toMatchObject({ code: 'ABORTED' });
    expect(gw.calls[0]?.signal.aborted).toBe(true);
    expect(getEventPayloads(events).map(([event]) => event)).toEqual(['incognito.delta', 'incognito.error']);
    expect(getEventPayloads(events).at(-1)?.[1]).toMatchObject({ runId, error: { code: 'ABORTED' } });
    expect(await client.call('incognito.abort', { runId })).toEqual({ aborted: false });
  });

  verifies('incognito/aborts', 'ends with the connection that asked', async () => {
    await using gw = await createTestGateway({ model: createScript(['half', { wait: NEVER }]) });
    const { client, events } = await gw.client();
    client.call('incognito.send', toSendParams('hi')).catch(() => {});
    await waitFor(() => getEventPayloads(events).length > 0);
    client.close();
    await waitFor(() => gw.calls[0]?.signal.aborted === true, 'the provider to be left');
  });

  verifies(
    'incognito/aborts',
    'a host that hands over lets it finish, accepts no new one, and aborts one that takes too long',
    async () => {
      const clock = new FakeClock();
      const gate = Promise.withResolvers<void>();
      await using gw = await createTestGateway({
        clock,
        model: (_call, count) => (count === 1 ? ['a', { wait: gate.promise }, 'b'] : ['c', { wait: NEVER }]),
      });
      const { client, events } = await gw.client();
      const first = client.call('incognito.send', toSendParams('hi'));
      const second = client.call('incognito.send', { ...toSendParams('hi'), runId: 'run-2' });
      second.catch(() => {});
      await waitFor(() => getEventPayloads(events).length === 2);
      const drained = gw.gateway.drain(5_000);
      await expect(client.call('incognito.send', { ...toSendParams('late'), runId: 'run-3' })).rejects.toMatchObject({
        code: 'INTERNAL_ERROR',
      });
      gate.resolve();
      expect(await first).toMatchObject({ completed: true });
      clock.advance(5_000);
      await expect(second).rejects.toMatchObject({ code: 'ABORTED' });
      await drained;
    },
  );

  verifies('incognito/one-terminal-event', 'wrong params are refused, and nothing is told of them', async () => {
    await using gw = await createTestGateway();
    const { client, events } = await gw.client();
    const user = { role: 'user' as const, content: 'hi' };
    const wrong = [
      [],
      [{ ...user, role: 'assistant' as const }],
      [{ ...user, content: '  ' }],
      [{ ...user, content: 'a\0' }],
      [{ ...user, attachments: [{ filename: 'a', mimeType: 'text/plain', content: '!' }] }],
      [{ role: 'assistant' as const, content: 'a', attachments: [{ filename: 'a', mimeType: 'text/plain', content: 'YQ==' }] }, user],
    ];
    for (const messages of wrong)
      await expect(client.call('incognito.send', { runId, messages }), JSON.stringify(messages)).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringContaining('messages') as unknown,
      });
    expect(getEventPayloads(events)).toEqual([]);
    const reader = await gw.client({ scopes: ['read'] });
    await expect(reader.client.call('incognito.send', toSendParams('hi'))).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    await expect(reader.client.call('incognito.abort', { runId })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    expect(gw.calls).toEqual([]);
  });
});
