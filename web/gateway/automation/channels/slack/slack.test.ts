import { describe, expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { createChannelGateway } from '../../../../../tests/support/channel-gateway.ts';
import { FakeClock } from '../../../../../tests/support/fake-clock.ts';
import type { PlatformRequest } from '../../../../../tests/support/platform-server.ts';
import { ADA, BOB, SLACK_APP_TOKEN, SLACK_BOT_TOKEN, SLACK_SELF, startSlackServer } from '../../../../../tests/support/slack-server.ts';
import type { Say } from '../../../../../tests/support/test-gateway.ts';

/** Repeats the message. */
const echoScript = ({ body: { messages } }: { body: { messages: { content: unknown }[] } }): Say[] => [
  `You said: ${String(messages.at(-1)?.content)}`,
];
const isCall =
  (method: string) =>
  ({ path }: PlatformRequest): boolean =>
    path === `/api/${method}`;

/** Slack's server, and a gateway that is connected to it. */
async function createSlackGateway(
  settings: Record<string, unknown> = {},
  options: Omit<NonNullable<Parameters<typeof createChannelGateway>[1]>, 'clock'> = {},
) {
  const clock = new FakeClock();
  const server = await startSlackServer(() => clock.now());
  const tokens = { botToken: SLACK_BOT_TOKEN, appToken: SLACK_APP_TOKEN };
  const slack = { enabled: true, ...tokens, apiBase: server.url, allowedUsers: [ADA, BOB], ...settings };
  const gw = await createChannelGateway({ slack }, { model: echoScript, ...options, clock });
  const { client } = await gw.client();
  const status = () => gw.status('slack');
  const passes = (condition: () => boolean | Promise<boolean>, label?: string) => gw.advanceUntil(condition, label, 100);
  const pending = async () => (await gw.vault.collection('channelStates').get('slack'))?.pending ?? [];
  return {
    ...{ server, gw, client, clock, status, passes, pending },
    said: () => server.sent().map(({ text }) => text),
    runs: () => passes(async () => (await status()).status === 'running', 'it runs'),
    settles: () => passes(async () => (await pending()).length === 0, 'no message waits'),
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      await server.stop();
    },
  };
}

describe('slack', () => {
  verifies('channels/slack', 'private messages are answered, mentions in channels within a thread, each a chat of its own', async () => {
    await using at = await createSlackGateway();
    await at.runs();
    at.server.write('Hello &lt;you&gt;?');
    await at.passes(() => at.said().length === 1, 'an answer');
    expect(at.server.sent()[0]).toMatchObject({ text: 'You said: Hello &lt;you&gt;?', channel: 'D1ADA' });
    expect(at.server.sent()[0]?.thread_ts).toBeUndefined();
    at.server.write('nobody is asked', { channel: 'C1' });
    const asked = at.server.write(`<@${SLACK_SELF}> what do <@${BOB}> and I eat?`, { channel: 'C1' });
    await at.passes(() => at.said().length === 2, 'an answer in the channel');
    expect(at.server.sent()[1]).toMatchObject({ text: 'You said: Ada: what do @Bob and I eat?', channel: 'C1', thread_ts: asked });
    at.server.write('among us', { from: BOB, channel: 'C1', thread_ts: asked, parent_user_id: ADA });
    at.server.write(`and dessert, <@${SLACK_SELF}>?`, { from: BOB, channel: 'C1', thread_ts: asked, parent_user_id: ADA });
    await at.passes(() => at.said().length === 3, 'an answer in the thread');
    expect(at.server.sent()[2]).toMatchObject({ text: 'You said: Bob: and dessert, @Perch?', thread_ts: asked });
    await at.settles();
    expect((await at.client.call('sessions.list', {})).sessions.map(({ title }) => title).sort()).toEqual([
      'Slack: #kitchen',
      'Slack: Ada',
    ]);
    expect(at.gw.calls).toHaveLength(3);
    expect((await at.status()).metrics).toMatchObject({ messages_received: 3, messages_sent: 3 });
    // Whatever came was acknowledged, the account's own messages too.
    await at.passes(() => at.server.unacknowledged.size === 0, 'all is acknowledged');
    expect(at.gw.faults).toEqual([]);
  });

  verifies('channels/slack', 'an answer keeps its formatting, links nobody by name, and is split', async () => {
    const answer = [
      '# Plan',
      '',
      '**Buy** <!channel> & [bread](https://example.com/a?b=1&c=2):',
      '',
      '- 1 < 2',
      '',
      'word '.repeat(1500),
    ].join('\n');
    await using at = await createSlackGateway({}, { model: () => [answer] });
    await at.runs();
    at.server.write('Hello?');
    await at.passes(() => at.said().length > 0, 'an answer');
    await at.settles();
    expect(at.said().length).toBeGreaterThan(1);
    const text = '*Plan*\n\n*Buy* &lt;!channel&gt; &amp; <https://example.com/a?b=1&amp;c=2|bread>:\n\n• 1 &lt; 2';
    expect(at.said().join('\n').startsWith(text)).toBe(true);
    expect(at.said().every((piece) => piece.length <= 4000)).toBe(true);
  });

  verifies('channels/slack-once', 'lost responses, errors and limits: each message is answered once', async () => {
    await using at = await createSlackGateway({ limits: { perMinute: 1000 } });
    await at.runs();
    let sends = 0;
    const faults = [
      { cut: 'done' },
      { status: 429, body: '{"ok":false,"error":"ratelimited"}', headers: { 'retry-after': '2' } },
      { status: 503, body: 'Bad gateway' },
      { cut: 'before' },
      { status: 200, body: '{"ok":false,"error":"fatal_error"}' },
    ] as const;
    at.server.fault = (request) =>
      isCall('chat.postMessage')(request) && sends++ % 2 === 0 ? faults[(sends >> 1) % faults.length] : undefined;
    const texts = Array.from({ length: 8 }, (_, index) => `message ${index}`);
    for (const text of texts) at.server.write(text);
    await at.passes(() => at.said().length === texts.length, 'all are answered');
    await at.settles();
    expect(at.said()).toEqual(texts.map((text) => `You said: ${text}`));
    expect(at.gw.calls).toHaveLength(texts.length);
  });

  verifies('channels/slack-once', 'an app that may not read metadata finds a piece by its text', async () => {
    await using at = await createSlackGateway();
    Object.assign(at.server.options, { hidesMetadata: true });
    await at.runs();
    let isFirst = true;
    at.server.fault = (request) => (isCall('chat.postMessage')(request) && isFirst ? ((isFirst = false), { cut: 'done' }) : undefined);
    at.server.write('once?');
    await at.passes(async () => (await at.status()).metrics?.messages_sent === 1, 'it is answered');
    expect(at.said()).toEqual(['You said: once?']);
  });

  verifies('channels/slack-once', 'what Slack repeats is answered once, and acknowledged once it is stored', async () => {
    const gate = Promise.withResolvers<void>();
    await using at = await createSlackGateway({}, { model: (call) => [{ wait: gate.promise }, ...echoScript(call)] });
    await at.runs();
    at.server.write('one');
    at.server.repeat();
    await at.passes(async () => (await at.pending()).length === 1, 'it is stored');
    at.server.repeat();
    await at.passes(() => at.server.unacknowledged.size === 0, 'it is acknowledged');
    gate.resolve();
    await at.passes(() => at.said().length === 1, 'an answer');
    await at.settles();
    expect(at.gw.calls).toHaveLength(1);
  });

  verifies('channels/slack-once', 'a connection is replaced when Slack asks, and after a cut what was missed is fetched', async () => {
    await using at = await createSlackGateway();
    await at.runs();
    const asked = at.server.write(`<@${SLACK_SELF}> one`, { channel: 'C1' });
    await at.passes(() => at.said().length === 1, 'an answer');
    await at.settles();
    at.server.askToReconnect();
    at.server.write('two');
    await at.passes(() => at.said().length === 2 && at.server.connections() === 2, 'an answer, and a new connection');
    await at.settles();
    at.server.options.isDeaf = true;
    at.server.cut();
    at.server.write('three');
    at.server.write(`<@${SLACK_SELF}> four`, { channel: 'C1', thread_ts: asked });
    await at.passes(() => at.said().length === 4, 'answers to what was missed');
    at.server.options.isDeaf = false;
    at.server.repeat();
    await at.settles();
    expect(at.said().sort()).toEqual(['You said: Ada: four', 'You said: Ada: one', 'You said: three', 'You said: two']);
    expect(at.gw.calls).toHaveLength(4);
  });

  verifies('channels/slack-once', 'a connection that is silent for long is replaced', async () => {
    await using at = await createSlackGateway();
    await at.runs();
    at.clock.advance(310_000);
    await at.passes(() => at.server.connections() === 2, 'it connects again');
    at.server.write('still there?');
    await at.passes(() => at.said().length === 1, 'an answer');
  });

  verifies(
    'channels/slack-errors',
    'wrong and revoked tokens, a missing one, and socket mode that is off are told, without the tokens',
    async () => {
      await using at = await createSlackGateway({ botToken: 'xoxb-wrong' });
      const patch = (slack: object) => at.client.call('config.patch', { patch: { channels: { slack } } });
      const fails = (text: string) => at.passes(async () => (await at.status()).problem?.includes(text) === true, text);
      await fails('Slack rejected channels.slack.botToken (invalid_auth).');
      await patch({ botToken: 'xapp-mixed-up' });
      await fails('channels.slack.botToken is not a valid bot token: it begins with xoxb-.');
      await patch({ botToken: SLACK_BOT_TOKEN, appToken: 'xapp-wrong' });
      await fails('Slack rejected channels.slack.appToken (invalid_auth).');
      await patch({ appToken: null });
      await fails('channels.slack.appToken is not set.');
      at.server.options.linkDisabled = true;
      await patch({ appToken: SLACK_APP_TOKEN });
      await fails('Socket mode is turned off.');
      at.server.options.linkDisabled = false;
      await patch({ groups: 'mentions' });
      await at.runs();
      at.server.options.tokenError = 'token_revoked';
      at.server.cut();
      await fails('(token_revoked)');
      at.server.options.tokenError = '';
      await at.client.call('channels.start', { channelId: 'slack' });
      await at.runs();
      at.server.options.missingScope = 'chat:write';
      at.server.write('hello');
      await fails('The Slack app lacks the scope chat:write.');
      at.server.options.missingScope = '';
      await at.passes(() => at.said().length === 1, 'an answer after all');
      expect(JSON.stringify([at.gw.faults, await at.status()])).not.toContain('the-token');
    },
  );

  verifies(['channels/edits', 'channels/reactions', 'channels/deleted'], 'on Slack too', async () => {
    const gate = Promise.withResolvers<void>();
    await using at = await createSlackGateway(
      { reactions: true },
      {
        model: (call) =>
          String(call.body.messages.at(-1)?.content).includes('slow') ? [{ wait: gate.promise }, 'slow one'] : echoScript(call),
      },
    );
    await at.runs();
    const slow = at.server.write('slow');
    await at.passes(() => at.gw.calls.length === 1, 'the first one is asked');
    const [taken, mended] = [at.server.write('taken back'), at.server.write('tpyo')];
    at.server.remove(taken);
    at.server.edit(mended, 'typo');
    await at.passes(async () => JSON.stringify(await at.pending()).includes('typo') && (await at.pending()).length === 2, 'both are known');
    gate.resolve();
    await at.passes(() => at.said().length === 2, 'two answers');
    await at.settles();
    at.server.edit(mended, 'types');
    await at.passes(() => at.said().length === 3, 'the last one again');
    await at.settles();
    expect(at.said()).toEqual(['slow one', 'You said: typo', 'You said: types']);
    await at.passes(() => at.server.reactions.length === 6, 'the reactions are removed');
    expect(at.server.reactions.slice(0, 2)).toEqual([`add eyes ${slow}`, `remove eyes ${slow}`]);
  });

  verifies('channels/slack-files', 'files come with the token, and only from Slack', async () => {
    await using at = await createSlackGateway({}, { model: () => ['Here it is.'] });
    await at.runs();
    const file = (url: string) => ({ name: 'notes.txt', mimetype: 'text/plain', size: 6, url_private_download: url });
    at.server.write('see this', { subtype: 'file_share', files: [file(`${at.server.url}/files/F1/notes.txt`)] });
    await at.passes(() => at.said().length === 1, 'an answer');
    expect(JSON.stringify(at.gw.calls[0]?.body.messages)).toContain('[Document notes.txt]\\na file');
    await at.settles();
    at.server.write('and that', { subtype: 'file_share', files: [file('https://drive.example.com/notes.txt')] });
    await at.passes(() => at.said().length === 2, 'an answer about the file');
    expect(at.said()[1]).toContain('The file is not stored on Slack');
    at.server.options.missingScope = 'files:read';
    await at.settles();
    at.server.fault = (request) => (isCall('chat.postMessage')(request) ? ((at.server.options.missingScope = ''), undefined) : undefined);
    at.server.write('again', { subtype: 'file_share', files: [file(`${at.server.url}/files/F1/notes.txt`)] });
    await at.passes(() => at.said().length === 3, 'an answer about the scope');
    expect(at.said()[2]).toContain('files:read');
  });

  verifies('channels/slack-files', 'files of an answer go into its thread', async () => {
    let calls = 0;
    await using at = await createSlackGateway(
      { tools: ['send_file'], owners: [ADA] },
      { model: () => (++calls === 1 ? [{ tool: 'send_file', args: { path: 'notes.txt' } }] : ['Here it is']) },
    );
    await at.client.call('workspace.write', { path: 'notes.txt', content: 'the notes' });
    await at.runs();
    const asked = at.server.write(`<@${SLACK_SELF}> send me the file`, { channel: 'C1' });
    await at.passes(() => at.server.files.length === 1, 'the file');
    await at.settles();
    expect(at.said()).toEqual(['Here it is']);
    expect(at.server.files).toEqual([{ name: 'notes.txt', content: 'the notes', channel: 'C1', thread_ts: asked }]);
  });
});
