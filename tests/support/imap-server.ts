import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

interface StoredMail {
  uid: number;
  source: Buffer;
  receivedAt: number;
}

interface Folder {
  uidValidity: number;
  uidNext: number;
  specialUse: string;
  mails: StoredMail[];
}

type Fault = 'drop' | 'no' | 'silent';

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

const formatDate = (at: number): string => {
  const date = new Date(at);
  const pad = (value: number): string => String(value).padStart(2, '0');
  return `${pad(date.getUTCDate())}-${MONTHS[date.getUTCMonth()]}-${date.getUTCFullYear()} ${date.toISOString().slice(11, 19)} +0000`;
};

/** An IMAP4rev1 server (RFC 3501) with IDLE for one account, with faults on demand. */
export async function startImapServer({ user, password, token = '' }: { user: string; password: string; token?: string }) {
  const folders = new Map<string, Folder>([
    ['INBOX', { uidValidity: 1, uidNext: 1, specialUse: '', mails: [] }],
    ['Sent', { uidValidity: 1, uidNext: 1, specialUse: '\\Sent', mails: [] }],
  ]);
  const state = {
    /** The fault of a command, by its name such as `UID FETCH`; undefined for none. */
    fault: (_command: string): Fault | undefined => undefined,
    supportsIdle: true,
    /** Names of the commands that were received. */
    commands: [] as string[],
  };
  const sockets = new Set<Socket>();
  const idlers = new Map<Socket, Folder>();

  const getFolder = (name: string): Folder => {
    const folder = folders.get(name);
    if (!folder) throw new Error(`no folder ${name}`);
    return folder;
  };
  const announce = (folder: Folder): void => {
    for (const [socket, watched] of idlers) if (watched === folder) socket.write(`* ${folder.mails.length} EXISTS\r\n`);
  };
  const add = (name: string, source: Buffer | string, receivedAt = Date.now()): number => {
    const folder = getFolder(name);
    const uid = folder.uidNext++;
    folder.mails.push({ uid, source: Buffer.from(source), receivedAt });
    announce(folder);
    return uid;
  };

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => (sockets.delete(socket), idlers.delete(socket)));
    socket.on('error', () => {});
    const session = {
      selected: undefined as Folder | undefined,
      buffer: Buffer.alloc(0),
      idleTag: '',
      authTag: '',
      knownCount: 0,
      isSignedIn: false,
    };
    const write = (line: string): void => void (socket.writable && socket.write(`${line}\r\n`));
    write('* OK ready');

    const capabilities = (): string => `IMAP4rev1 AUTH=PLAIN AUTH=XOAUTH2 SASL-IR SPECIAL-USE${state.supportsIdle ? ' IDLE' : ''}`;
    const signIn = (tag: string, isRight: boolean): void => {
      session.isSignedIn = isRight;
      write(isRight ? `${tag} OK [CAPABILITY ${capabilities()}] signed in` : `${tag} NO [AUTHENTICATIONFAILED] Invalid credentials`);
    };
    const authenticate = (tag: string, encoded: string): void => {
      const text = Buffer.from(encoded, 'base64').toString();
      const isPassword = text === `\0${user}\0${password}`;
      const isToken = token !== '' && text === `user=${user}\x01auth=Bearer ${token}\x01\x01`;
      signIn(tag, isPassword || isToken);
    };
    const select = (tag: string, name: string): void => {
      const folder = folders.get(name);
      if (!folder) return write(`${tag} NO [NONEXISTENT] Unknown mailbox`);
      session.selected = folder;
      session.knownCount = folder.mails.length;
      write(`* ${folder.mails.length} EXISTS`);
      write('* FLAGS (\\Seen)');
      write(`* OK [UIDVALIDITY ${folder.uidValidity}] ok`);
      write(`* OK [UIDNEXT ${folder.uidNext}] ok`);
      write(`${tag} OK [READ-ONLY] done`);
    };
    const search = (tag: string, query: string): void => {
      const { mails } = session.selected ?? getFolder('INBOX');
      const last = mails.at(-1)?.uid ?? 0;
      const from = /UID (\d+):\*/i.exec(query)?.[1];
      const since = /SINCE "?([\w-]+)"?/i.exec(query)?.[1];
      const id = /HEADER MESSAGE-ID "?([^"]+)"?/i.exec(query)?.[1];
      const found = mails.filter(({ uid, receivedAt, source }) => {
        if (from !== undefined) return uid >= Math.min(Number(from), last);
        if (since !== undefined) return receivedAt >= Date.parse(`${since} UTC`);
        return id !== undefined && source.toString().toLowerCase().includes(`message-id: ${id.toLowerCase()}`);
      });
      write(`* SEARCH ${found.map(({ uid }) => uid).join(' ')}`.trimEnd());
      write(`${tag} OK done`);
    };
    const fetch = (tag: string, set: string, query: string): void => {
      const { mails } = session.selected ?? getFolder('INBOX');
      const wanted = new Set(
        set.split(',').flatMap((range) => {
          const [from = 0, to = from] = range.split(':').map(Number);
          return Array.from({ length: to - from + 1 }, (_, index) => from + index);
        }),
      );
      const limit = Number(/BODY\.PEEK\[\]<0\.(\d+)>/i.exec(query)?.[1] ?? Infinity);
      for (const [index, { uid, source, receivedAt }] of mails.entries()) {
        if (!wanted.has(uid)) continue;
        const items = [`UID ${uid}`];
        if (/RFC822\.SIZE/i.test(query)) items.push(`RFC822.SIZE ${source.length}`);
        if (/INTERNALDATE/i.test(query)) items.push(`INTERNALDATE "${formatDate(receivedAt)}"`);
        const body = source.subarray(0, limit);
        if (/BODY\.PEEK\[\]/i.test(query)) {
          const start = limit === Infinity ? '' : '<0>';
          socket.write(
            Buffer.concat([
              Buffer.from(`* ${index + 1} FETCH (${items.join(' ')} BODY[]${start} {${body.length}}\r\n`),
              body,
              Buffer.from(')\r\n'),
            ]),
          );
        } else write(`* ${index + 1} FETCH (${items.join(' ')})`);
      }
      write(`${tag} OK done`);
    };

    const run = (line: string, literal: Buffer | undefined): void => {
      if (session.authTag !== '') {
        const tag = session.authTag;
        session.authTag = '';
        // The client ends a refused exchange with an empty line.
        return authenticate(tag, line);
      }
      if (session.idleTag !== '' && line.toUpperCase() === 'DONE') {
        idlers.delete(socket);
        session.knownCount = session.selected?.mails.length ?? 0;
        write(`${session.idleTag} OK done`);
        session.idleTag = '';
        return;
      }
      const [tag = '*', first = '', ...words] = line.split(' ');
      const isUid = first.toUpperCase() === 'UID';
      const name = `${isUid ? 'UID ' : ''}${(isUid ? words.shift() : first)?.toUpperCase() ?? ''}`;
      const rest = words.join(' ');
      const unquote = (text: string): string => text.replace(/^"(.*)"$/, '$1').replaceAll(/\\(.)/g, '$1');
      state.commands.push(name);
      const fault = state.fault(name);
      if (fault === 'drop') return void socket.destroy();
      if (fault === 'silent') return;
      if (fault === 'no') return write(`${tag} NO [UNAVAILABLE] Try again later`);
      switch (name) {
        case 'CAPABILITY':
          write(`* CAPABILITY ${capabilities()}`);
          return write(`${tag} OK done`);
        case 'LOGIN':
          return signIn(tag, unquote(words[0] ?? '') === user && unquote(words.slice(1).join(' ')) === password);
        case 'AUTHENTICATE':
          if (words[1] !== undefined) return authenticate(tag, words[1]);
          session.authTag = tag;
          return write('+ ');
        case 'LIST':
        case 'LSUB':
          // Asks for the separator (RFC 3501, section 6.3.8).
          if (rest === '"" ""') write(`* ${name} (\\Noselect) "/" ""`);
          else for (const [path, { specialUse }] of folders) write(`* ${name} (${specialUse}) "/" "${path}"`);
          return write(`${tag} OK done`);
        case 'EXAMINE':
        case 'SELECT':
          return select(tag, unquote(rest));
        case 'UID SEARCH':
          return search(tag, rest);
        case 'UID FETCH':
          return fetch(tag, words[0] ?? '', words.slice(1).join(' '));
        case 'APPEND':
          if (literal) add(unquote(words[0] ?? ''), literal);
          return write(`${tag} OK done`);
        case 'IDLE':
          session.idleTag = tag;
          write('+ idling');
          if (!session.selected) return;
          idlers.set(socket, session.selected);
          // Mail that has arrived since the last command.
          if (session.selected.mails.length !== session.knownCount) write(`* ${session.selected.mails.length} EXISTS`);
          return;
        case 'LOGOUT':
          write('* BYE');
          write(`${tag} OK done`);
          return void socket.end();
        default:
          return write(`${tag} OK done`);
      }
    };

    socket.on('data', (chunk: Buffer) => {
      session.buffer = Buffer.concat([session.buffer, chunk]);
      for (;;) {
        const end = session.buffer.indexOf('\r\n');
        if (end === -1) return;
        const line = session.buffer.subarray(0, end).toString();
        const literal = /\{(\d+)(\+?)\}$/.exec(line);
        if (!literal) {
          session.buffer = session.buffer.subarray(end + 2);
          run(line, undefined);
          continue;
        }
        const size = Number(literal[1]);
        if (session.buffer.length < end + 2 + size + 2) {
          if (session.buffer.length === end + 2 && literal[2] === '') write('+ go on');
          return;
        }
        const content = Buffer.from(session.buffer.subarray(end + 2, end + 2 + size));
        session.buffer = session.buffer.subarray(end + 2 + size + 2);
        run(line, content);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(state, {
    port: (server.address() as AddressInfo).port,
    add,
    mails: (name: string) => getFolder(name).mails.map(({ source }) => source.toString()),
    /** Gives all mails other UIDs, as a restored mailbox has. */
    renumber(name: string): void {
      const folder = getFolder(name);
      folder.uidValidity++;
      folder.mails = folder.mails.map((mail, index) => ({ ...mail, uid: index + 1 }));
      folder.uidNext = folder.mails.length + 1;
    },
    removeFolder: (name: string) => void folders.delete(name),
    isIdle: () => idlers.size > 0,
    /** Ends all connections. */
    dropAll: () => sockets.forEach((socket) => socket.destroy()),
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  });
}
