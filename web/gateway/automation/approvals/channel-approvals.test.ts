import { expect } from 'vitest';
import { createChannelGateway } from '../../../../tests/support/channel-gateway.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { getLongTermMemory } from '../../../../tests/support/long-term-memory.ts';
import { startTelegramServer, TELEGRAM_TOKEN } from '../../../../tests/support/telegram-server.ts';
import { verifies } from '../../../../tests/requirements.ts';
import type { ModelScript } from '../../../../tests/support/test-gateway.ts';

const OWNER = 7;
const FRIEND = 8;
const GROUP = -100;

const callMemory: ModelScript = ({ body: { messages } }) =>
  messages.at(-1)?.role === 'tool' ? ['ok'] : [{ tool: 'memory_add', args: { text: String(messages.at(-1)?.content) } }];

/** A gateway whose approvals go to the owner's account on Telegram. */
async function createApprovalGateway() {
  const clock = new FakeClock();
  const server = await startTelegramServer(clock);
  const telegram = { enabled: true, botToken: TELEGRAM_TOKEN, apiBase: server.url, allowedUsers: [], owners: [`${OWNER}`] };
  const gw = await createChannelGateway({ telegram }, { model: callMemory, clock });
  const { client } = await gw.client();
  await client.call('config.patch', {
    patch: { tools: { policies: { memory_add: 'ask' } }, approvals: { deliver: [{ kind: 'channel', channelId: 'telegram' }] } },
  });
  return {
    ...{ server, gw, client, clock },
    send: (message: string, sessionId = 'main') => client.call('chat.send', { message, sessionId }),
    memories: async () => (await getLongTermMemory(gw.vault).memories()).map(({ text }) => text),
    /** The buttons of the posts about approvals, oldest first. */
    async waitForButtons(count: number) {
      const list = async () => (await gw.vault.collection('deliveries').list()).filter(({ buttons }) => buttons?.length);
      await gw.advanceUntil(async () => (await list()).length === count, 'posts', 100);
      const posts = (await list()).sort((a, b) => a.createdAt - b.createdAt);
      return posts.map(({ buttons = [] }) => ({ allow: buttons[0]?.value ?? '', deny: buttons[1]?.value ?? '' }));
    },
    /** Presses a button, and waits for the text that ends the press. */
    async press(value: string, by: Parameters<typeof server.press>[1] = {}): Promise<string | undefined> {
      const before = server.answers.length;
      server.press(value, by);
      await gw.advanceUntil(() => server.answers.length > before, 'the end of a press', 100);
      return server.answers.at(-1)?.text;
    },
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

verifies(['push/people', 'push/bound'], 'only the owner decides, in a private chat, once, and about what was shown', async () => {
  await using at = await createApprovalGateway();
  const sends = [at.send('first', 'one'), at.send('second', 'two')];
  const [first, second] = await at.waitForButtons(2);
  if (!first || !second) throw new Error('no buttons');
  expect(await at.press(first.allow, { id: FRIEND })).toBe('Only the owner can decide.');
  expect(await at.press(first.allow, { chat: GROUP })).toBe('Requests can only be decided in a private chat.');
  expect(await at.press(first.allow, { id: FRIEND, chat: GROUP })).toBe('Requests can only be decided in a private chat.');
  const unknown = 'This button is not valid any more. Open Perch to decide.';
  expect(await at.press(`${first.allow.slice(0, 33)}${second.allow.slice(33)}`)).toBe(unknown);
  expect(await at.press(`a${first.deny.slice(1)}`)).toBe(unknown);
  expect(await at.press('something else')).toBe('This button is not valid any more.');
  expect((await at.client.call('approvals.list', {})).count).toBe(2);
  expect(await at.press(first.allow)).toBe('Allowed.');
  expect(await at.press(first.allow)).toBe('Already decided: Allowed by the owner on telegram.');
  expect(await at.press(first.deny)).toBe('Already decided: Allowed by the owner on telegram.');
  expect(await at.press(second.deny)).toBe('Denied.');
  await Promise.all(sends);
  expect(await at.memories()).toEqual([expect.stringMatching(/^(first|second)$/)]);
  const { approvals } = await at.client.call('approvals.list', { status: 'all' });
  expect(approvals.map(({ status, resolvedVia }) => [status, resolvedVia]).sort()).toEqual([
    ['approved', 'channel:telegram'],
    ['denied', 'channel:telegram'],
  ]);
  // Each post was sent to the owner with its buttons, which its end removes.
  await at.gw.advanceUntil(() => at.server.edits.length === 2, 'the edits', 100);
  const posts = at.server.sent as { chat_id: number; text: string; reply_markup?: { inline_keyboard: unknown[][] } }[];
  const buttons = [first, second].map(({ allow, deny }) => [
    OWNER,
    [
      { text: 'Allow once', callback_data: allow },
      { text: 'Deny', callback_data: deny },
    ],
  ]);
  // The two are sent side by side, in any order.
  expect(new Set(posts.map(({ chat_id, reply_markup }) => [chat_id, reply_markup?.inline_keyboard.flat()]))).toEqual(new Set(buttons));
  expect(posts.every(({ text }) => /^Approval needed\n\n.*\ntext: (first|second)$/s.test(text))).toBe(true);
  expect(at.server.edits.map(({ text }) => text.split('\n').at(-1)).sort()).toEqual([
    'Allowed by the owner on telegram.',
    'Denied by the owner on telegram.',
  ]);
  expect(at.server.edits.some((edit) => 'reply_markup' in edit)).toBe(false);
  expect(at.gw.faults).toEqual([]);
});

verifies('push/bound', 'an expired approval, and an account that is not the owner’s any more, decide nothing', async () => {
  await using at = await createApprovalGateway();
  const sent = at.send('late');
  const [post] = await at.waitForButtons(1);
  await at.client.call('config.set', { key: 'channels.telegram.owners', value: ['9'] });
  expect(await at.press(post?.allow ?? '')).toBe('Only the owner can decide.');
  await at.client.call('config.set', { key: 'channels.telegram.owners', value: [`${OWNER}`] });
  at.clock.advance(301_000);
  await sent;
  expect(await at.press(post?.allow ?? '')).toBe('The request has expired.');
  expect(await at.memories()).toEqual([]);
});
