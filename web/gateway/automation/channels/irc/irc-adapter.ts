import type { Clock } from '#shared/async/clock.ts';
import { type IrcMessage, type IrcPosition, ircPort, ircPosition, type IrcServer, type IrcTarget } from '#shared/ports/irc-port.ts';
import type { IrcSettings } from '../../../config/sections/channel-settings.ts';
import type { Bridge } from '../../../ports/bridge-interface.ts';
import type { IncomingMessage, PendingMessage } from '../../../storage/records/channel-state.ts';
import type { ButtonPress, ChannelAdapter, PollContext, PollResult, Post, SendContext } from '../channel-adapter.ts';
import { getHelpText } from '../chat-commands.ts';
import { callPlatformPort } from '../platform-port.ts';
import { PlatformError } from '../platform-request.ts';
import { ReplyCodes } from '../reply-codes.ts';
import { canWrite, getAccessMode } from '../senders.ts';
import { isGuest, toIncomingMessage, toPostTarget, toReplyTarget } from './irc-messages.ts';
import { parseIrcServer } from './irc-server-address.ts';
import { toIrcLine, toIrcLines } from './irc-text.ts';

const POLL_MS = 30_000;
/** Time for which a reply waits for a person who has left. */
const ABSENT_MS = 10 * 60_000;
/** Interval of hints to a guest, and the number of guests who get one in that time. */
const HINT_MS = 3_600_000;
const MAX_HINTS = 20;
const GUEST_HINT =
  'I only chat with people who are signed in to an account on this network, such as with NickServ. Sign in, then write again.';

interface IrcAdapterDeps {
  bridge: Bridge;
  clock: Clock;
  /** Password of the account with the network's services; empty for none. */
  password: string;
  /** The current settings. */
  settings(): IrcSettings;
}

/** IRC, through the bridge, which keeps the connection. */
export class IrcAdapter implements ChannelAdapter {
  readonly name = 'IRC';
  readonly minRetryMs = 5_000;
  readonly help = getHelpText();
  readonly #deps: IrcAdapterDeps;
  #codes: ReplyCodes | undefined;
  #echoes = false;
  /** Times of the latest hints to guests, by `user@host`. */
  readonly #hints = new Map<string, number>();

  constructor(deps: IrcAdapterDeps) {
    this.#deps = deps;
  }

  get confirmsPosts(): boolean {
    return this.#echoes;
  }

  async poll({ cursors, signal }: PollContext): Promise<PollResult> {
    const codes = (this.#codes ??= new ReplyCodes(cursors['codes']));
    const after = parsePosition(cursors['position']);
    const params = { server: this.#getServer(), after, waitMs: POLL_MS };
    const {
      session,
      messages: received,
      echoes,
      problems,
    } = await callPlatformPort(this.#deps.bridge, ircPort, 'irc.poll', params, signal);
    this.#echoes = echoes;
    const messages: IncomingMessage[] = [];
    const presses: ButtonPress[] = [];
    for (const each of received) {
      const message = await toIncomingMessage(each);
      const press = isGuest(message) ? undefined : codes.readPress(message);
      if (press) presses.push(press);
      else if (this.#mayBeHeard(each, message, signal)) messages.push(message);
    }
    const last = received.at(-1);
    return {
      ...{ messages, presses, nextMs: 0 },
      cursors: {
        ...(last ? { position: JSON.stringify({ session, seq: last.seq } satisfies IrcPosition) } : {}),
        ...(codes.toText() === (cursors['codes'] ?? '') ? {} : { codes: codes.toText() }),
      },
      ...(problems.length > 0 ? { problem: problems.join(' ') } : {}),
    };
  }

  split(text: string): string[] {
    return toIrcLines(text);
  }

  async send(message: PendingMessage, part: string, { sent, signal }: SendContext): Promise<string> {
    const isFirstInChannel = message.isGroup === true && sent.length === 0;
    const text = isFirstInChannel ? `${message.thread?.split('!', 1)[0] ?? ''}: ${part}` : part;
    try {
      return await this.#send(`${message.id}/${sent.length}`, toReplyTarget(message), text, signal);
    } catch (error) {
      const isLate = this.#deps.clock.now() - message.at > ABSENT_MS;
      if (!(error instanceof PlatformError) || !error.isUnsent || !isLate || message.isGroup === true) throw error;
      throw new PlatformError(error.message, { isUnsent: true, refused: true, cause: error });
    }
  }

  findSent({ id }: PendingMessage, _part: string, { sent, signal }: SendContext): Promise<string | null | undefined> {
    return this.#find(`${id}/${sent.length}`, signal);
  }

  async post({ id, to, buttons = [] }: Post, part: string, { sent, signal }: SendContext): Promise<string> {
    const target = toPostTarget(to);
    const sentId = await this.#send(`${id}/${sent.length}`, target, part, signal);
    const lines = (this.#codes ??= new ReplyCodes()).add(buttons);
    for (const [index, line] of lines.entries()) await this.#send(`${id}/${sent.length}/code ${index}`, target, line, signal);
    return sentId;
  }

  findPosted({ id }: Post, _part: string, { sent, signal }: SendContext): Promise<string | null | undefined> {
    return this.#find(`${id}/${sent.length}`, signal);
  }

  async answerPress({ id, user }: ButtonPress, text: string, signal: AbortSignal): Promise<void> {
    await this.#send(`${id}/answer`, toPostTarget(user.id), text, signal);
  }

  /** Whether the agent may get a message. Guests who may not write are told once how to. */
  #mayBeHeard({ userHost, channel, nick }: IrcMessage, message: IncomingMessage, signal: AbortSignal): boolean {
    const settings = this.#deps.settings();
    if (!isGuest(message) || canWrite(settings, message)) return true;
    const now = this.#deps.clock.now();
    for (const [other, at] of this.#hints) if (now - at >= HINT_MS) this.#hints.delete(other);
    const isHinted = channel === null && getAccessMode(settings) === 'ask' && !this.#hints.has(userHost) && this.#hints.size < MAX_HINTS;
    if (!isHinted) return false;
    this.#hints.set(userHost, now);
    // Not awaited: polling goes on, and the guest can write again.
    this.#send(`${message.id}/hint`, { kind: 'guest', nick, userHost }, GUEST_HINT, signal).catch(() => {});
    return false;
  }

  async #send(id: string, to: IrcTarget, text: string, signal: AbortSignal): Promise<string> {
    const params = { server: this.#getServer(), id, to, text: toIrcLine(text) };
    return (await callPlatformPort(this.#deps.bridge, ircPort, 'irc.send', params, signal)).sentId;
  }

  async #find(id: string, signal: AbortSignal): Promise<string | null | undefined> {
    const params = { server: this.#getServer(), id };
    const { outcome, sentId } = await callPlatformPort(this.#deps.bridge, ircPort, 'irc.find', params, signal);
    return outcome === 'unsent' ? null : sentId;
  }

  #getServer(): IrcServer {
    const { host = '', nick, accountName, join, rooms, groups = 'mentions' } = this.#deps.settings();
    const { password } = this.#deps;
    const server = parseIrcServer(host);
    if (!server) throw new PlatformError('channels.irc.host is not the name of a server, such as irc.example.org.', { isUnsent: true });
    if (nick === undefined) throw new PlatformError('channels.irc.nick is not set.', { isUnsent: true });
    const channels = new Map((rooms ?? []).map((name) => [name, { name }]));
    for (const entry of join ?? []) {
      const [name = '', key] = entry.split(' ');
      channels.set(name, { name, ...(key === undefined ? {} : { key }) });
    }
    return {
      ...{ ...server, nick, channels: [...channels.values()], reads: groups },
      account: password === '' ? null : { name: accountName ?? nick, password },
    };
  }
}

function parsePosition(text: string | undefined): IrcPosition | null {
  if (text === undefined) return null;
  try {
    return ircPosition.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
