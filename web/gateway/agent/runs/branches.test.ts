import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { type TestGateway, createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';

async function getHistory(gw: TestGateway, sessionId = 'main') {
  const { client } = await gw.client();
  return (await client.call('chat.history', { sessionId })).messages;
}

verifies(['chat.edit/keeps-branch', 'chat.edit/reruns', 'chat.resend/regenerates'], 'history is the active one', async () => {
  await using gw = await createTestGateway({ model: (_call, count) => [`reply ${count}`] });
  const { client } = await gw.client();
  const first = await client.call('chat.send', { message: 'one' });
  const again = await client.call('chat.resend', {});
  expect((await getHistory(gw)).map(({ content }) => content)).toEqual(['one', 'reply 2']);
  await client.call('chat.edit', { message: 'two' });
  expect((await getHistory(gw)).map(({ content }) => content)).toEqual(['two', 'reply 3']);
  expect(gw.calls[2]?.body.messages.map(({ content }) => content).slice(1)).toEqual(['two']);
  expect(await gw.vault.messages.get(first.messageId)).toMatchObject({ content: 'reply 1' });
  expect(await gw.vault.messages.get(again.messageId)).toMatchObject({ content: 'reply 2' });
});

verifies('chat.edit/earlier', 'from there on; one of another session, a reply and none are refused', async () => {
  await using gw = await createTestGateway({ model: (_call, count) => [`reply ${count}`] });
  const { client } = await gw.client();
  const { messageId: reply } = await client.call('chat.send', { message: 'one' });
  await client.call('chat.send', { message: 'two' });
  await client.call('chat.send', { message: 'elsewhere', sessionId: 'other' });
  const [one] = await getHistory(gw);
  await client.call('chat.edit', { message: 'one else', messageId: one?.id ?? '' });
  expect((await getHistory(gw)).map(({ content }) => content)).toEqual(['one else', 'reply 4']);
  expect(
    gw.calls
      .at(-1)
      ?.body.messages.map(({ content }) => content)
      .slice(1),
  ).toEqual(['one else']);
  await client.call('chat.branch', { messageId: one?.id ?? '' });
  expect((await getHistory(gw)).map(({ content }) => content)).toEqual(['one', 'reply 1', 'two', 'reply 2']);
  for (const where of [{ messageId: reply }, { messageId: 'none' }, { messageId: one?.id ?? '', sessionId: 'other' }])
    await expect(client.call('chat.edit', { message: 'x', ...where })).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

verifies(
  'chat.resend/earlier',
  'an earlier message is answered again; what followed is a branch, also in the history while it is written',
  async () => {
    await using gw = await createTestGateway({ model: (_call, count) => [`reply ${count}`] });
    const { client } = await gw.client();
    const { messageId: reply } = await client.call('chat.send', { message: 'one' });
    await client.call('chat.send', { message: 'two' });
    await client.call('chat.send', { message: 'elsewhere', sessionId: 'other' });
    const [one] = await getHistory(gw);
    await client.call('chat.resend', { messageId: one?.id ?? '' });
    expect((await getHistory(gw)).map(({ content }) => content)).toEqual(['one', 'reply 4']);
    await client.call('chat.branch', { messageId: reply });
    expect((await getHistory(gw)).map(({ content }) => content)).toEqual(['one', 'reply 1', 'two', 'reply 2']);
    for (const where of [{ messageId: reply }, { messageId: 'none' }, { messageId: one?.id ?? '', sessionId: 'other' }])
      await expect(client.call('chat.resend', where)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  },
);

verifies('chat.branch/chooses', 'back and forth, further down too, and on from there', async () => {
  const clock = new FakeClock();
  await using gw = await createTestGateway({ clock, model: (_call, count) => [`reply ${count}`] });
  const { client } = await gw.client();
  const other = await gw.client();
  const sendAndRead = async (method: 'chat.send' | 'chat.resend' | 'chat.edit', message = ''): Promise<string> => {
    clock.advance(1000);
    const pendingSend = method === 'chat.resend' ? client.call(method, {}) : client.call(method, { message });
    return (await pendingSend).messageId;
  };
  const readOther = async () => (await other.client.call('chat.history', { sessionId: 'main' })).messages.map(({ content }) => content);
  const first = await sendAndRead('chat.send', 'one');
  await sendAndRead('chat.send', 'go on');
  const edited = await sendAndRead('chat.edit', 'go elsewhere');
  const again = await sendAndRead('chat.resend');
  const { messages, versions } = await client.call('chat.history', { sessionId: 'main' });
  expect(messages.map(({ content }) => content)).toEqual(['one', 'reply 1', 'go elsewhere', 'reply 4']);
  const [, , elsewhere] = messages;
  const [goOn = ''] = versions[elsewhere?.id ?? ''] ?? [];
  expect(versions).toEqual({ [elsewhere?.id ?? '']: [goOn, elsewhere?.id], [again]: [edited, again] });

  other.events.length = 0;
  const { headId } = await client.call('chat.branch', { messageId: goOn });
  expect(await readOther()).toEqual(['one', 'reply 1', 'go on', 'reply 2']);
  expect(await gw.vault.sessions.get('main/main')).toMatchObject({ headId, preview: 'reply 2' });
  expect(other.events).toMatchObject([{ event: 'sessions.changed', payload: { agentId: 'main', sessionId: 'main' } }]);
  // The chat continues there, also with the earlier of two replies.
  await client.call('chat.branch', { messageId: elsewhere?.id ?? '' });
  expect(await readOther()).toEqual(['one', 'reply 1', 'go elsewhere', 'reply 4']);
  await client.call('chat.branch', { messageId: edited });
  await sendAndRead('chat.send', 'further');
  expect(
    gw.calls
      .at(-1)
      ?.body.messages.map(({ content }) => content)
      .slice(1),
  ).toEqual(['one', 'reply 1', 'go elsewhere', 'reply 3', 'further']);
  expect(await client.call('chat.branch', { messageId: first })).toEqual({
    headId: (await client.call('chat.history', { sessionId: 'main' })).messages.at(-1)?.id,
  });
  expect((await readOther()).at(-1)).toBe('reply 5');
  const lines = (await client.call('sessions.export', { path: 'main/main.jsonl' })).content.trim().split('\n');
  expect(lines).toHaveLength(9);
});

verifies('chat.branch/refuses', 'an active run, and missing sessions and messages', async () => {
  const gate = Promise.withResolvers<void>();
  await using gw = await createTestGateway({
    model: (_call, count) => (count < 3 ? [`reply ${count}`] : ['a', { wait: gate.promise }, 'b']),
  });
  const { client, events } = await gw.client();
  const first = await client.call('chat.send', { message: 'one' });
  await client.call('chat.resend', {});
  const slow = client.call('chat.send', { message: 'two' });
  await waitFor(() => events.some(({ payload }) => payload.delta === 'a'));
  await expect(client.call('chat.branch', { messageId: first.messageId })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
  gate.resolve();
  await slow;
  expect((await getHistory(gw)).map(({ content }) => content)).toEqual(['one', 'reply 2', 'two', 'ab']);
  await client.call('chat.send', { message: 'hi', sessionId: 'other' });
  for (const wrong of [
    { messageId: 'none' },
    { messageId: first.messageId, sessionId: 'other' },
    { messageId: first.messageId, sessionId: 'none' },
  ])
    await expect(client.call('chat.branch', wrong)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

verifies(['chat.resend/regenerates', 'chat.edit/reruns', 'channels/webchat'], 'nothing to resend starts no failed run', async () => {
  await using gw = await createTestGateway();
  const { client, events } = await gw.client();
  await expect(client.call('chat.resend', { sessionId: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(client.call('chat.edit', { sessionId: 'none', message: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(events.filter(({ event }) => event.startsWith('chat.'))).toEqual([]);
  expect((await client.call('channels.status', { channelId: 'webchat' })).metrics).toMatchObject({ messages_failed: 0 });
  expect((await client.call('logs.tail', {})).lines.join()).not.toContain('failed');
});
