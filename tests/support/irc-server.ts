import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { toIrcKey } from '../../shared/irc-key.ts';

/** Extensions of modern servers. */
export const ALL_EXTENSIONS = [
  'message-tags',
  'server-time',
  'account-tag',
  'account-notify',
  'extended-join',
  'echo-message',
  'sasl=PLAIN',
];

interface Person {
  userHost: string;
  account: string | null;
}

interface ServerOptions {
  /** Extensions that it offers; `null`: it does not know `CAP`. */
  extensions?: readonly string[] | null;
  /** Passwords of accounts. */
  accounts?: Readonly<Record<string, string>>;
  /** Channels that nobody may join, with the number of the refusal. */
  refusals?: Readonly<Record<string, string>>;
  tls?: { cert: Buffer; key: Buffer };
  now?: () => number;
}

/** Fault at a line of the client: cuts the connection before or after the line has its effect, or ignores the line. */
type IrcFault = 'cut before' | 'cut after' | 'ignore';

/** The client, as the server knows it. */
interface Client {
  socket: Socket;
  nick: string;
  isRegistered: boolean;
  isNegotiating: boolean;
  hasUser: boolean;
  account: string | null;
  extensions: Set<string>;
  channels: Set<string>;
  sasl: string;
}

/** A server like those of IRC networks (RFC 2812, IRCv3), for one client at a time, with other people in its channels. */
export async function startIrcServer({
  extensions = ALL_EXTENSIONS,
  accounts = {},
  refusals = {},
  tls,
  now = Date.now,
}: ServerOptions = {}) {
  const people = new Map<string, Person>();
  const lines: string[] = [];
  const sent: { to: string; text: string }[] = [];
  const clients = new Set<Client>();
  /** `greeting`: sent instead of letting a client in, before the connection is closed. `pieceBytes`: lines arrive in pieces of that size. */
  const state: { fault: (line: string) => IrcFault | undefined; greeting: string | undefined; pieceBytes: number; messageCount: number } = {
    fault: () => undefined,
    greeting: undefined,
    pieceBytes: 0,
    messageCount: 0,
  };
  const findPerson = (nick: string): [string, Person] | undefined => [...people].find(([name]) => toIrcKey(name) === toIrcKey(nick));

  function write({ socket }: Client, text: string): void {
    const bytes = Buffer.from(`${text}\r\n`);
    if (state.pieceBytes === 0) return void (socket.writable && socket.write(bytes));
    for (let at = 0; at < bytes.length; at += state.pieceBytes) socket.write(bytes.subarray(at, at + state.pieceBytes));
  }
  const reply = (client: Client, number: string, text: string): void => write(client, `:irc.test ${number} ${client.nick || '*'} ${text}`);
  const toTags = (client: Client, tags: Record<string, string>): string => {
    const all = {
      ...(client.extensions.has('server-time') ? { time: new Date(now()).toISOString() } : {}),
      ...(client.extensions.has('message-tags') ? { msgid: `m${++state.messageCount}` } : {}),
      ...tags,
    };
    const text = Object.entries(all).map(([name, value]) => `${name}=${value}`);
    return text.length === 0 ? '' : `@${text.join(';')} `;
  };

  function register(client: Client): void {
    if (client.isRegistered || client.isNegotiating || !client.hasUser || client.nick === '') return;
    if (state.greeting !== undefined) {
      write(client, `ERROR :${state.greeting}`);
      return void client.socket.end();
    }
    client.isRegistered = true;
    reply(client, '001', ':Welcome');
    reply(client, '005', 'NICKLEN=30 BOT=B :are supported');
    reply(client, '376', ':End of MOTD');
  }

  function setNick(client: Client, nick: string): void {
    if (findPerson(nick)) return reply(client, '433', `${nick} :Nickname is already in use`);
    if (client.isRegistered) write(client, `:${client.nick}!perch@test NICK :${nick}`);
    client.nick = nick;
    register(client);
  }

  function join(client: Client, name: string): void {
    const refusal = refusals[name];
    if (refusal !== undefined) return reply(client, refusal, `${name} :Cannot join channel`);
    client.channels.add(toIrcKey(name));
    write(client, `:${client.nick}!perch@test JOIN ${name}`);
  }

  function message(client: Client, to: string, text: string): void {
    const isChannel = to.startsWith('#');
    if (isChannel && !client.channels.has(toIrcKey(to))) return reply(client, '404', `${to} :Cannot send to channel`);
    if (!isChannel && !findPerson(to)) return reply(client, '401', `${to} :No such nick/channel`);
    sent.push({ to, text });
    if (client.extensions.has('echo-message')) write(client, `${toTags(client, {})}:${client.nick}!perch@test PRIVMSG ${to} :${text}`);
  }

  function tellPerson(client: Client, nick: string): void {
    const found = findPerson(nick);
    if (!found) reply(client, '401', `${nick} :No such nick/channel`);
    else {
      const [name, { userHost, account }] = found;
      reply(client, '311', `${name} ${userHost.replace('@', ' ')} * :Somebody`);
      if (account !== null) reply(client, '330', `${name} ${account} :is logged in as`);
    }
    reply(client, '318', `${nick} :End of WHOIS`);
  }

  function authenticate(client: Client, text: string): void {
    if (text === 'PLAIN') return write(client, 'AUTHENTICATE +');
    if (text !== '+') client.sasl += text;
    if (text.length === 400) return;
    const [, name = '', password = ''] = Buffer.from(client.sasl, 'base64').toString().split('\0');
    client.sasl = '';
    if (accounts[name] !== password) return reply(client, '904', ':SASL authentication failed');
    client.account = name;
    reply(client, '903', ':SASL authentication successful');
  }

  function carryOut(client: Client, text: string): void {
    const [, command = '', rest = ''] = /^(\S+) ?(.*)$/.exec(text) ?? [];
    const [, middle = '', trailing] = /^((?:[^: ][^ ]* ?)*)(?::(.*))?$/.exec(rest) ?? [];
    const params = [...middle.split(' ').filter(Boolean), ...(trailing === undefined ? [] : [trailing])];
    const [first = '', second = ''] = params;
    switch (command) {
      case 'CAP':
        if (extensions === null) return reply(client, '421', 'CAP :Unknown command');
        if (first === 'LS') {
          client.isNegotiating = true;
          return write(client, `:irc.test CAP * LS :${extensions.join(' ')}`);
        }
        if (first === 'REQ') {
          for (const name of second.split(' ')) client.extensions.add(name);
          return write(client, `:irc.test CAP * ACK :${second}`);
        }
        client.isNegotiating = false;
        return register(client);
      case 'AUTHENTICATE':
        return authenticate(client, first);
      case 'NICK':
        return setNick(client, first);
      case 'USER':
        client.hasUser = true;
        return register(client);
      case 'PING':
        return write(client, `:irc.test PONG irc.test :${first}`);
      case 'JOIN':
        return join(client, first);
      case 'PRIVMSG':
        return message(client, first, second);
      case 'WHOIS':
        return tellPerson(client, first);
      case 'QUIT':
        return void client.socket.end();
    }
  }

  const serve = (socket: Socket): void => {
    const client: Client = {
      ...{ socket, nick: '', isRegistered: false, isNegotiating: false, hasUser: false, account: null, sasl: '' },
      ...{ extensions: new Set<string>(), channels: new Set<string>() },
    };
    clients.add(client);
    socket.write(':irc.test NOTICE * :*** Looking up your hostname...\r\n');
    let rest = '';
    socket.setEncoding('utf8');
    socket.on('error', () => {});
    socket.on('close', () => clients.delete(client));
    socket.on('data', (chunk: string) => {
      rest += chunk;
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
        const line = rest.slice(0, end).replace(/\r$/, '');
        rest = rest.slice(end + 1);
        lines.push(line);
        const fault = state.fault(line);
        if (fault === 'cut before') return void socket.destroy();
        if (fault !== 'ignore') carryOut(client, line);
        if (fault === 'cut after') return void socket.destroy();
      }
    });
  };
  const server = tls ? createTlsServer(tls, serve) : createServer(serve);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const current = (): Client => {
    const client = [...clients].find(({ isRegistered }) => isRegistered);
    if (!client) throw new Error('No client is registered.');
    return client;
  };
  return Object.assign(state, {
    ...{ people, lines, sent },
    port: (server.address() as AddressInfo).port,
    isRegistered: () => [...clients].some(({ isRegistered }) => isRegistered),
    isIn: (channel: string) => [...clients].some(({ channels }) => channels.has(toIrcKey(channel))),
    nick: () => current().nick,
    account: () => current().account,
    /** A person arrives. */
    add(nick: string, account: string | null = null, userHost = `${nick.toLowerCase()}@home.test`): void {
      people.set(nick, { userHost, account });
    },
    /** A message of a person, as the server passes it on. */
    say(nick: string, to: string, text: string, tags: Record<string, string> = {}): void {
      const client = current();
      const { userHost, account } = people.get(nick) ?? { userHost: 'ghost@nowhere.test', account: null };
      const own: Record<string, string> = client.extensions.has('account-tag') && account !== null ? { account } : {};
      write(client, `${toTags(client, { ...own, ...tags })}:${nick}!${userHost} PRIVMSG ${to} :${text}`);
    },
    /** A person leaves, such as by a netsplit. */
    quit(nick: string, reason = 'irc.test hub.test'): void {
      write(current(), `:${nick}!${people.get(nick)?.userHost ?? ''} QUIT :${reason}`);
      people.delete(nick);
    },
    /** Any line of the server. */
    write: (line: string): void => write(current(), line),
    kick(channel: string, reason = 'bye'): void {
      const client = current();
      client.channels.delete(toIrcKey(channel));
      write(client, `:op!op@home.test KICK ${channel} ${client.nick} :${reason}`);
    },
    /** The server closes the connection. */
    expel(reason: string): void {
      const client = current();
      write(client, `ERROR :Closing Link: ${client.nick} (${reason})`);
      client.socket.end();
    },
    cut(): void {
      for (const { socket } of clients) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const { socket } of clients) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  });
}
