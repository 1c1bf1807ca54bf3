import type { IrcServer } from '#shared/ports/irc-port.ts';
import type { RpcError } from '#shared/rpc/rpc-error.ts';
import { createIrcError, SIGN_IN_RETRY_MS, toQuote } from './irc-errors.ts';
import { formatLine, type IrcLine } from './irc-line.ts';

/** Extensions that are used if the server has them (https://ircv3.net/irc). */
const WANTED = ['message-tags', 'server-time', 'account-tag', 'account-notify', 'extended-join', 'echo-message', 'sasl'];
/** Nicknames that are tried, each with one more underscore. */
const MAX_NICKS = 4;
const SASL_CHUNK = 400;
const NICK_RETRY_MS = 60_000;

interface RegistrationOptions {
  server: Pick<IrcServer, 'host' | 'nick' | 'account'>;
  write(line: string): void;
  onReady(): void;
  onFailure(error: RpcError): void;
}

/** Introduces Perch to a server: extensions, sign-in by SASL (RFC 4616), and the nickname. */
export class IrcRegistration {
  readonly #options: RegistrationOptions;
  readonly #offered = new Map<string, string>();
  readonly #enabled = new Set<string>();
  #requested: string[] = [];
  #nickAttempts = 0;
  #isSignedIn = false;
  /** Letter of the mode for programs, if the server has one. */
  #botMode: string | undefined;
  #hasEnded = false;
  nick: string;

  constructor(options: RegistrationOptions) {
    this.#options = options;
    this.nick = options.server.nick;
  }

  has(extension: string): boolean {
    return this.#enabled.has(extension);
  }

  start(): void {
    const { write, server } = this.#options;
    write(formatLine('CAP', 'LS', '302'));
    write(formatLine('NICK', server.nick));
    write('USER perch 0 * :Perch');
  }

  handle({ command, params }: IrcLine): void {
    const { write, server, onReady } = this.#options;
    if (this.#hasEnded) return;
    switch (command) {
      case 'CAP':
        return this.#handleCap(params);
      case 'AUTHENTICATE':
        return this.#authenticate();
      case '903':
      case '907':
        this.#isSignedIn = true;
        return write('CAP END');
      case '902':
      case '904':
      case '905':
      case '906':
      case '908':
        return this.#failSignIn(`${server.host} rejected the account or its password${toQuote(params.at(-1) ?? '')}. Check both.`);
      case '433':
      case '436':
      case '437':
        return this.#tryNextNick();
      case '432':
        return this.#fail(
          createIrcError(`${server.host} doesn’t allow the nickname ${server.nick}${toQuote(params.at(-1) ?? '')}.`, {
            ...{ reason: 'nick', retryAfterMs: SIGN_IN_RETRY_MS },
          }),
        );
      case '464':
        return this.#failSignIn(`${server.host} asks for a server password, which Perch doesn’t support.`);
      case '465':
        return this.#fail(
          createIrcError(`${server.host} has banned Perch${toQuote(params.at(-1) ?? '')}.`, {
            reason: 'banned',
            retryAfterMs: 15 * 60_000,
          }),
        );
      case '001':
        this.nick = params[0] ?? this.nick;
        if (server.account && !this.#isSignedIn) this.#failSignIn(createNoSaslMessage(server.host));
        return;
      case '005':
        for (const param of params) if (param.startsWith('BOT=')) this.#botMode = param.slice(4);
        return;
      case '376':
      case '422':
        this.#hasEnded = true;
        // Shows others that a program writes, so that other programs do not answer it.
        if (this.#botMode) write(formatLine('MODE', this.nick, `+${this.#botMode}`));
        return onReady();
    }
  }

  #handleCap([, command = '', ...rest]: readonly string[]): void {
    const { write, server } = this.#options;
    const names = (rest.at(-1) ?? '').split(' ').filter((name) => name !== '');
    switch (command.toUpperCase()) {
      case 'LS': {
        for (const name of names) {
          const [, key = name, value = ''] = /^([^=]+)=?(.*)$/.exec(name) ?? [];
          this.#offered.set(key, value);
        }
        if (rest.length > 1 && rest[0] === '*') return;
        const methods = this.#offered.get('sasl');
        const canSignIn = methods !== undefined && (methods === '' || methods.split(',').includes('PLAIN'));
        if (server.account && !canSignIn) return this.#failSignIn(createNoSaslMessage(server.host));
        this.#requested = WANTED.filter((name) => this.#offered.has(name) && (name !== 'sasl' || server.account !== null));
        return write(this.#requested.length === 0 ? 'CAP END' : formatLine('CAP', 'REQ', this.#requested.join(' ')));
      }
      case 'ACK':
        for (const name of names) this.#enabled.add(name);
        if (!this.#requested.every((name) => this.#enabled.has(name))) return;
        return write(server.account ? 'AUTHENTICATE PLAIN' : 'CAP END');
      case 'NAK':
        if (server.account) return this.#failSignIn(createNoSaslMessage(server.host));
        return write('CAP END');
    }
  }

  #authenticate(): void {
    const { account } = this.#options.server;
    if (!account) return;
    const text = Buffer.from(`\0${account.name}\0${account.password}`).toString('base64');
    for (let at = 0; at < text.length; at += SASL_CHUNK) this.#options.write(`AUTHENTICATE ${text.slice(at, at + SASL_CHUNK)}`);
    // The end of a text of whole chunks.
    if (text.length % SASL_CHUNK === 0) this.#options.write('AUTHENTICATE +');
  }

  #tryNextNick(): void {
    const { server, write } = this.#options;
    if (++this.#nickAttempts >= MAX_NICKS)
      return this.#fail(
        createIrcError(`The nickname ${server.nick} and others like it are in use.`, { reason: 'nick', retryAfterMs: NICK_RETRY_MS }),
      );
    this.nick = `${server.nick}${'_'.repeat(this.#nickAttempts)}`;
    write(formatLine('NICK', this.nick));
  }

  #failSignIn(message: string): void {
    this.#fail(createIrcError(message, { reason: 'sign-in', retryAfterMs: SIGN_IN_RETRY_MS }));
  }

  #fail(error: RpcError): void {
    this.#hasEnded = true;
    this.#options.onFailure(error);
  }
}

const createNoSaslMessage = (host: string): string =>
  `${host} doesn’t offer SASL PLAIN, so Perch can’t sign in to its account there. Remove the password to connect as a guest.`;
