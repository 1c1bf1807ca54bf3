import { describe, expect, it } from 'vitest';
import { ircPort, MAX_IRC_TEXT_BYTES } from '#shared/ports/irc-port.ts';
import { createIrcCapability } from '../../../../../bridge/capabilities/irc/irc-handlers.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { createChannelGateway, egressCapability } from '../../../../../tests/support/channel-gateway.ts';
import { createCapability, FakeBridge } from '../../../../../tests/support/fake-bridge.ts';
import { FakeClock } from '../../../../../tests/support/fake-clock.ts';
import { startIrcServer } from '../../../../../tests/support/irc-server.ts';
import { getLongTermMemory } from '../../../../../tests/support/long-term-memory.ts';
import type { ModelScript } from '../../../../../tests/support/test-gateway.ts';
import { parseIrcServer } from './irc-server-address.ts';
import { toIrcLines } from './irc-text.ts';

const echoScript: ModelScript = ({ body: { messages } }) => [`You said: ${String(messages.at(-1)?.content)}`];

/** A server, and a gateway that uses it through the bridge's capability. */
async function createIrcGateway(
  settings: Record<string, unknown> = {},
  { model = echoScript, ...options }: Parameters<typeof startIrcServer>[0] & { model?: ModelScript } = {},
) {
  const clock = new FakeClock();
  const server = await startIrcServer({ now: () => clock.now(), ...options });
  const capability = createIrcCapability({ clock });
  const irc = { enabled: true, host: `irc://127.0.0.1:${server.port}`, nick: 'perch', allowedUsers: ['ada'], join: ['#home'], ...settings };
  const bridge = new FakeBridge(egressCapability, createCapability(ircPort, capability.handlers));
  const gw = await createChannelGateway({ irc }, { model, clock, bridge });
  const { client } = await gw.client();
  const status = () => gw.status('irc');
  const passes = (condition: () => boolean | Promise<boolean>, label?: string) => gw.advanceUntil(condition, label, 200);
  const pending = async () => (await gw.vault.collection('channelStates').get('irc'))?.pending ?? [];
  server.add('Ada', 'Ada');
  return {
    ...{ server, gw, client, clock, status, passes, pending },
    said: () => server.sent.map(({ to, text }) => `${to}< ${text}`),
    runs: () => passes(async () => (await status()).status === 'running' && server.isIn('#home'), 'it runs'),
    fails: (text: string) => passes(async () => (await status()).problem?.includes(text) === true, text),
    settles: () => passes(async () => (await pending()).length === 0, 'no message waits'),
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      capability.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('irc', () => {
  verifies('channels/irc', 'private messages are answered, in channels mentions; each line is a message', async () => {
    await using at = await createIrcGateway(
      {},
      { model: ({ body: { messages } }) => [`**${String(messages.at(-1)?.content)}**\n\n- one\n- two`] },
    );
    await at.runs();
    at.server.say('Ada', 'perch', 'Hello \x02there\x02 ☕');
    await at.passes(() => at.server.sent.length === 3, 'an answer');
    expect(at.said()).toEqual(['Ada< *Hello there ☕*', 'Ada< • one', 'Ada< • two']);
    await at.settles();
    at.server.say('Ada', '#home', 'perched on a tree');
    at.server.say('Ada', '#home', 'perch: tides?');
    await at.passes(() => at.server.sent.length === 6, 'an answer in the channel');
    expect(at.said()[3]).toBe('#home< Ada: *Ada: tides?*');
    await at.settles();
    at.server.say('Ada', 'perch', '!new');
    await at.passes(() => at.server.sent.length === 7, 'a new chat');
    at.server.say('Ada', 'perch', '\x01VERSION\x01');
    at.server.say('Ada', 'perch', 'from a program', { bot: '' });
    at.server.say('Ada', 'perch', 'Again');
    await at.passes(() => at.server.sent.length === 10, 'an answer in the new chat');
    await at.settles();
    expect(at.gw.calls).toHaveLength(3);
    expect((await at.client.call('sessions.list', {})).sessions.map(({ title }) => title).sort()).toEqual([
      'IRC: #home',
      'IRC: Ada',
      'IRC: Ada',
    ]);
    expect(at.gw.faults).toEqual([]);
  });

  verifies('channels/irc-accounts', 'a nickname proves nothing: guests get a hint, accounts a code', async () => {
    await using at = await createIrcGateway({ allowedUsers: null, pairedUsers: [{ id: 'ada', name: 'ada' }] });
    await at.runs();
    at.server.people.set('Ada', { userHost: 'mallory@evil.test', account: null });
    at.server.say('Ada', 'perch', 'It is me');
    at.server.say('Ada', 'perch', 'Really');
    await at.passes(() => at.server.sent.length === 1, 'a hint');
    expect(at.said()[0]).toMatch(/^Ada< I only chat with people who are signed in/);
    at.server.add('Bob', 'bob');
    at.server.say('Bob', 'perch', 'Hi');
    await at.passes(() => at.server.sent.length === 2, 'a code');
    expect(at.said()[1]).toMatch(/^Bob< .*give this code to my owner/);
    at.server.people.set('Ada_', { userHost: 'ada@home.test', account: 'ADA' });
    at.server.say('Ada_', 'perch', 'Now signed in');
    await at.passes(() => at.said().some((text) => text.startsWith('Ada_< You said')), 'an answer');
    expect(at.gw.calls).toHaveLength(1);
    await at.settles();
  });

  verifies(
    'channels/irc-accounts',
    'without tags of accounts the server is asked, and a nickname that has passed to others is not trusted',
    async () => {
      await using at = await createIrcGateway({}, { extensions: null });
      await at.runs();
      at.server.say('Ada', 'perch', 'Who am I?');
      await at.passes(() => at.server.sent.length === 1, 'an answer');
      await at.settles();
      expect(at.server.lines).toContain('WHOIS Ada');
      at.clock.advance(60_000);
      // The message is by another connection than the one that has the nickname by the time of the answer.
      at.server.write(':Ada!mallory@evil.test PRIVMSG perch :Who am I now?');
      at.server.say('Ada', 'perch', 'And I?');
      await at.passes(() => at.server.sent.length === 2, 'an answer to the second one');
      expect(at.said()[1]).toBe('Ada< You said: And I?');
      expect(at.gw.calls).toHaveLength(2);
    },
  );

  verifies('channels/irc-approvals', 'the owner decides by a code, in private and signed in', async () => {
    const callMemory: ModelScript = ({ body: { messages } }) =>
      messages.at(-1)?.role === 'tool' ? ['ok'] : [{ tool: 'memory_add', args: { text: String(messages.at(-1)?.content) } }];
    await using at = await createIrcGateway({ allowedUsers: [], owners: ['Ada'] }, { model: callMemory });
    await at.client.call('config.patch', {
      patch: { tools: { policies: { memory_add: 'ask' } }, approvals: { deliver: [{ kind: 'channel', channelId: 'irc' }] } },
    });
    await at.runs();
    const ask = async (message: string, count: number) => {
      const sent = at.client.call('chat.send', { message, sessionId: message });
      const getReplies = () => at.said().flatMap((text) => /^Ada< (?:Allow once|Deny): write "(.*)"\.$/.exec(text)?.[1] ?? []);
      await at.passes(() => getReplies().length === count, 'codes');
      return { sent, replies: getReplies().slice(-2) };
    };
    const memories = async () => (await getLongTermMemory(at.gw.vault).memories()).map(({ text }) => text);
    const first = await ask('one', 2);
    const [allow = '', deny = ''] = first.replies;
    expect([allow, deny]).toEqual([expect.stringMatching(/^allow \d/), expect.stringMatching(/^deny \d/)]);
    at.server.add('Bob', 'bob');
    at.server.say('Bob', 'perch', allow);
    await at.passes(() => at.said().includes('Bob< Only the owner can decide.'), 'a refusal');
    at.server.say('Ada', 'perch', 'allow 2zzzz');
    await at.passes(() => at.said().some((text) => text.startsWith('Ada< This button is not valid')), 'an unknown code');
    expect(await memories()).toEqual([]);
    at.server.say('Ada', 'perch', allow.toUpperCase());
    await at.passes(() => at.said().includes('Ada< Allowed.'), 'it is allowed');
    await first.sent;
    expect(await memories()).toEqual(['one']);
    const second = await ask('two', 4);
    at.server.say('Ada', 'perch', second.replies[1] ?? '');
    await at.passes(() => at.said().includes('Ada< Denied.'), 'it is denied');
    await second.sent;
    expect(await memories()).toEqual(['one']);
  });

  verifies(
    'channels/irc-once',
    'cuts, netsplits and repeats: no message is answered twice, and no doubtful line is sent again',
    async () => {
      await using at = await createIrcGateway();
      await at.runs();
      let isFirst = true;
      at.server.fault = (line) => (line.startsWith('PRIVMSG') && isFirst ? ((isFirst = false), 'cut after') : undefined);
      at.server.say('Ada', 'perch', 'one');
      await at.passes(() => !isFirst, 'a line');
      await at.settles();
      await at.passes(() => at.server.isIn('#home'), 'it is back');
      expect(at.said()).toEqual(['Ada< You said: one']);
      isFirst = true;
      at.server.fault = (line) => (line.startsWith('PRIVMSG') && isFirst ? ((isFirst = false), 'ignore') : undefined);
      at.server.say('Ada', 'perch', 'two');
      await at.passes(() => !isFirst, 'a line');
      await at.settles();
      expect(at.said()).toHaveLength(1);
      at.server.fault = () => undefined;
      at.server.say('Ada', 'perch', 'three');
      at.server.quit('Ada');
      at.clock.advance(60_000);
      await at.passes(async () => (await at.pending())[0]?.answer !== undefined, 'the answer waits');
      expect(at.said()).toHaveLength(1);
      at.server.add('Ada', 'Ada');
      await at.passes(() => at.said().length === 2, 'an answer after the netsplit');
      expect(at.said()[1]).toBe('Ada< You said: three');
      await at.settles();
    },
  );

  verifies('channels/irc', 'messages that come first go to the account, wherever it is signed in, and the echo proves them', async () => {
    await using at = await createIrcGateway({ owners: ['ada'] });
    await at.runs();
    const targets = ['ada', '#home', 'bob'].map((to) => ({
      id: to.replace('#', ''),
      name: to,
      target: { kind: 'channel', channelId: 'irc', to },
    }));
    await at.client.call('config.patch', { patch: { deliveries: { targets } } });
    const deliver = async (targetId: string) => {
      const { delivery } = await at.client.call('deliveries.test', { targetId });
      return async () => (await at.client.call('deliveries.list', {})).deliveries.find(({ id }) => id === delivery.id)?.state;
    };
    at.server.people.delete('Ada');
    at.server.add('ada', null, 'mallory@evil.test');
    at.server.add('ada_away', 'Ada');
    at.server.say('ada_away', 'perch', 'hi');
    await at.passes(() => at.server.sent.length === 1, 'an answer');
    const [ada, home, bob] = [await deliver('ada'), await deliver('home'), await deliver('bob')];
    await at.passes(async () => (await ada()) === 'delivered' && (await home()) === 'delivered', 'two are delivered');
    expect(
      at.server.sent
        .slice(1)
        .map(({ to }) => to)
        .sort(),
    ).toEqual(['#home', 'ada_away']);
    await at.passes(async () => (await bob()) === 'waiting', 'it waits');
    at.server.add('Bobby', 'bob');
    at.server.add('bob', 'bob');
    await at.passes(async () => (await bob()) === 'delivered', 'it is delivered later');
  });

  verifies('channels/irc-errors', 'wrong settings, passwords, nicknames and bans are told', async () => {
    await using at = await createIrcGateway(
      { host: 'irc.example.org:6667', accountPassword: 'the-wrong-one' },
      { accounts: { perch: 'the-right-one' }, refusals: { '#closed': '473' } },
    );
    const patch = (irc: object) => at.client.call('config.patch', { patch: { channels: { irc } } });
    await at.fails('by TLS only');
    await patch({ host: 'irc://127.0.0.1:1', accountPassword: 'the-wrong-one' });
    await at.fails('connection refused');
    const host = `irc://127.0.0.1:${at.server.port}`;
    await patch({ host, accountPassword: 'the-wrong-one' });
    await at.fails('rejected the account or its password');
    at.server.greeting = 'Closing Link: (K-Lined: no bots)';
    await patch({ accountPassword: 'the-right-one' });
    await at.fails('has banned Perch: Closing Link: (K-Lined: no bots)');
    at.server.greeting = undefined;
    at.server.add('perch');
    await patch({ join: ['#home', '#closed'] });
    await at.fails('The nickname perch is in use. Perch is called perch_ until it is free.');
    await at.fails('Couldn’t join #closed: only those who are invited may join.');
    expect(at.server.account()).toBe('perch');
    at.server.people.delete('perch');
    await at.passes(() => at.server.nick() === 'perch', 'it has its nickname back');
    await expect(patch({ nick: 'two words' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    await expect(patch({ owners: ['~ada@home.test'] })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    const { value } = await at.client.call('config.get', {});
    expect(JSON.stringify(value)).not.toContain('the-right-one');
  });
});

describe('toIrcLines', () => {
  it('splits at characters, and says if it leaves out the rest', () => {
    const lines = toIrcLines('☕'.repeat(200));
    expect(lines.join('')).toBe('☕'.repeat(200));
    for (const line of lines) expect(new TextEncoder().encode(line).length).toBeLessThanOrEqual(MAX_IRC_TEXT_BYTES - 54);
    const long = toIrcLines(Array.from({ length: 50 }, (_, index) => `line ${index}`).join('\n'));
    expect(long).toHaveLength(40);
    expect(long.at(-1)).toContain('Open Perch to read all of it.');
    expect(toIrcLines('a\n\n```js\nlet b\n```\n[c](https://c.test)')).toEqual(['a', 'let b', 'c (https://c.test)']);
  });
});

describe('parseIrcServer', () => {
  it('uses TLS unless the scheme or the port says otherwise', () => {
    expect(parseIrcServer('irc.example.org')).toEqual({ host: 'irc.example.org', port: 6697, isSecure: true });
    expect(parseIrcServer('IRC.example.org:7000')).toEqual({ host: 'irc.example.org', port: 7000, isSecure: true });
    expect(parseIrcServer('irc.example.org:6667')).toMatchObject({ isSecure: false });
    expect(parseIrcServer('ircs://[::1]:6667/')).toEqual({ host: '[::1]', port: 6667, isSecure: true });
    for (const text of ['', 'http://example.org', 'a b', 'host:0', 'host:99999', '-x']) expect(parseIrcServer(text)).toBeUndefined();
  });
});
