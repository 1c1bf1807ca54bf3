import { describe, expect } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import type { AnyEvent } from '#shared/rpc/events.ts';
import type { EventFrame } from '#shared/rpc/frames.ts';
import { agentsOf } from '../../web/gateway/core/agents.ts';
import { systemClock } from '../../web/gateway/core/clock.ts';
import { faults } from '../../web/gateway/core/faults.ts';
import { Incognito } from '../../web/gateway/core/incognito/incognito.ts';
import { settings } from '../../web/gateway/core/settings.ts';
import { verifies } from '../requirements.ts';
import { FakeClock } from '../support/clock.ts';
import { everythingStored } from '../support/everything-stored.ts';
import { type Script, script, testGateway, until } from '../support/gateway.ts';

const runId = 'run-1';
const asked = (content: string) => ({ runId, messages: [{ role: 'user' as const, content }] });
const told = (events: readonly EventFrame[]): [string, unknown][] =>
  events.flatMap(({ event, payload }): [string, unknown][] => (event.startsWith('incognito.') ? [[event, payload]] : []));
const ends = (events: readonly EventFrame[]): string[] =>
  told(events).flatMap(([event]) => (event.endsWith('.done') || event.endsWith('.error') ? [event] : []));
const never = new Promise<void>(() => {});

describe('a chat that is not stored', () => {
  verifies('incognito/streams', 'gets replies with the whole conversation, for its own connection only', async () => {
    await using gw = await testGateway({ model: script([{ think: 'A greeting. ' }, { think: 'Easy.' }, 'Hel', 'lo']) });
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
    });
    expect(result).toMatchObject({ completed: true, runId, model: 'test/scripted', usage: { estimated: true } });
    expect(told(events)).toEqual([
      ['incognito.reasoning', { runId, delta: 'A greeting. ', offset: 0 }],
      ['incognito.reasoning', { runId, delta: 'Easy.', offset: 12 }],
      ['incognito.delta', { runId, delta: 'Hel', offset: 0 }],
      ['incognito.delta', { runId, delta: 'lo', offset: 3 }],
      ['incognito.done', { runId, model: 'test/scripted', usage: result.usage }],
    ]);
    const [call] = gw.calls;
    expect(call?.body).toMatchObject({ temperature: 0.5 });
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
  const KEPT = 'madagascar';
  const chatsToo =
    (answer: Script): Script =>
    (call, count) =>
      JSON.stringify(call.body).includes(KEPT) ? [`The ${KEPT} answer`] : answer(call, count);
  const ways: readonly [how: string, answer: Script, code?: string][] = [
    ['ends well', script([{ think: `${SECRET} thoughts` }, `A ${SECRET} answer`])],
    ['is refused with its own words', script([{ status: 400, body: `{"error":{"message":"bad content: ${SECRET}"}}` }]), 'INTERNAL_ERROR'],
    ['finds no server', script([{ status: 503, body: `no room for ${SECRET}` }]), 'INTERNAL_ERROR'],
    ['is cut', script([`The ${SECRET} `, { cut: true }]), 'INTERNAL_ERROR'],
    ['is aborted', script([`The ${SECRET} `, { wait: never }]), 'ABORTED'],
    ['has tools called that it was not offered', (_call, count) => (count === 1 ? [{ tool: SECRET, args: { word: SECRET } }] : ['No.'])],
  ];
  for (const [how, answer, code] of ways)
    verifies(['incognito/stores-nothing', 'incognito/one-terminal-event'], `leaves no word where it ${how}`, async () => {
      await using gw = await testGateway({ model: chatsToo(answer) });
      const { client, events } = await gw.client();
      const file = { filename: `${SECRET}.txt`, mimeType: 'text/plain', content: btoa(`${SECRET} file`) };
      const sent = client.call('incognito.send', {
        ...{ runId, systemPrompt: `Speak of ${SECRET}.` },
        messages: [{ role: 'user', content: `The ${SECRET} question`, attachments: [file] }],
      });
      sent.catch(() => {});
      if (code === 'ABORTED') {
        await until(() => told(events).length > 0);
        await client.call('incognito.abort', { runId });
      }
      if (code) await expect(sent).rejects.toMatchObject({ code });
      else await sent;
      expect(ends(events)).toEqual([code ? 'incognito.error' : 'incognito.done']);

      await client.call('chat.send', { message: `The ${KEPT} question` });
      expect((await client.call('sessions.list', {})).sessions).toHaveLength(1);
      // After the batched writes: usage, the log, the search index.
      const usage = (): Promise<Awaited<ReturnType<typeof gw.vault.usage.since>>> => gw.vault.usage.since(0);
      await until(async () => (await usage()).some(({ sessionKey }) => sessionKey !== null), 'the chat to be counted');
      const { lines } = await client.call('logs.tail', { limit: 1000, json: true });
      expect(lines.length).toBeGreaterThan(0);
      const stored = `${await everythingStored()}\n${JSON.stringify(lines)}`.toLowerCase();
      expect(stored).toContain(`the ${KEPT} question`);
      expect(stored).not.toContain(SECRET);
      expect(stored).not.toContain(btoa(SECRET).slice(0, 8).toLowerCase());
      const counted = (await usage()).filter(({ sessionKey }) => sessionKey === null);
      expect(counted.length).toBe(how.includes('server') || how.includes('refused') ? 0 : 1);
      expect(JSON.stringify(counted)).not.toContain(runId);
      expect(gw.faults).toEqual([]);
    });

  verifies('incognito/stores-nothing', 'an internal error is logged without the messages', async () => {
    const logged: unknown[] = [];
    await using gw = await testGateway();
    const incognito = new Incognito({
      vault: gw.vault,
      clock: systemClock,
      models: {
        resolve: () => Promise.reject(new TypeError(`cannot read ${SECRET}`)),
        priced: (_key, usage) => Promise.resolve(usage),
        sees: () => Promise.resolve(false),
        thinks: () => Promise.resolve(false),
        contextOf: () => Promise.resolve(null),
      },
      timeZone: () => 'UTC',
      main: () => agentsOf(() => settings.parse({ chat: {}, agents: {} })).get('main'),
      fault: faults((_id, error) => logged.push(error)),
    });
    const events: AnyEvent[] = [];
    const caller = { principal: 'owner', tell: (event: AnyEvent) => void events.push(event), signal: new AbortController().signal };
    await expect(incognito.send(asked(SECRET), caller)).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(events).toMatchObject([{ event: 'incognito.error', payload: { runId, error: { code: 'INTERNAL_ERROR' } } }]);
    expect(logged.map(String)).toEqual(['Error: Incognito reply failed: TypeError']);
  });

  verifies('incognito/alone', 'no tools, no memory, no other model; and the guide looks into nothing of its owner', async () => {
    await using gw = await testGateway({ model: script([{ status: 401, body: 'no' }]) });
    const { client } = await gw.client();
    await client.call('memory.add', { text: `My boat is called ${SECRET}` });
    await client.call('config.patch', { patch: { chat: { fallbacks: ['guide/guide'] } } });
    await expect(client.call('incognito.send', asked('What is my boat called?'))).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(gw.calls).toHaveLength(1);
    expect(gw.calls[0]?.body.tools ?? []).toEqual([]);
    expect(JSON.stringify(gw.calls[0])).not.toContain(SECRET);
    const guide = async (content: string): Promise<string> => {
      const { client: asking, events } = await gw.client({ events: 'own' });
      await asking.call('incognito.send', { ...asked(content), model: 'guide/guide' });
      return told(events)
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
    await using gw = await testGateway({ model: script(['half', { wait: never }]) });
    const { client, events } = await gw.client();
    expect(await client.call('incognito.abort', { runId })).toEqual({ aborted: false });
    const sent = client.call('incognito.send', asked('hi'));
    sent.catch(() => {});
    await until(() => told(events).length > 0);
    await expect(client.call('incognito.send', asked('again'))).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    const stranger = await GatewayClient.connect(gw.link({ principal: 'key:other' }), { params: { clientName: 'other' } });
    expect(await stranger.call('incognito.abort', { runId })).toEqual({ aborted: false });
    expect(await client.call('incognito.abort', { runId })).toEqual({ aborted: true });
    await expect(sent).rejects.toMatchObject({ code: 'ABORTED' });
    expect(gw.calls[0]?.signal.aborted).toBe(true);
    expect(told(events).map(([event]) => event)).toEqual(['incognito.delta', 'incognito.error']);
    expect(told(events).at(-1)?.[1]).toMatchObject({ runId, error: { code: 'ABORTED' } });
    expect(await client.call('incognito.abort', { runId })).toEqual({ aborted: false });
  });

  verifies('incognito/aborts', 'ends with the connection that asked', async () => {
    await using gw = await testGateway({ model: script(['half', { wait: never }]) });
    const { client, events } = await gw.client();
    client.call('incognito.send', asked('hi')).catch(() => {});
    await until(() => told(events).length > 0);
    client.close();
    await until(() => gw.calls[0]?.signal.aborted === true, 'the provider to be left');
  });

  verifies(
    'incognito/aborts',
    'a host that hands over lets it finish, accepts no new one, and aborts one that takes too long',
    async () => {
      const clock = new FakeClock();
      const gate = Promise.withResolvers<void>();
      await using gw = await testGateway({
        clock,
        model: (_call, count) => (count === 1 ? ['a', { wait: gate.promise }, 'b'] : ['c', { wait: never }]),
      });
      const { client, events } = await gw.client();
      const first = client.call('incognito.send', asked('hi'));
      const second = client.call('incognito.send', { ...asked('hi'), runId: 'run-2' });
      second.catch(() => {});
      await until(() => told(events).length === 2);
      const drained = gw.gateway.drain(5_000);
      await expect(client.call('incognito.send', { ...asked('late'), runId: 'run-3' })).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
      gate.resolve();
      expect(await first).toMatchObject({ completed: true });
      clock.advance(5_000);
      await expect(second).rejects.toMatchObject({ code: 'ABORTED' });
      await drained;
    },
  );

  verifies('incognito/one-terminal-event', 'wrong params are refused, and nothing is told of them', async () => {
    await using gw = await testGateway();
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
    expect(told(events)).toEqual([]);
    const reader = await gw.client({ scopes: ['read'] });
    await expect(reader.client.call('incognito.send', asked('hi'))).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    await expect(reader.client.call('incognito.abort', { runId })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    expect(gw.calls).toEqual([]);
  });
});
