import { describe, expect } from 'vitest';
import { createChannelGateway } from '../../../../tests/support/channel-gateway.ts';
import { DISCORD_TOKEN, startDiscordServer } from '../../../../tests/support/discord-server.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { MATRIX_TOKEN, startMatrixServer } from '../../../../tests/support/matrix-server.ts';
import { ADA as SIGNAL_ADA, SIGNAL_ACCOUNT, startSignalServer } from '../../../../tests/support/signal-server.ts';
import { ADA, BOB, SLACK_APP_TOKEN, SLACK_BOT_TOKEN, startSlackServer } from '../../../../tests/support/slack-server.ts';
import type { ModelScript, TestGateway } from '../../../../tests/support/test-gateway.ts';
import {
  ADA as WHATSAPP_ADA,
  callWebhook,
  startWhatsAppServer,
  WHATSAPP_PHONE,
  WHATSAPP_SECRET,
  WHATSAPP_TOKEN,
} from '../../../../tests/support/whatsapp-server.ts';
import { verifies } from '../../../../tests/requirements.ts';

const callMemory: ModelScript = ({ body: { messages } }) =>
  messages.at(-1)?.role === 'tool' ? ['ok'] : [{ tool: 'memory_add', args: { text: String(messages.at(-1)?.content) } }];

/** A post about an approval, as it is on the platform. */
interface ApprovalPost {
  id: string;
  channel: string;
  text: string;
  buttons: { label: string; value: string }[];
}

interface Platform {
  channelId: string;
  settings: Record<string, unknown>;
  owner: string;
  stranger: string;
  posts(): ApprovalPost[];
  press(post: ApprovalPost, value: string, by: string, gw: Pick<TestGateway, 'gateway'>): void;
  /** False if the platform cannot replace a message. */
  canEdit?: boolean;
  /** Texts that ended presses. */
  answers(): string[];
  /** Texts of posts that were replaced, without buttons. */
  edits(): string[];
  stop(): Promise<void>;
}

async function startSlack(clock: FakeClock): Promise<Platform> {
  const server = await startSlackServer(() => clock.now());
  return {
    channelId: 'slack',
    settings: { botToken: SLACK_BOT_TOKEN, appToken: SLACK_APP_TOKEN, apiBase: server.url },
    ...{ owner: ADA, stranger: BOB },
    posts: () =>
      server.sent().map(({ ts, channel, text, blocks = [] }) => ({
        ...{ id: ts, channel, text },
        buttons: (blocks.at(-1)?.elements ?? []).map(({ value, text: label }) => ({ label: label.text, value })),
      })),
    press: ({ id }, value, by) => server.press(id, value, by),
    answers: () => server.ephemerals.map(({ text }) => text),
    edits: () => server.edits.flatMap(({ text, blocks }) => (blocks?.length === 0 ? [text] : [])),
    stop: () => server.stop(),
  };
}

async function startDiscord(clock: FakeClock): Promise<Platform> {
  const server = await startDiscordServer(() => clock.now());
  interface Row {
    components: { label: string; custom_id: string }[];
  }
  return {
    channelId: 'discord',
    settings: { botToken: DISCORD_TOKEN, apiBase: server.url },
    ...{ owner: '7', stranger: '8' },
    posts: () =>
      server.sent().map(({ id, channel_id: channel, content: text, components = [] }) => ({
        ...{ id, channel, text },
        buttons: (components as Row[]).flatMap((row) => row.components.map(({ label, custom_id: value }) => ({ label, value }))),
      })),
    press: ({ id, channel }, value, by) => server.press(id, value, { by, channel }),
    answers: () => server.callbacks.map(({ body }) => body.data.content),
    edits: () =>
      server.sent().flatMap(({ content, components }) => (Array.isArray(components) && components.length === 0 ? [content] : [])),
    stop: () => server.stop(),
  };
}

async function startMatrix(clock: FakeClock): Promise<Platform> {
  const server = await startMatrixServer(clock);
  const [owner, stranger] = ['@ada:matrix.test', '@bob:matrix.test'];
  const isEdit = (content: Record<string, unknown>): boolean => content['m.new_content'] !== undefined;
  const answers = () => server.sent().filter(({ content }) => content['msgtype'] === 'm.notice');
  return {
    channelId: 'matrix',
    settings: { homeserver: server.url, accessToken: MATRIX_TOKEN },
    ...{ owner, stranger },
    posts: () =>
      server
        .sent()
        .filter(({ content }) => content['perch.buttons'] !== undefined)
        .map(({ event_id: id, content }) => ({
          ...{ id, channel: [...server.rooms.keys()][0] ?? '', text: String(content['body']) },
          buttons: Object.keys(Object(content['perch.buttons']) as object).map((value) => ({
            label: new RegExp(`${value} for “([^”]+)”`).exec(String(content['body']))?.[1] ?? '',
            value,
          })),
        })),
    press: ({ id, channel }, key, sender) =>
      void server.write(channel, '', {
        ...{ sender, type: 'm.reaction' },
        'm.relates_to': { rel_type: 'm.annotation', event_id: id, key: `${key}\u{fe0f}` },
      }),
    answers: () => answers().map(({ content }) => String(content['body'])),
    edits: () => server.sent().flatMap(({ content }) => (isEdit(content) ? [String(content['body'])] : [])),
    stop: () => server[Symbol.asyncDispose](),
  };
}

async function startWhatsApp(clock: FakeClock): Promise<Platform> {
  const server = await startWhatsAppServer(() => clock.now());
  const isAnswer = ({ type, biz_opaque_callback_data: piece }: { type: string; biz_opaque_callback_data?: string }): boolean =>
    type === 'text' && piece === undefined;
  return {
    channelId: 'whatsapp',
    settings: {
      ...{ accessToken: WHATSAPP_TOKEN, secret: WHATSAPP_SECRET, verifyToken: 'a word', phoneNumberId: WHATSAPP_PHONE },
      apiBase: server.url,
    },
    ...{ owner: WHATSAPP_ADA, stranger: '491702222222', canEdit: false },
    posts: () =>
      server.sent
        .filter(({ interactive }) => interactive)
        .map(({ id, to, interactive }) => ({
          ...{ id, channel: to, text: interactive?.body.text ?? '' },
          buttons: (interactive?.action.buttons ?? []).map(({ reply }) => ({ label: reply.title, value: reply.id })),
        })),
    press: ({ id }, value, from, gw) => {
      const reply = { type: 'interactive', text: undefined, interactive: { type: 'button_reply', button_reply: { id: value, title: '' } } };
      void callWebhook(gw, server.createMessage('', { ...reply, from, context: { from: WHATSAPP_PHONE, id } }));
    },
    answers: () => server.sent.filter(isAnswer).map(({ text }) => text?.body ?? ''),
    edits: () => [],
    stop: () => server[Symbol.asyncDispose](),
  };
}

/** Signal has no buttons: each post names codes to reply with. */
async function startSignal(clock: FakeClock): Promise<Platform> {
  const server = await startSignalServer(() => clock.now());
  const CODE_LINE = /^(Allow once|Deny): write "(.*)"\.$/gm;
  const sent = server.sent as readonly { timestamp: number; message?: string; editTimestamp?: number }[];
  const texts = (isEdit: boolean) => sent.flatMap((each) => ((each.editTimestamp !== undefined) === isEdit ? [each.message ?? ''] : []));
  return {
    channelId: 'signal',
    settings: { apiBase: server.url, account: SIGNAL_ACCOUNT },
    ...{ owner: SIGNAL_ADA.sourceUuid, stranger: '22222222-bbbb-4bbb-8bbb-222222222222' },
    posts: () =>
      texts(false)
        .filter((text) => text.includes('write "'))
        .map((text) => ({
          ...{ id: '', channel: '', text },
          buttons: [...text.matchAll(CODE_LINE)].map(([, label = '', value = '']) => ({ label, value })),
        })),
    press: (_post, value, by) => void server.write(value, { from: { sourceUuid: by, sourceName: 'Somebody' } }),
    answers: () => texts(false).filter((text) => /^(Allowed|Denied|Already decided|Only the owner)/.test(text)),
    edits: () => texts(true),
    stop: () => server[Symbol.asyncDispose](),
  };
}

describe.each([
  ['signal', startSignal],
  ['whatsapp', startWhatsApp],
  ['matrix', startMatrix],
  ['slack', startSlack],
  ['discord', startDiscord],
])('buttons on %s', (_name, start) => {
  verifies(['push/people', 'push/bound'], 'the owner allows and denies what was shown, once; nobody else does', async () => {
    const clock = new FakeClock();
    const platform = await start(clock);
    const { channelId, settings, owner, stranger } = platform;
    await using gw = await createChannelGateway(
      { [channelId]: { ...settings, enabled: true, allowedUsers: [], owners: [owner] } },
      { model: callMemory, clock },
    );
    const { client } = await gw.client();
    await client.call('config.patch', {
      patch: { tools: { policies: { memory_add: 'ask' } }, approvals: { deliver: [{ kind: 'channel', channelId }] } },
    });
    const passes = (condition: () => boolean | Promise<boolean>, label: string) => gw.advanceUntil(condition, label, 100);
    await passes(async () => (await gw.status(channelId)).status === 'running', 'it runs');
    const press = async (post: ApprovalPost, index: number, by = owner): Promise<string | undefined> => {
      const before = platform.answers().length;
      platform.press(post, post.buttons[index]?.value ?? '', by, gw);
      await passes(() => platform.answers().length > before, 'the end of a press');
      return platform.answers().at(-1);
    };
    const ask = async (message: string, sessionId: string) => {
      const before = platform.posts().length;
      const sent = client.call('chat.send', { message, sessionId });
      await passes(() => platform.posts().length > before, 'a post');
      const post = platform.posts().at(-1);
      if (!post) throw new Error('no post');
      return { sent, post };
    };
    const first = await ask('first', 'one');
    expect(first.post.buttons.map(({ label }) => label)).toEqual(['Allow once', 'Deny']);
    expect(await press(first.post, 0, stranger)).toBe('Only the owner can decide.');
    expect(await press(first.post, 0)).toBe('Allowed.');
    expect(await press(first.post, 1)).toBe('Already decided: Allowed by the owner on ' + `${channelId}.`);
    await first.sent;
    const second = await ask('second', 'two');
    expect(await press(second.post, 1)).toBe('Denied.');
    await second.sent;
    const { approvals } = await client.call('approvals.list', { status: 'all' });
    expect(approvals.map(({ status }) => status).sort()).toEqual(['approved', 'denied']);
    const endings = [`Allowed by the owner on ${channelId}.`, `Denied by the owner on ${channelId}.`];
    const expected = platform.canEdit === false ? [] : endings;
    await passes(() => platform.edits().length === expected.length, 'the buttons are removed');
    expect(platform.edits().map((text) => text.split('\n').at(-1))).toEqual(expected);
    const { deliveries } = await client.call('deliveries.list', {});
    expect(deliveries.map(({ state }) => state)).toEqual(
      deliveries.map(() => (['discord', 'whatsapp', 'signal'].includes(channelId) ? 'accepted' : 'delivered')),
    );
    expect(gw.faults).toEqual([]);
    await platform.stop();
  });
});
