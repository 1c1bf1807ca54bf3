import { describe, expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { createChannelGateway } from '../../../../../tests/support/channel-gateway.ts';
import { FakeBridge } from '../../../../../tests/support/fake-bridge.ts';
import { FakeClock } from '../../../../../tests/support/fake-clock.ts';
import { isMatrixCall, MATRIX_SELF, MATRIX_TOKEN, startMatrixServer } from '../../../../../tests/support/matrix-server.ts';
import { failFirst } from '../../../../../tests/support/platform-server.ts';
import type { Say } from '../../../../../tests/support/test-gateway.ts';

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=', 'base64');
const ADA = '@ada:matrix.test';
const BOB = '@bob:matrix.test';

/** Repeats the message. */
const echoScript = ({ body: { messages } }: { body: { messages: { content: unknown }[] } }): Say[] => [
  `You said: ${String(messages.at(-1)?.content)}`,
];

/** A homeserver, and a gateway without a bridge that is connected to it. */
async function createMatrixGateway(settings: Record<string, unknown> = {}, options: Parameters<typeof createChannelGateway>[1] = {}) {
  const clock = new FakeClock();
  const server = await startMatrixServer(clock);
  const matrix = { enabled: true, homeserver: `${server.url}/`, accessToken: MATRIX_TOKEN, allowedUsers: [ADA, BOB], ...settings };
  const gw = await createChannelGateway({ matrix }, { model: echoScript, bridge: new FakeBridge(), ...options, clock });
  const { client } = await gw.client();
  const status = () => gw.status('matrix');
  const said = () => server.sent().map(({ content }) => content['body']);
  const isSettled = async () => (await gw.vault.collection('channelStates').get('matrix'))?.pending.length === 0;
  return {
    ...{ server, gw, client, clock, status, said },
    sessionId: async () => (await client.call('sessions.list', {})).sessions[0]?.sessionId ?? '',
    passes: gw.advanceUntil,
    runs: () => gw.advanceUntil(async () => (await status()).status === 'running', 'it runs'),
    settles: () => gw.advanceUntil(isSettled, 'no message waits'),
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('matrix', () => {
  verifies('channels/matrix', 'without a bridge, a message runs an agent, and the answer goes back with its formatting', async () => {
    await using at = await createMatrixGateway({}, { model: () => ['**Hi** <b>Ada</b>'] });
    const room = at.server.openRoom();
    at.server.write(room, 'from before');
    await at.runs();
    const asked = at.server.write(room, 'Hello?');
    await at.passes(() => at.said().length === 1, 'an answer');
    expect(at.server.sent()[0]?.content).toMatchObject({
      msgtype: 'm.text',
      body: '**Hi** <b>Ada</b>',
      formatted_body: '<p><strong>Hi</strong> &lt;b&gt;Ada&lt;/b&gt;</p>',
      'm.mentions': {},
    });
    await at.settles();
    expect(at.gw.calls).toHaveLength(1);
    expect(at.server.readByAccount).toEqual([asked]);
    expect(at.server.typing).toContainEqual({ roomId: room, typing: true });
    expect((await at.client.call('sessions.list', {})).sessions).toMatchObject([{ title: 'Matrix: Ada' }]);
    expect((await at.status()).metrics).toMatchObject({ messages_received: 1, messages_sent: 1 });
    expect(at.gw.faults).toEqual([]);
  });

  verifies('channels/matrix-groups', 'in a group only mentions and replies, each thread a conversation of its own', async () => {
    await using at = await createMatrixGateway();
    const room = at.server.openRoom([ADA, BOB], { name: 'Kitchen' });
    await at.runs();
    at.server.write(room, 'nobody is asked');
    const asked = at.server.write(room, 'Perch: what is for dinner?', { 'm.mentions': { user_ids: [MATRIX_SELF] } });
    await at.passes(() => at.said().length === 1, 'an answer');
    const [answer] = at.server.sent();
    expect(answer?.content).toMatchObject({
      body: 'You said: Ada: what is for dinner?',
      'm.relates_to': { 'm.in_reply_to': { event_id: asked } },
    });
    await at.settles();
    at.server.write(room, 'and dessert?', { sender: BOB, 'm.relates_to': { 'm.in_reply_to': { event_id: answer?.event_id } } });
    await at.passes(() => at.said().length === 2, 'an answer to a reply');
    const thread = { rel_type: 'm.thread', event_id: asked, is_falling_back: true, 'm.in_reply_to': { event_id: answer?.event_id } };
    at.server.write(room, 'a word among us', { 'm.relates_to': thread });
    at.server.write(room, 'perch, and here?', { 'm.relates_to': thread });
    await at.passes(() => at.said().length === 3, 'an answer in the thread');
    expect(at.server.sent()[2]?.content).toMatchObject({
      body: 'You said: Ada: and here?',
      'm.relates_to': { rel_type: 'm.thread', event_id: asked },
    });
    expect((await at.client.call('sessions.list', {})).sessions).toHaveLength(2);
    expect(at.said()).toEqual(['You said: Ada: what is for dinner?', 'You said: Bob: and dessert?', 'You said: Ada: and here?']);
  });

  verifies(
    'channels/groups',
    '`groups` and `rooms` say which messages and which groups; members of a listed group are let in',
    async () => {
      await using at = await createMatrixGateway({ allowedUsers: null, rooms: ['!room1:matrix.test'], groups: 'all' });
      const listed = at.server.openRoom([ADA, BOB], { name: 'Kitchen' });
      const other = at.server.openRoom([ADA, BOB], { name: 'Attic' });
      await at.runs();
      at.server.write(other, 'Perch: hello', { 'm.mentions': { user_ids: [MATRIX_SELF] } });
      at.server.write(listed, 'hello');
      await at.passes(() => at.said().length === 1, 'an answer');
      await at.settles();
      expect(at.server.sent().map(({ content }) => content['body'])).toEqual(['You said: Ada: hello']);
      await at.client.call('config.patch', { patch: { channels: { matrix: { groups: 'off' } } } });
      await at.runs();
      at.server.write(listed, 'Perch: hello?', { 'm.mentions': { user_ids: [MATRIX_SELF] } });
      const direct = at.server.openRoom([BOB]);
      at.server.write(direct, 'hi', { sender: BOB });
      await at.passes(() => at.said().length === 2, 'a code for the stranger');
      expect(at.said()[1]).toMatch(/give this code to my owner/);
      expect(at.gw.calls).toHaveLength(1);
    },
  );

  verifies('channels/edits', 'an edit replaces a waiting message; of answered ones only the last is answered again', async () => {
    const gate = Promise.withResolvers<void>();
    await using at = await createMatrixGateway(
      {},
      {
        model: (call) =>
          String(call.body.messages.at(-1)?.content).includes('slow') ? [{ wait: gate.promise }, 'slow one'] : echoScript(call),
      },
    );
    const room = at.server.openRoom();
    await at.runs();
    const edit = (eventId: string, text: string) =>
      at.server.write(room, `* ${text}`, {
        'm.new_content': { msgtype: 'm.text', body: text },
        'm.relates_to': { rel_type: 'm.replace', event_id: eventId },
      });
    const first = at.server.write(room, 'slow');
    const second = at.server.write(room, 'tpyo');
    await at.passes(() => at.gw.calls.length === 1, 'the first one is asked');
    edit(second, 'typo');
    await at.passes(async () => JSON.stringify((await at.gw.vault.collection('channelStates').get('matrix'))?.pending).includes('typo'));
    gate.resolve();
    await at.passes(() => at.said().length === 2, 'two answers');
    await at.settles();
    edit(first, 'too late');
    edit(second, 'types');
    await at.passes(() => at.said().length === 3, 'the last one again');
    await at.settles();
    expect(at.said()).toEqual(['slow one', 'You said: typo', 'You said: types']);
  });

  verifies(
    'channels/matrix-invites',
    'people who are let in may invite it, others only to a private chat, where they get a code',
    async () => {
      await using at = await createMatrixGateway({ allowedUsers: null, pairedUsers: [{ id: ADA, name: ADA }] });
      await at.runs();
      const mine = at.server.openRoom([ADA, BOB], { name: 'Kitchen', isInvited: true });
      await at.passes(() => at.server.rooms.get(mine)?.members.has(MATRIX_SELF) === true, 'it joins');
      const theirs = at.server.openRoom([BOB, '@eve:matrix.test'], { name: 'Spam', isInvited: true });
      await at.passes(() => at.server.left.length === 1, 'it declines');
      expect(at.server.left).toEqual([{ roomId: theirs, reason: expect.stringContaining('people I know') as string }]);
      const direct = at.server.openRoom([BOB], { isInvited: true });
      at.server.write(direct, 'let me in', { sender: BOB });
      await at.passes(() => at.said().length === 1, 'a code');
      expect(at.said()[0]).toMatch(/give this code to my owner/);
      expect(at.server.direct()).toEqual({ [BOB]: [direct] });
      const disguised = at.server.openRoom([BOB, '@eve:matrix.test', ADA], { isDirect: true, isInvited: true });
      await at.passes(() => at.server.left.length === 2, 'it leaves');
      expect(at.server.left[1]?.roomId).toBe(disguised);
      expect(at.gw.calls).toEqual([]);
    },
  );

  verifies('channels/matrix-invites', 'a private chat that the owner has left gets no message for the owner', async () => {
    await using at = await createMatrixGateway({ owners: [ADA] });
    await at.runs();
    const first = at.server.openRoom([ADA], { isInvited: true });
    await at.passes(() => at.server.direct()[ADA]?.length === 1, 'it joins');
    const members = at.server.rooms.get(first)?.members;
    members?.delete(ADA);
    members?.set(BOB, 'Bob');
    const target = { kind: 'channel', channelId: 'matrix', to: ADA };
    await at.client.call('config.patch', { patch: { deliveries: { targets: [{ id: 'me', name: 'Me', target }] } } });
    await at.client.call('deliveries.test', { targetId: 'me' });
    await at.passes(() => at.said().length === 1, 'the message');
    const [, second] = at.server.direct()[ADA] ?? [];
    expect([...at.server.rooms.keys()]).toEqual([first, second]);
    expect([...(at.server.rooms.get(second ?? '')?.members.keys() ?? [])]).toEqual([ADA, MATRIX_SELF]);
  });

  verifies(
    'channels/matrix-once',
    'lost responses, errors, limits, repeats and gaps: each message is answered once, in one message',
    async () => {
      await using at = await createMatrixGateway({ limits: { perMinute: 1000 } });
      const room = at.server.openRoom();
      await at.runs();
      let sends = 0;
      const faults = [
        { cut: 'done' },
        { status: 502, body: 'Bad gateway' },
        { status: 429, body: '{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":2000}' },
        { cut: 'before' },
      ] as const;
      at.server.fault = (request) =>
        isMatrixCall('send/')(request) && sends++ % 2 === 0 ? faults[(sends >> 1) % faults.length] : undefined;
      Object.assign(at.server.options, { limit: 3, repeats: 5 });
      const texts = Array.from({ length: 12 }, (_, index) => `message ${index}`);
      for (const text of texts) at.server.write(room, text);
      await at.passes(() => at.said().length === texts.length, 'all are answered');
      await at.settles();
      expect(at.said()).toEqual(texts.map((text) => `You said: ${text}`));
      expect(at.gw.calls).toHaveLength(texts.length);
    },
  );

  verifies('channels/matrix-once', 'a server that forgot the transaction is asked for the piece', async () => {
    await using at = await createMatrixGateway();
    const room = at.server.openRoom();
    await at.runs();
    at.server.fault = failFirst(1, { cut: 'done' }, (request) => {
      const matches = isMatrixCall('send/')(request);
      if (matches) setTimeout(() => at.server.forgetTransactions());
      return matches;
    });
    at.server.write(room, 'once?');
    await at.passes(async () => (await at.status()).metrics?.messages_sent === 1, 'it is answered');
    expect(at.said()).toEqual(['You said: once?']);
  });

  verifies('channels/matrix-errors', 'a wrong token, a missing server and a limit are told, without the token', async () => {
    await using at = await createMatrixGateway({ accessToken: 'wrong-token' });
    await at.passes(async () => (await at.status()).status === 'error', 'it fails');
    expect((await at.status()).problem).toBe(
      'Matrix rejected channels.matrix.accessToken (M_UNKNOWN_TOKEN: Invalid access token passed.). Sign in again and copy a new token.',
    );
    await at.client.call('config.patch', { patch: { channels: { matrix: { accessToken: MATRIX_TOKEN } } } });
    await at.runs();
    at.server.fault = () => ({ status: 429, body: '{"errcode":"M_LIMIT_EXCEEDED","error":"Too many","retry_after_ms":3600000}' });
    at.server.openRoom();
    await at.passes(async () => (await at.status()).status === 'error', 'it is limited');
    expect((await at.status()).problem).toMatch(/^Matrix is limiting requests until \d\d:\d\d:\d\d UTC\.$/);
    await at.client.call('config.patch', { patch: { channels: { matrix: { homeserver: null } } } });
    await at.passes(async () => (await at.status()).problem === 'channels.matrix.homeserver is not set.', 'the address is missing');
  });

  verifies('channels/matrix', 'an encrypted chat is told once that it cannot be read', async () => {
    await using at = await createMatrixGateway();
    const room = at.server.openRoom();
    await at.runs();
    at.server.write(room, '', { type: 'm.room.encrypted', algorithm: 'm.megolm.v1.aes-sha2' });
    at.server.write(room, '', { type: 'm.room.encrypted', algorithm: 'm.megolm.v1.aes-sha2' });
    await at.passes(() => at.said().length === 1, 'a notice');
    await at.settles();
    expect(at.said()).toEqual([expect.stringContaining('encryption turned off')]);
    expect(at.gw.calls).toEqual([]);
  });

  verifies('channels/matrix-files', 'pictures and documents reach the agent, and files of an answer go out', async () => {
    await using at = await createMatrixGateway(
      { tools: ['send_file'], owners: [ADA] },
      {
        model: ({ body: { messages } }) =>
          messages.at(-1)?.content === 'send me yours' ? [{ tool: 'send_file', args: { path: 'notes.txt' } }] : ['Here you are'],
      },
    );
    const room = at.server.openRoom();
    await at.client.call('workspace.write', { path: 'notes.txt', content: 'the notes' });
    await at.runs();
    at.server.write(room, 'send me yours');
    await at.passes(() => at.server.media.size === 1, 'the file');
    await at.settles();
    expect(at.server.sent().at(-1)?.content).toMatchObject({
      ...{ msgtype: 'm.file', filename: 'notes.txt', url: 'mxc://matrix.test/file1' },
      info: { size: 9 },
    });
    expect(at.server.media.get('file1')?.bytes.toString()).toBe('the notes');
    at.server.media.set('plan', { bytes: Buffer.from('bread and wine'), mimeType: 'text/plain' });
    const share = (id: string, more: object = {}) =>
      at.server.write(room, 'plan.txt', { msgtype: 'm.file', url: `mxc://matrix.test/${id}`, info: { mimetype: 'text/plain' }, ...more });
    share('plan');
    await at.passes(
      () => JSON.stringify(at.gw.calls.at(-1)?.body.messages).includes('[Document plan.txt]\\nbread and wine'),
      'the document',
    );
    await at.settles();
    at.server.media.set('face', { bytes: PNG, mimeType: 'image/png' });
    share('face', { msgtype: 'm.image', body: 'What is this?', filename: 'face.png', info: { mimetype: 'image/png' } });
    await at.passes(() => JSON.stringify(at.gw.calls.at(-1)?.body.messages).includes('What is this?'), 'the picture with its caption');
    await at.settles();
    const sent = (await at.client.call('chat.history', { sessionId: await at.sessionId() })).messages.findLast(
      ({ role }) => role === 'user',
    );
    expect(JSON.stringify(sent?.content)).toContain('face.png');
    share('gone');
    await at.passes(() => at.said().some((text) => String(text).includes('I couldn’t read plan.txt')), 'an answer about the file');
  });

  verifies('channels/reactions', 'a message shows a reaction while it is answered, if that is turned on', async () => {
    await using at = await createMatrixGateway({ reactions: true });
    const room = at.server.openRoom();
    await at.runs();
    const asked = at.server.write(room, 'hello');
    await at.passes(() => at.server.sent('m.room.redaction').length === 1, 'the reaction is removed');
    const [reaction] = at.server.sent('m.reaction');
    expect(reaction?.content).toEqual({ 'm.relates_to': { rel_type: 'm.annotation', event_id: asked, key: '👀' } });
    expect(at.server.sent('m.room.redaction')[0]?.content).toEqual({ redacts: reaction?.event_id });
  });

  verifies('channels/sender-limits', 'a sender over the limit is told so once, and answered again later', async () => {
    await using at = await createMatrixGateway({ limits: { perMinute: 2 } });
    const room = at.server.openRoom();
    await at.runs();
    for (let count = 0; count < 6; count++) at.server.write(room, `message ${count}`);
    await at.passes(() => at.said().length === 3, 'two answers and a request to wait');
    await at.settles();
    expect(at.said().filter((text) => String(text).startsWith('You said'))).toEqual(['You said: message 0', 'You said: message 1']);
    expect(at.said().filter((text) => String(text).startsWith('You are writing faster'))).toHaveLength(1);
    at.clock.advance(61_000);
    at.server.write(room, 'again');
    await at.passes(() => at.said().includes('You said: again'), 'an answer');
  });
});
