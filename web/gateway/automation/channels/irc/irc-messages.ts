import { toIrcKey } from '#shared/irc-key.ts';
import type { IrcMessage, IrcTarget } from '#shared/ports/irc-port.ts';
import { sha256 } from '#shared/sha256.ts';
import type { IncomingMessage } from '../../../storage/records/channel-state.ts';
import { parseChatCommand } from '../chat-commands.ts';

/** In front of the ids of guests, which no account has. */
const GUEST_PREFIX = '~';
const CONVERSATION_CHARS = 24;

/** Whether a user is a guest: the nickname proves nothing. */
export const isGuest = ({ user }: Pick<IncomingMessage, 'user'>): boolean => user.id.startsWith(GUEST_PREFIX);

/** A message for the agent. */
export async function toIncomingMessage({
  id,
  nick,
  userHost,
  account,
  channel,
  isMention,
  text,
  at,
}: IrcMessage): Promise<IncomingMessage> {
  const user = toUser(nick, userHost, account);
  const command = parseChatCommand(text);
  const place = channel === null ? `dm ${user.id}` : `room ${toIrcKey(channel)}`;
  return {
    id: `irc:${id}`.slice(0, 200),
    conversation: (await sha256(place)).slice(0, CONVERSATION_CHARS),
    user,
    text: channel !== null && text !== '' && command === undefined ? `${nick}: ${text}` : text,
    // Everybody in a channel reads the answer.
    isPublic: channel !== null,
    to: channel ?? user.id,
    title: `IRC: ${channel ?? nick}`,
    at,
    platformId: id,
    isGroup: channel !== null,
    ...(channel === null ? {} : { room: toIrcKey(channel), isMention }),
    thread: `${nick}!${userHost}`,
    ...(command === undefined ? {} : { command }),
  };
}

/** Accounts are compared by their ASCII letters: the name of one with others must not equal an allowed one in lower case. */
function toUser(nick: string, userHost: string, account: string | null): IncomingMessage['user'] {
  if (account === null) return { id: `${GUEST_PREFIX}${userHost}`, name: `${GUEST_PREFIX}${nick}` };
  const id = toIrcKey(account).replace(/^~/, '_~');
  return { id, name: /^[\x21-\x7e]+$/.test(id) ? id : `account ${id}` };
}

/** The place to answer. */
export function toReplyTarget(message: Pick<IncomingMessage, 'to' | 'thread' | 'isGroup' | 'user'>): IrcTarget {
  const { to, thread = '', isGroup = false } = message;
  const [nick = '', userHost = ''] = thread.split(/!(.*)/s);
  if (isGroup) return { kind: 'channel', name: to };
  if (isGuest(message)) return { kind: 'guest', nick, userHost };
  return { kind: 'account', account: to, ...(nick === '' ? {} : { nick }) };
}

/** The place of a message that answers none: a channel, or an account of the network. */
export const toPostTarget = (to: string): IrcTarget =>
  /^[#&+!]/.test(to) ? { kind: 'channel', name: to } : { kind: 'account', account: to };
