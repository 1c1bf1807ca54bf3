import { randomUUID } from 'node:crypto';
import { computeBackoff } from '#shared/async/backoff.ts';
import type { Clock } from '#shared/async/clock.ts';
import { Mutex, raceAbort } from '#shared/async/mutex.ts';
import { toIrcKey } from '#shared/irc-key.ts';
import { type IrcMessage, type IrcPosition, type IrcServer, type IrcTarget, ircFault } from '#shared/ports/irc-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { IrcConnection, type Person } from './irc-connection.ts';
import { addRetryDelay, createIrcError } from './irc-errors.ts';
import { type IrcLine, parseSource, readMention, readText } from './irc-line.ts';

/** Number of messages that wait to be read; the oldest ones are dropped. */
const MAX_MESSAGES = 500;
/** Number of messages per response. */
const MAX_PER_POLL = 100;
/** Number of messages whose senders are being looked up. */
const MAX_LOOKUPS = 50;
/** Number of sent lines whose outcome is remembered. */
const MAX_OUTCOMES = 500;
const MAX_PEOPLE = 5_000;
/** Time for which a nickname’s account is known: others may have taken the nickname since. */
const PERSON_MS = 30_000;
/** A connection that ends sooner makes the next one wait longer. */
const STABLE_MS = 60_000;
const MIN_RECONNECT_MS = 5_000;

type Outcome = { sentId: string } | { error: RpcError };

/** Messages of a server, over one connection after the other. */
export class IrcSession {
  readonly id = randomUUID();
  readonly #server: IrcServer;
  readonly #clock: Clock;
  #connection: IrcConnection | undefined;
  #readyAt: number | undefined;
  #shortConnections = 0;
  #lastSeq = 0;
  #reportedProblems = '';
  #messages: IrcMessage[] = [];
  readonly #reading = new Mutex();
  readonly #sending = new Mutex();
  #lookupCount = 0;
  /** Accounts by nickname, as the server has last told. */
  readonly #people = new Map<string, Person & { at: number }>();
  readonly #outcomes = new Map<string, Promise<Outcome>>();
  readonly #waiting = new Set<() => void>();

  constructor(server: IrcServer, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
  }

  /** The messages after a position; waits up to `waitMs` for the first one. Rejects with an `RpcError`. */
  async poll(after: IrcPosition | null, waitMs: number, signal: AbortSignal) {
    if (after?.session === this.id) this.#messages = this.#messages.filter(({ seq }) => seq > after.seq);
    const connection = this.#connection;
    if (!connection || (connection.endError && this.#messages.length === 0)) await raceAbort(this.#connect(), signal);
    else if (waitMs > 0 && this.#messages.length === 0 && connection.problems.join() === this.#reportedProblems)
      await this.#waitForNews(waitMs, signal);
    const endError = this.#connection?.endError;
    if (endError && this.#messages.length === 0)
      throw addRetryDelay(endError, computeBackoff(this.#shortConnections + 1, MIN_RECONNECT_MS));
    const problems = this.#connection?.problems ?? [];
    this.#reportedProblems = problems.join();
    return {
      ...{ session: this.id, nick: this.#connection?.nick ?? this.#server.nick, messages: this.#messages.slice(0, MAX_PER_POLL) },
      ...{ echoes: this.#connection?.has('echo-message') ?? false, problems },
    };
  }

  /** Sends a line, unless one with the same id was sent. Rejects with an `RpcError`. */
  async send(id: string, to: IrcTarget, text: string): Promise<{ sentId: string }> {
    const known = await this.#outcomes.get(id);
    if (known && 'sentId' in known) return known;
    const sending = this.#sending
      .run(() => this.#sendOnce(to, text))
      .then(
        (sentId): Outcome => ({ sentId: sentId === '' ? id : sentId }),
        (error: unknown): Outcome => ({
          error: error instanceof RpcError ? error : createIrcError('The message was not sent.', { reason: 'lost', isUnsent: false }),
        }),
      );
    this.#outcomes.set(id, sending);
    for (const first of this.#outcomes.keys()) {
      if (this.#outcomes.size <= MAX_OUTCOMES) break;
      this.#outcomes.delete(first);
    }
    const outcome = await sending;
    if ('sentId' in outcome) return outcome;
    throw outcome.error;
  }

  /** The outcome of a line; waits for its end if it is being sent. Undefined if nothing is known. */
  async find(id: string): Promise<Outcome | undefined> {
    return this.#outcomes.get(id);
  }

  close(): void {
    this.#connection?.close();
    this.#wake();
  }

  async #connect(): Promise<void> {
    const current = this.#connection;
    if (current && !current.endError) return current.ready;
    const connection: IrcConnection = new IrcConnection({
      ...{ server: this.#server, clock: this.#clock },
      onLine: (line) => this.#handle(line, connection),
      onChange: () => this.#wake(),
      onEnd: () => {
        this.#people.clear();
        const wasShort = this.#readyAt !== undefined && this.#clock.monotonic() - this.#readyAt < STABLE_MS;
        this.#shortConnections = wasShort ? this.#shortConnections + 1 : 0;
        this.#readyAt = undefined;
        this.#wake();
      },
    });
    this.#connection = connection;
    await connection.ready;
    this.#readyAt = this.#clock.monotonic();
  }

  async #waitForNews(waitMs: number, signal: AbortSignal): Promise<void> {
    const woken = Promise.withResolvers<void>();
    this.#waiting.add(woken.resolve);
    const cancel = this.#clock.after(waitMs, woken.resolve);
    try {
      await raceAbort(woken.promise, signal);
    } finally {
      cancel();
      this.#waiting.delete(woken.resolve);
    }
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  #handle(line: IrcLine, connection: IrcConnection): void {
    const { command, source, params, tags } = line;
    const person = parseSource(source);
    if (!person) return;
    const key = toIrcKey(person.nick);
    if (command === 'QUIT' || command === 'NICK') this.#people.delete(key);
    if (command === 'ACCOUNT') this.#remember({ ...person, account: params[0] === '*' ? null : (params[0] ?? null) });
    if (command === 'JOIN' && connection.has('extended-join'))
      this.#remember({ ...person, account: params[1] === '*' ? null : (params[1] ?? null) });
    if (command !== 'PRIVMSG' || key === toIrcKey(connection.nick)) return;
    // A program: two of them would answer each other without end.
    if (tags.has('bot') || tags.has('draft/bot')) return;
    const [target = '', content = ''] = params;
    const text = readText(content);
    if (text === undefined) return;
    const isPrivate = toIrcKey(target) === toIrcKey(connection.nick);
    const mention = readMention(text, connection.nick);
    const { reads } = this.#server;
    if (!isPrivate && (reads === 'off' || (reads === 'mentions' && !mention.isMention))) return;
    const serverTime = Date.parse(tags.get('time') ?? '');
    const message = {
      ...{ ...person, channel: isPrivate ? null : target, isMention: mention.isMention, text: isPrivate ? text : mention.text },
      at: Number.isNaN(serverTime) ? this.#clock.now() : Math.min(serverTime, this.#clock.now()),
    };
    const messageId = tags.get('msgid');
    if (connection.has('account-tag')) {
      const account = tags.get('account') ?? null;
      this.#remember({ ...person, account });
      return this.#add({ ...message, account }, messageId);
    }
    if (this.#lookupCount >= MAX_LOOKUPS) return;
    this.#lookupCount++;
    // One after another, so that messages keep their order.
    void this.#reading
      .run(async () => {
        const found = await this.#lookUp(person.nick, connection).catch(() => undefined);
        // If another connection has the nickname by now, nothing is known about the sender.
        this.#add({ ...message, account: found?.userHost === person.userHost ? found.account : null }, messageId);
      })
      .finally(() => this.#lookupCount--);
  }

  #add(message: Omit<IrcMessage, 'seq' | 'id'>, messageId: string | undefined): void {
    const seq = ++this.#lastSeq;
    this.#messages.push({ ...message, seq, id: messageId ?? `${this.id}/${seq}` });
    this.#messages = this.#messages.slice(-MAX_MESSAGES);
    this.#wake();
  }

  #remember(person: Person): void {
    const key = toIrcKey(person.nick);
    this.#people.delete(key);
    this.#people.set(key, { ...person, at: this.#clock.monotonic() });
    for (const first of this.#people.keys()) {
      if (this.#people.size <= MAX_PEOPLE) break;
      this.#people.delete(first);
    }
  }

  /** The person with a nickname now; null if there is none. Answers are remembered for a short time. */
  async #lookUp(nick: string, connection: IrcConnection): Promise<Person | null> {
    const known = this.#people.get(toIrcKey(nick));
    if (known && this.#clock.monotonic() - known.at < PERSON_MS) return known;
    const person = await connection.findPerson(nick);
    if (person) this.#remember(person);
    return person;
  }

  async #sendOnce(to: IrcTarget, text: string): Promise<string> {
    const connection = this.#connection;
    if (!connection || connection.endError) throw connection?.endError ?? createIrcError('Perch is not connected.', { reason: 'lost' });
    return connection.send(await this.#findTarget(to, connection), text);
  }

  /** The channel, or the nickname of whoever the text is for. Rejects if nobody is proven to be that person. */
  async #findTarget(to: IrcTarget, connection: IrcConnection): Promise<string> {
    if (to.kind === 'channel') return to.name;
    if (to.kind === 'guest') {
      const person = await this.#lookUp(to.nick, connection);
      if (person?.userHost === to.userHost) return person.nick;
      throw createAbsentError(to.nick);
    }
    const account = toIrcKey(to.account);
    const isAccount = (person: Person | null): boolean => person?.account != null && toIrcKey(person.account) === account;
    const seen = [...this.#people.values()].filter(isAccount).map(({ nick }) => nick);
    const nicks = new Set([...(to.nick === undefined ? [] : [to.nick]), ...seen.slice(-3).reverse(), to.account]);
    for (const nick of nicks) {
      if (/[\s!@,*?:]/.test(nick)) continue;
      const person = await this.#lookUp(nick, connection);
      if (person && isAccount(person)) return person.nick;
    }
    throw createAbsentError(to.account);
  }
}

const createAbsentError = (name: string): RpcError => createIrcError(`${name} is not signed in on the server now.`, { reason: 'absent' });

export const isUnsent = (error: RpcError): boolean => ircFault.safeParse(error.extra.details).data?.isUnsent === true;
