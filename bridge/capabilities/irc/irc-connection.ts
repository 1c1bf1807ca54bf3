import { type Clock, every } from '#shared/async/clock.ts';
import { toIrcKey } from '#shared/irc-key.ts';
import type { IrcServer } from '#shared/ports/irc-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { IrcChannels } from './irc-channels.ts';
import { createEndError, createIrcError, toQuote } from './irc-errors.ts';
import { formatLine, type IrcLine, parseLine, parseSource } from './irc-line.ts';
import { IrcRegistration } from './irc-registration.ts';
import { LineSocket } from './line-socket.ts';

const REGISTRATION_TIMEOUT_MS = 60_000;
/** Silence after which the server is asked for a sign of life, and after which the connection counts as dead. */
const PING_AFTER_MS = 60_000;
const DEAD_AFTER_MS = 150_000;
const CHECK_MS = 30_000;
/** Interval of attempts to get the configured nickname back. */
const NICK_RETRY_MS = 60_000;
const RESPONSE_TIMEOUT_MS = 60_000;
/** Lines that servers answer without much work. */
const SMALL_PENALTY_MS = 1_000;

/** Refusals of a message, by number: whether the recipient is only away for now. */
const SEND_ERRORS: Readonly<Record<string, { reason: 'absent' | 'rejected'; refused: boolean }>> = {
  401: { reason: 'absent', refused: false },
  402: { reason: 'absent', refused: false },
  403: { reason: 'rejected', refused: false },
  404: { reason: 'rejected', refused: false },
  407: { reason: 'rejected', refused: true },
  408: { reason: 'rejected', refused: true },
  411: { reason: 'rejected', refused: true },
  412: { reason: 'rejected', refused: true },
  413: { reason: 'rejected', refused: true },
  414: { reason: 'rejected', refused: true },
  415: { reason: 'rejected', refused: true },
  417: { reason: 'rejected', refused: true },
  437: { reason: 'rejected', refused: false },
  439: { reason: 'rejected', refused: false },
  477: { reason: 'rejected', refused: true },
  486: { reason: 'rejected', refused: true },
  489: { reason: 'rejected', refused: true },
  531: { reason: 'rejected', refused: true },
  716: { reason: 'rejected', refused: true },
};

export interface Person {
  nick: string;
  userHost: string;
  /** Null: not signed in. */
  account: string | null;
}

interface ConnectionOptions {
  server: IrcServer;
  clock: Clock;
  /** Lines after the registration. */
  onLine(line: IrcLine): void;
  /** Called when problems may have changed. */
  onChange(): void;
  /** Called once. */
  onEnd(): void;
}

interface PendingSend {
  target: string;
  token: string;
  refusal?: { code: string; text: string };
  /** The server's own id of the message, once it has echoed it; empty if it has none. */
  echo?: string;
  done: PromiseWithResolvers<void>;
}

/** One connection to an IRC server. */
export class IrcConnection {
  readonly #options: ConnectionOptions;
  readonly #socket: LineSocket;
  readonly #registration: IrcRegistration;
  readonly #channels: IrcChannels;
  readonly #ready = Promise.withResolvers<void>();
  readonly #lookups = new Map<string, { found: Partial<Person>; done: PromiseWithResolvers<Person | null> }>();
  readonly #stops: (() => void)[];
  #pendingSend: PendingSend | undefined;
  #isReady = false;
  #endError: RpcError | undefined;
  #said = '';
  #lastTokenNumber = 0;
  #heardAt: number;

  constructor(options: ConnectionOptions) {
    const { server, clock, onChange } = options;
    const { host, port, isSecure } = server;
    this.#options = options;
    this.#heardAt = clock.monotonic();
    this.#ready.promise.catch(() => {});
    this.#socket = new LineSocket({
      ...{ host, port, isSecure, clock },
      onOpen: () => this.#registration.start(),
      onLine: (text) => this.#handle(text),
      onEnd: (error) => this.#end(createEndError(`${host}:${port}`, this.#said, error)),
    });
    const write = (line: string): void => this.#socket.writeNow(line);
    this.#registration = new IrcRegistration({
      ...{ server, write },
      onReady: () => this.#start(),
      onFailure: (error) => this.#end(error),
    });
    this.#channels = new IrcChannels({
      ...{ channels: server.channels, clock, onChange },
      getNick: () => this.nick,
      write: (line) => void this.#socket.write(line),
    });
    this.#stops = [
      clock.after(REGISTRATION_TIMEOUT_MS, () => {
        if (!this.#isReady) this.#end(createIrcError(`${host} did not let Perch in in time.`, { reason: 'unreachable' }));
      }),
      every(clock, CHECK_MS, () => this.#checkLife()),
      every(clock, NICK_RETRY_MS, () => this.#reclaimNick()),
    ];
  }

  /** Resolves once the server has let Perch in. Rejects with an `RpcError`. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Why the connection has ended; undefined if it has not. */
  get endError(): RpcError | undefined {
    return this.#endError;
  }

  get nick(): string {
    return this.#registration.nick;
  }

  has(extension: string): boolean {
    return this.#registration.has(extension);
  }

  get problems(): string[] {
    const { nick } = this.#options.server;
    const isOther = this.#isReady && toIrcKey(this.nick) !== toIrcKey(nick);
    return [
      ...(isOther ? [`The nickname ${nick} is in use. Perch is called ${this.nick} until it is free.`] : []),
      ...this.#channels.problems,
    ];
  }

  /** Sends a line of text, one at a time; resolves with the server's id of it, empty if it has none. Rejects with an `RpcError`. */
  async send(target: string, text: string): Promise<string> {
    const isChannel = /^[#&+!]/.test(target);
    if (isChannel && !this.#channels.isJoined(target))
      throw createIrcError(`Perch is not in ${target}. Add it to the channels to join.`, { reason: 'rejected' });
    const token = `perch-${++this.#lastTokenNumber}`;
    const pending: PendingSend = { target, token, done: Promise.withResolvers() };
    pending.done.promise.catch(() => {});
    this.#pendingSend = pending;
    try {
      await this.#socket.write(formatLine('PRIVMSG', target, text)).catch(() => {
        throw this.#endError ?? createIrcError('The connection was lost.', { reason: 'lost' });
      });
      // Servers work in order: by the time of the answer they have taken or refused the message.
      void this.#socket.write(formatLine('PING', token), SMALL_PENALTY_MS);
      await this.#withTimeout(pending.done.promise).catch((error: unknown) => {
        const message = error instanceof RpcError ? error.message : 'The connection was lost.';
        throw createIrcError(message, { reason: 'lost', isUnsent: false });
      });
    } finally {
      this.#pendingSend = undefined;
    }
    return this.#readOutcome(pending);
  }

  /** A person by the current nickname; null if nobody has it. Rejects with an `RpcError`. */
  findPerson(nick: string): Promise<Person | null> {
    const key = toIrcKey(nick);
    const current = this.#lookups.get(key);
    if (current) return current.done.promise;
    const lookup = { found: {}, done: Promise.withResolvers<Person | null>() };
    lookup.done.promise.catch(() => {});
    this.#lookups.set(key, lookup);
    this.#socket.write(formatLine('WHOIS', nick), SMALL_PENALTY_MS).catch(() => {});
    return this.#withTimeout(lookup.done.promise).finally(() => this.#lookups.delete(key));
  }

  close(): void {
    if (this.#isReady) this.#socket.writeNow('QUIT :Perch was stopped');
    this.#end(createIrcError('The connection was closed.', { reason: 'lost' }));
  }

  #start(): void {
    this.#isReady = true;
    this.#channels.start();
    this.#ready.resolve();
  }

  #handle(text: string): void {
    const line = parseLine(text);
    this.#heardAt = this.#options.clock.monotonic();
    if (!line || this.#endError) return;
    const { command, params } = line;
    if (command === 'PING') return this.#socket.writeNow(formatLine('PONG', params.at(-1) ?? ''));
    if (command === 'ERROR') {
      this.#said = params.at(-1) ?? '';
      return;
    }
    if (!this.#isReady) return this.#registration.handle(line);
    if (command === 'NICK') this.#handleNick(line);
    if (command === 'QUIT' && toIrcKey(parseSource(line.source)?.nick ?? '') === toIrcKey(this.#options.server.nick)) this.#reclaimNick();
    this.#channels.handle(line);
    this.#handleLookup(line);
    this.#handleSent(line);
    this.#options.onLine(line);
  }

  #handleNick({ source, params: [next = ''] }: IrcLine): void {
    const before = parseSource(source)?.nick ?? source;
    if (toIrcKey(before) === toIrcKey(this.nick)) {
      this.#registration.nick = next;
      this.#options.onChange();
    } else if (toIrcKey(before) === toIrcKey(this.#options.server.nick)) this.#reclaimNick();
  }

  #reclaimNick(): void {
    const { nick } = this.#options.server;
    if (this.#isReady && toIrcKey(this.nick) !== toIrcKey(nick)) void this.#socket.write(formatLine('NICK', nick));
  }

  #checkLife(): void {
    const silentMs = this.#options.clock.monotonic() - this.#heardAt;
    if (silentMs >= DEAD_AFTER_MS) this.#end(createIrcError('The server has stopped responding.', { reason: 'lost' }));
    else if (silentMs >= PING_AFTER_MS && this.#isReady) this.#socket.writeNow('PING perch');
  }

  /** Answers of `WHOIS`. */
  #handleLookup({ command, params: [, nick = '', ...rest] }: IrcLine): void {
    const lookup = this.#lookups.get(toIrcKey(nick));
    if (!lookup) return;
    if (command === '311') Object.assign(lookup.found, { nick, userHost: `${rest[0] ?? ''}@${rest[1] ?? ''}` });
    if (command === '330') lookup.found.account = rest[0] ?? null;
    if (command !== '318') return;
    const { nick: current = nick, userHost, account = null } = lookup.found;
    lookup.done.resolve(userHost === undefined ? null : { nick: current, userHost, account });
  }

  #handleSent({ command, source, params, tags }: IrcLine): void {
    const pending = this.#pendingSend;
    if (!pending) return;
    if (command === 'PONG' && params.at(-1) === pending.token) return pending.done.resolve();
    if (SEND_ERRORS[command] && toIrcKey(params[1] ?? '') === toIrcKey(pending.target))
      pending.refusal = { code: command, text: params.at(-1) ?? '' };
    const isOwn = command === 'PRIVMSG' && toIrcKey(parseSource(source)?.nick ?? '') === toIrcKey(this.nick);
    if (isOwn && toIrcKey(params[0] ?? '') === toIrcKey(pending.target)) pending.echo = tags.get('msgid') ?? '';
  }

  #readOutcome({ target, refusal, echo }: PendingSend): string {
    const { host } = this.#options.server;
    const error = refusal && SEND_ERRORS[refusal.code];
    if (error?.reason === 'absent') throw createIrcError(`${target} is not on ${host} now.`, error);
    if (error) throw createIrcError(`${host} did not take the message for ${target}${toQuote(refusal.text)}.`, error);
    // A server that echoes messages has dropped one without an echo.
    if (echo === undefined && this.has('echo-message'))
      throw createIrcError(`${host} did not pass on the message for ${target}.`, { reason: 'rejected', refused: true });
    return echo ?? '';
  }

  /** Ends the connection if there is no response in time: what was asked may still be answered later. */
  async #withTimeout<T>(promise: Promise<T>): Promise<T> {
    const cancel = this.#options.clock.after(RESPONSE_TIMEOUT_MS, () =>
      this.#end(createIrcError('The server has stopped responding.', { reason: 'lost' })),
    );
    return promise.finally(cancel);
  }

  #end(error: RpcError): void {
    if (this.#endError) return;
    this.#endError = error;
    for (const stop of this.#stops) stop();
    this.#channels.stop();
    this.#socket.close();
    this.#ready.reject(error);
    this.#pendingSend?.done.reject(error);
    for (const { done } of this.#lookups.values()) done.reject(error);
    this.#options.onEnd();
  }
}
