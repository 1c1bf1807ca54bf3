import { describe, expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { createChannelGateway } from '../../../../../tests/support/channel-gateway.ts';
import { DISCORD_SELF, DISCORD_TOKEN, startDiscordServer } from '../../../../../tests/support/discord-server.ts';
import { FakeClock } from '../../../../../tests/support/fake-clock.ts';
import type { PlatformRequest } from '../../../../../tests/support/platform-server.ts';
import type { ModelScript, Say } from '../../../../../tests/support/test-gateway.ts';
import { toButtonPress } from './discord-messages.ts';

/** Repeats the message. */
const echoScript = ({ body: { messages } }: { body: { messages: { content: unknown }[] } }): Say[] => [
  `You said: ${String(messages.at(-1)?.content)}`,
];
const isSend = ({ method, path }: PlatformRequest): boolean => method === 'POST' && path.endsWith('/messages');

/** Discord's server, and a gateway that is connected to it. */
async function createDiscordGateway(settings: Record<string, unknown> = {}, model: ModelScript = echoScript) {
  const clock = new FakeClock();
  const server = await startDiscordServer(() => clock.now());
  const discord = { enabled: true, botToken: DISCORD_TOKEN, apiBase: server.url, allowedUsers: ['ada', 'bob'], ...settings };
  const gw = await createChannelGateway({ discord }, { model, clock });
  const { client } = await gw.client();
  const status = () => gw.status('discord');
  const passes = (condition: () => boolean | Promise<boolean>, label?: string) => gw.advanceUntil(condition, label, 100);
  return {
    ...{ server, gw, client, clock, status, passes },
    said: () => server.sent().map(({ content }) => content),
    runs: () => passes(async () => (await status()).status === 'running', 'it runs'),
    settles: () =>
      passes(async () => (await gw.vault.collection('channelStates').get('discord'))?.pending.length === 0, 'no message waits'),
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      await server.stop();
    },
  };
}

describe('discord', () => {
  verifies('channels/discord', 'private messages are answered, in channels mentions and replies, each thread by itself', async () => {
    await using at = await createDiscordGateway();
    await at.runs();
    at.server.write('Hello?');
    await at.passes(() => at.said().length === 1, 'an answer');
    expect(at.server.sent()[0]).toMatchObject({
      content: 'You said: Hello?',
      channel_id: '97',
      enforce_nonce: true,
      allowed_mentions: { parse: [] },
    });
    at.server.write('nobody is asked', { channel: '501' });
    const asked = at.server.write(`<@${DISCORD_SELF}> what is for dinner?`, { channel: '501' });
    await at.passes(() => at.said().length === 2, 'an answer in the channel');
    expect(at.server.sent()[1]).toMatchObject({ content: 'You said: ada: what is for dinner?', message_reference: { message_id: asked } });
    at.server.write('and dessert?', { from: '8', channel: '502', referenced_message: { author: { id: DISCORD_SELF, username: 'perch' } } });
    await at.passes(() => at.said().length === 3, 'an answer in the thread');
    await at.settles();
    expect((await at.client.call('sessions.list', {})).sessions.map(({ title }) => title).sort()).toEqual([
      'Discord: #dessert',
      'Discord: #kitchen',
      'Discord: ada',
    ]);
    expect(at.gw.calls).toHaveLength(3);
    expect((await at.status()).metrics).toMatchObject({ messages_received: 3, messages_sent: 3 });
    expect(at.gw.faults).toEqual([]);
    // Without the permission to read all messages.
    expect(Number(at.server.received.find(({ op }) => op === 2)?.d['intents']) & (1 << 15)).toBe(0);
  });

  verifies('channels/discord-once', 'lost answers and limits: each message is answered once', async () => {
    await using at = await createDiscordGateway();
    await at.runs();
    let sends = 0;
    const faults = [
      { cut: 'done' },
      { status: 429, body: '{"retry_after":1.5,"global":false}' },
      { status: 502, body: 'Bad gateway' },
      { cut: 'before' },
    ] as const;
    at.server.fault = (request) => {
      if (!isSend(request)) return undefined;
      // A lost answer is looked up, also if Discord has forgotten the number.
      if (sends === 2) at.server.forgetNonces();
      return sends++ % 2 === 0 ? faults[(sends >> 1) % faults.length] : undefined;
    };
    const texts = Array.from({ length: 6 }, (_, index) => `message ${index}`);
    for (const text of texts) at.server.write(text);
    await at.passes(() => at.said().length === texts.length, 'all are answered');
    await at.settles();
    expect(at.said()).toEqual(texts.map((text) => `You said: ${text}`));
    expect(at.gw.calls).toHaveLength(texts.length);
  });

  verifies('channels/discord-once', 'a cut connection goes on with its session, a lost session fetches what it missed', async () => {
    await using at = await createDiscordGateway();
    await at.runs();
    at.server.write('one');
    await at.passes(() => at.said().length === 1, 'an answer');
    at.server.cut();
    at.server.write('two');
    await at.passes(() => at.said().length === 2, 'an answer by the resumed session');
    expect(at.server.received.filter(({ op }) => op === 2)).toHaveLength(1);
    expect(at.server.received.filter(({ op }) => op === 6).length).toBeGreaterThan(0);
    await at.settles();
    await at.client.call('channels.stop', { channelId: 'discord' });
    at.server.options.hasLostSessions = true;
    at.server.write('three');
    await at.client.call('channels.start', { channelId: 'discord' });
    await at.passes(() => at.said().length === 3, 'an answer by a new session');
    await at.settles();
    expect(at.said()).toEqual(['You said: one', 'You said: two', 'You said: three']);
    expect(at.server.received.filter(({ op }) => op === 2)).toHaveLength(2);
    expect(at.gw.calls).toHaveLength(3);
  });

  verifies('channels/discord-once', 'a server for sessions that is gone is given up for a new session', async () => {
    await using at = await createDiscordGateway();
    Object.assign(at.server.options, { resumeUrl: 'ws://127.0.0.1:9' });
    await at.runs();
    at.server.write('one');
    await at.passes(() => at.said().length === 1, 'an answer');
    await at.settles();
    at.server.cut();
    at.server.write('two');
    await at.passes(() => at.said().length === 2, 'an answer by a new session');
    await at.settles();
    expect(at.said()).toEqual(['You said: one', 'You said: two']);
  });

  verifies('channels/discord-once', 'a connection without acknowledged heartbeats is replaced', async () => {
    await using at = await createDiscordGateway();
    Object.assign(at.server.options, { isDeaf: true });
    await at.runs();
    at.clock.advance(90_000);
    await at.passes(() => at.server.received.some(({ op }) => op === 6), 'it connects again');
    Object.assign(at.server.options, { isDeaf: false });
    at.server.write('still there?');
    await at.passes(() => at.said().length === 1, 'an answer');
  });

  verifies('channels/discord-errors', 'a wrong token and a missing permission are told, without the token', async () => {
    await using at = await createDiscordGateway({ botToken: 'wrong.token' });
    await at.passes(async () => (await at.status()).status === 'error', 'it fails');
    expect((await at.status()).problem).toBe(
      'Discord rejected channels.discord.botToken (401). Copy the token from the developer portal again.',
    );
    Object.assign(at.server.options, { closeCode: 4014 });
    await at.client.call('config.patch', { patch: { channels: { discord: { botToken: DISCORD_TOKEN, groups: 'all' } } } });
    await at.passes(async () => (await at.status()).problem?.includes('Message Content Intent') === true, 'the permission is missing');
    expect(Number(at.server.received.find(({ op }) => op === 2)?.d['intents']) & (1 << 15)).toBe(1 << 15);
    Object.assign(at.server.options, { closeCode: 0 });
    await at.client.call('config.patch', { patch: { channels: { discord: { groups: 'mentions' } } } });
    await at.runs();
  });

  verifies(['channels/edits', 'channels/reactions'], 'on Discord too', async () => {
    await using at = await createDiscordGateway({ reactions: true });
    await at.runs();
    const asked = at.server.write('tpyo');
    await at.passes(() => at.said().length === 1, 'an answer');
    await at.settles();
    at.server.edit(asked, 'typo');
    await at.passes(() => at.said().length === 2, 'another answer');
    await at.settles();
    expect(at.said()).toEqual(['You said: tpyo', 'You said: typo']);
    await at.passes(() => at.server.reactions.length === 4, 'the reactions are removed');
    expect(at.server.reactions[0]).toBe(`PUT ${asked}`);
  });

  verifies('channels/discord-files', 'files of a message reach the agent, and files of an answer go out', async () => {
    await using at = await createDiscordGateway({ tools: ['send_file'], owners: ['7'] }, (call) =>
      call.body.messages.at(-1)?.content === 'send me yours' ? [{ tool: 'send_file', args: { path: 'notes.txt' } }] : ['Here you are'],
    );
    await at.client.call('workspace.write', { path: 'notes.txt', content: 'the notes' });
    await at.runs();
    at.server.write('send me yours');
    await at.passes(() => at.server.files.length === 1, 'the file');
    await at.settles();
    expect(at.server.files[0]).toContain('filename="notes.txt"');
    expect(at.server.files[0]).toContain('the notes');
    const attachment = { id: '1', filename: 'plan.txt', content_type: 'text/plain', size: 6, url: `${at.server.url}/files/plan.txt` };
    at.server.write('see this', { attachments: [attachment] });
    await at.passes(() => at.gw.calls.length === 3, 'the document is read');
    await at.settles();
    expect(JSON.stringify(at.gw.calls.at(-1)?.body.messages)).toContain('[Document plan.txt]\\na file');
    // A file that is gone is named in the reply.
    at.server.write('and this', { attachments: [{ ...attachment, url: `${at.server.url}/gone` }] });
    await at.passes(() => at.said().some((text) => text.includes('I couldn’t read plan.txt')), 'an answer');
  });

  verifies('channels/deleted', 'on Discord too', async () => {
    const gate = Promise.withResolvers<void>();
    await using at = await createDiscordGateway({}, (call) =>
      String(call.body.messages.at(-1)?.content).includes('slow') ? [{ wait: gate.promise }, 'slow one'] : echoScript(call),
    );
    await at.runs();
    at.server.write('slow');
    await at.passes(() => at.gw.calls.length === 1, 'the first one is asked');
    const taken = at.server.write('taken back');
    await at.passes(async () => (await at.gw.vault.collection('channelStates').get('discord'))?.pending.length === 2, 'both wait');
    at.server.remove(taken);
    await at.passes(async () => (await at.gw.vault.collection('channelStates').get('discord'))?.pending.length === 1, 'one waits');
    gate.resolve();
    await at.settles();
    expect(at.said()).toEqual(['slow one']);
  });

  verifies('channels/discord', 'a press of a button comes with who pressed it, and whether others see the chat', () => {
    const source = {
      id: '1',
      token: 't',
      type: 3,
      channel_id: '97',
      user: { id: '7', username: 'ada' },
      data: { custom_id: 'yes' },
      message: { id: '5' },
    };
    expect(toButtonPress(source)).toEqual({
      press: { id: '1', user: { id: '7', name: 'ada' }, conversation: '97', isPrivate: true, value: 'yes', postId: '5' },
      token: 't',
    });
    const { user, ...inServer } = source;
    expect(toButtonPress({ ...inServer, guild_id: '500', member: { user } })?.press.isPrivate).toBe(false);
    expect(toButtonPress({ ...source, type: 2 })).toBeUndefined();
  });
});
