import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { IrcServer, IrcTarget } from '#shared/ports/irc-port.ts';
import type { RpcError } from '#shared/rpc/rpc-error.ts';
import { FakeClock } from '../../../tests/support/fake-clock.ts';
import { startIrcServer } from '../../../tests/support/irc-server.ts';
import { createSelfSigned } from '../../../tests/support/self-signed-certificate.ts';
import { createIrcCapability } from './irc-handlers.ts';
import { formatLine, parseLine, readMention, readText } from './irc-line.ts';

const signal = new AbortController().signal;
const call = { signal, send: () => {} };
const ADA: IrcTarget = { kind: 'account', account: 'ada' };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(options: Parameters<typeof startIrcServer>[0] = {}, more: Partial<IrcServer> = {}) {
  const clock = new FakeClock();
  const server = await startIrcServer({ now: () => clock.now(), ...options });
  cleanups.push(() => server[Symbol.asyncDispose]());
  const capability = createIrcCapability({ clock });
  cleanups.push(() => capability.close());
  const address: IrcServer = {
    ...{ host: '127.0.0.1', port: server.port, isSecure: options.tls !== undefined, nick: 'perch', account: null },
    ...{ channels: [{ name: '#home' }], reads: 'mentions', ...more },
  };
  server.add('Ada', 'ada');
  const { handlers } = capability;
  const poll = (after: { session: string; seq: number } | null = null, waitMs = 0) =>
    handlers['irc.poll']({ server: address, after, waitMs }, call);
  const send = (id: string, text: string, to = ADA) => handlers['irc.send']({ server: address, id, to, text }, call);
  /** Lets time pass until a promise settles. */
  const advance = async <T>(promise: Promise<T>, stepMs = 500): Promise<T> => {
    let isDone = false;
    const settled = promise.finally(() => (isDone = true));
    settled.catch(() => {});
    while (!isDone) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      if (!isDone) clock.advance(stepMs);
    }
    return settled;
  };
  const fails = async (promise: Promise<unknown>): Promise<RpcError> =>
    advance(
      promise.then(
        () => Promise.reject(new Error('It did not fail.')),
        (error: RpcError) => error,
      ),
    );
  return {
    server,
    clock,
    capability,
    address,
    poll,
    send,
    advance,
    fails,
    find: (id: string) => handlers['irc.find']({ server: address, id }, call),
  };
}

describe('irc', () => {
  it('keeps messages until they are acknowledged, also for another caller', async () => {
    const { server, poll } = await start();
    const first = await poll();
    expect(first).toMatchObject({ nick: 'perch', echoes: true, messages: [] });
    await expect.poll(() => server.isIn('#home')).toBe(true);
    server.say('Ada', 'perch', 'one');
    server.say('Ada', 'perch', 'two');
    const second = await poll({ session: first.session, seq: 0 }, 1000);
    await expect.poll(async () => (await poll({ session: first.session, seq: 0 })).messages.length).toBe(2);
    const { messages } = await poll({ session: 'of another bridge', seq: 99 });
    expect(messages.map(({ text, account, channel }) => [text, account, channel])).toEqual([
      ['one', 'ada', null],
      ['two', 'ada', null],
    ]);
    expect(second.messages[0]?.id).toBe(messages[0]?.id);
    expect((await poll({ session: first.session, seq: messages[0]?.seq ?? 0 })).messages.map(({ text }) => text)).toEqual(['two']);
  });

  it('reads lines that arrive in pieces, and answers pings', async () => {
    const { server, poll } = await start();
    const { session } = await poll();
    server.pieceBytes = 1;
    server.write('PING :a b');
    server.say('Ada', 'perch', 'Grüße ☕');
    const { messages } = await poll({ session, seq: 0 }, 60_000);
    expect(messages[0]?.text).toBe('Grüße ☕');
    await expect.poll(() => server.lines).toContain('PONG :a b');
  });

  it('sends no faster than servers allow, and each line once', async () => {
    const { server, clock, poll, send, advance } = await start();
    await poll();
    await expect.poll(() => server.isIn('#home')).toBe(true);
    const startedAt = clock.monotonic();
    const texts = Array.from({ length: 12 }, (_, index) => `line ${index}`);
    await advance(Promise.all(texts.map((text, index) => send(`id ${index}`, text))));
    expect(server.sent.map(({ text }) => text)).toEqual(texts);
    // Twelve lines and the questions after them cost three seconds each, of which ten are free.
    expect(clock.monotonic() - startedAt).toBeGreaterThanOrEqual(12 * 3000 - 10_000 - 3000);
    await advance(send('id 3', 'line 3'));
    expect(server.sent).toHaveLength(12);
  });

  it('tells what is known about a line when the connection is lost', async () => {
    const { server, poll, send, find, fails, advance } = await start();
    await poll();
    server.fault = (line) => (line.startsWith('PRIVMSG') ? 'cut after' : undefined);
    const lost = await fails(send('doubtful', 'did it arrive?'));
    expect(lost.extra.details).toMatchObject({ reason: 'lost', isUnsent: false });
    expect(await find('doubtful')).toEqual({ outcome: 'unknown' });
    const off = await fails(send('early', 'nobody is there'));
    expect(off.extra.details).toMatchObject({ isUnsent: true });
    expect(await find('early')).toEqual({ outcome: 'unsent' });
    server.fault = () => undefined;
    await advance(poll());
    expect((await advance(send('early', 'now'))).sentId).toMatch(/^m\d/);
    expect(await find('early')).toMatchObject({ outcome: 'sent' });
    expect(await find('never')).toEqual({ outcome: 'unknown' });
  });

  it('refuses what the server refuses: absent people, closed channels, dropped lines', async () => {
    const { server, clock, poll, send, fails } = await start({ refusals: { '#home': '474' } });
    await poll();
    const absent = await fails(send('a', 'hello', { kind: 'account', account: 'bob' }));
    expect(absent.message).toBe('bob is not signed in on the server now.');
    expect(absent.extra.details).toMatchObject({ reason: 'absent', isUnsent: true, refused: false });
    expect((await fails(send('b', 'hello', { kind: 'channel', name: '#home' }))).message).toContain('Perch is not in #home');
    await expect.poll(async () => (await poll()).problems).toEqual(['Couldn’t join #home: Perch is banned there.']);
    server.fault = (line) => (line.startsWith('PRIVMSG') ? 'ignore' : undefined);
    expect((await fails(send('c', 'hello'))).message).toContain('did not pass on the message');
    // A guest who has taken somebody’s nickname is not that person.
    server.people.delete('Ada');
    server.add('ada', null, 'mallory@evil.test');
    // Its account is known for half a minute.
    clock.advance(30_000);
    expect((await fails(send('d', 'secret'))).extra.details).toMatchObject({ reason: 'absent' });
    expect(server.sent).toEqual([]);
  });

  it('joins again after a kick, later each time, and takes its nickname back', async () => {
    const { server, clock, poll, advance } = await start();
    server.add('perch');
    const { nick, session } = await poll();
    expect(nick).toBe('perch_');
    await expect.poll(() => server.isIn('#home')).toBe(true);
    server.kick('#home', 'be quiet');
    await expect.poll(async () => (await poll()).problems.join()).toContain('Perch was removed from #home: be quiet.');
    clock.advance(15_000);
    await expect.poll(() => server.isIn('#home')).toBe(true);
    server.kick('#home');
    await expect.poll(async () => (await poll()).problems.length).toBe(2);
    clock.advance(15_000);
    await poll();
    expect(server.isIn('#home')).toBe(false);
    clock.advance(15_000);
    await expect.poll(() => server.isIn('#home')).toBe(true);
    server.people.delete('perch');
    clock.advance(60_000);
    await expect.poll(() => server.nick()).toBe('perch');
    expect((await advance(poll({ session, seq: 0 }, 1000))).problems).toEqual([]);
  });

  it('waits longer after bans, floods and short connections', async () => {
    const { server, poll, fails } = await start();
    const { session } = await poll();
    const position = { session, seq: 0 };
    const waiting = poll(position, 60_000);
    server.expel('Excess Flood');
    const flood = await fails(waiting);
    expect(flood.message).toContain('because of too many messages');
    expect(flood.extra.details).toMatchObject({ reason: 'flood', retryAfterMs: 120_000 });
    const delays: unknown[] = [];
    for (let round = 0; round < 3; round++) {
      await poll(position);
      const next = poll(position, 60_000);
      server.cut();
      delays.push((await fails(next)).extra.details?.['retryAfterMs']);
    }
    expect(delays).toEqual([20_000, 40_000, 80_000]);
    server.greeting = 'Closing Link: (G-Lined)';
    expect((await fails(poll(position))).extra.details).toMatchObject({ reason: 'banned', retryAfterMs: 900_000 });
  });

  it('notices a server that has fallen silent', async () => {
    const { server, poll, fails } = await start();
    const { session } = await poll();
    server.fault = () => 'ignore';
    expect((await fails(poll({ session, seq: 0 }, 600_000))).message).toBe('The server has stopped responding.');
    expect(server.lines).toContain('PING perch');
  });

  it('signs in over TLS with an account, with a long password too', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'irc-'));
    cleanups.push(() => rm(dir, { recursive: true }));
    const { cert, key } = await createSelfSigned(dir, ['DNS:localhost']);
    const tls = { cert: await readFile(cert), key: await readFile(key) };
    const password = 'x'.repeat(300);
    const at = await start({ tls, accounts: { perch: password } }, { account: { name: 'perch', password } });
    await at.poll();
    expect(at.server.account()).toBe('perch');
    const plain = await start({}, { account: { name: 'perch', password } });
    expect((await plain.fails(plain.poll())).message).toContain('rejected the account');
    const without = await start({ extensions: [] }, { account: { name: 'perch', password } });
    expect((await without.fails(without.poll())).message).toContain('doesn’t offer SASL PLAIN');
    const mixed = await start({ tls: tls }, { isSecure: false });
    expect((await mixed.fails(mixed.poll())).extra.details).toMatchObject({ isUnsent: true });
    const open = await start({}, { isSecure: true });
    expect((await open.fails(open.poll())).message).toContain('doesn’t use TLS');
  });
});

describe('lines', () => {
  it('parses tags, sources and parameters', () => {
    expect(parseLine('@time=1;account=a\\sb;+x :n!u@h PRIVMSG #c :a :b')).toEqual({
      ...{
        tags: new Map([
          ['time', '1'],
          ['account', 'a b'],
          ['+x', ''],
        ]),
        source: 'n!u@h',
        command: 'PRIVMSG',
        params: ['#c', 'a :b'],
      },
    });
    expect(parseLine('ping x')).toMatchObject({ source: '', command: 'PING', params: ['x'] });
    expect(parseLine(':s 001 n :')).toMatchObject({ params: ['n', ''] });
    for (const text of ['', ':only', '@tags', '12 x', '!']) expect(parseLine(text)).toBeUndefined();
  });

  it('builds no line of two', () => {
    expect(formatLine('PRIVMSG', '#c', 'a\r\nQUIT :b')).toBe('PRIVMSG #c :aQUIT :b');
    expect(formatLine('NICK', 'a b:')).toBe('NICK :a b:');
    expect(formatLine('JOIN', '#a b', 'key')).toBe('JOIN #ab key');
  });

  it('removes formatting, and finds mentions as words', () => {
    expect(readText('\x0304,01red\x03 \x02bold\x0f\x01')).toBe('red bold');
    expect(readText('\x01ACTION waves\x01')).toBe('waves');
    expect(readText('\x01VERSION\x01')).toBeUndefined();
    expect(readMention('Perch, hello', 'perch')).toEqual({ isMention: true, text: 'hello' });
    expect(readMention('is perch here?', 'perch')).toEqual({ isMention: true, text: 'is perch here?' });
    expect(readMention('perched', 'perch')).toEqual({ isMention: false, text: 'perched' });
    expect(readMention('perch_: hi', 'perch').isMention).toBe(false);
    expect(readMention('[x]: hi', '[x]')).toEqual({ isMention: true, text: 'hi' });
  });
});
