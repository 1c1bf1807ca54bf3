import { defineMethod } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { definePort } from './port.ts';
import { platformFault } from './platform-fault.ts';

/** Maximum bytes of a text: a line has 512, of which the server’s own additions take up to 150. */
export const MAX_IRC_TEXT_BYTES = 350;

/** Without characters that have a meaning in a line; servers allow less. */
const nick = z.string().regex(/^[^\s:#&+!@,*?$~%\p{Cc}][^\s!@,*?\p{Cc}]{0,49}$/u, 'must be a nickname');
const channelName = z.string().regex(/^[#&+!][^\s,:\p{Cc}]{1,99}$/u, 'must be a channel such as #perch');
const word = z.string().regex(/^[^\p{Cc}]+$/u);
const userHost = z.string().min(3).max(200);

const ircServer = z.object({
  host: z.string().min(1).max(255),
  port: z.number().int().min(1).max(65_535),
  /** TLS. Without it only servers on this computer are connected to. */
  isSecure: z.boolean(),
  nick,
  /** Account with the network’s services, for SASL. */
  account: z.object({ name: word.max(100), password: word.max(500) }).nullable(),
  channels: z
    .array(
      z.object({
        name: channelName,
        key: z
          .string()
          .regex(/^[^\s,:\p{Cc}]{1,50}$/u)
          .optional(),
      }),
    )
    .max(50),
  /** Messages in channels to report: those that mention the nickname, all, or none. */
  reads: z.enum(['mentions', 'all', 'off']),
});
export type IrcServer = z.infer<typeof ircServer>;

/** Position after a reported message. */
export const ircPosition = z.object({ session: z.string(), seq: z.number().int() });
export type IrcPosition = z.infer<typeof ircPosition>;

const ircMessage = z.object({
  seq: z.number().int(),
  /** Id of the server, else of the bridge. */
  id: z.string(),
  nick: z.string(),
  /** `user@host` of the sender. */
  userHost: z.string(),
  /** Account that the network’s services vouch for. Null: a guest, who may use anybody’s nickname. */
  account: z.string().nullable(),
  /** Null for a private message. */
  channel: z.string().nullable(),
  isMention: z.boolean(),
  /** Without formatting, and without the nickname in front. */
  text: z.string(),
  /** Milliseconds since the Unix epoch. */
  at: z.number(),
});
export type IrcMessage = z.infer<typeof ircMessage>;

const ircTarget = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('channel'), name: channelName }),
  /** The person signed in to an account, first by the nickname that was seen last. */
  z.object({ kind: z.literal('account'), account: word.max(100), nick: nick.optional() }),
  /** A guest, if the nickname still belongs to the same connection. */
  z.object({ kind: z.literal('guest'), nick, userHost }),
]);
export type IrcTarget = z.infer<typeof ircTarget>;

/** `details` of the port's errors. */
export const ircFault = platformFault.extend({
  reason: z.enum(['sign-in', 'tls', 'unreachable', 'nick', 'banned', 'flood', 'absent', 'rejected', 'lost']),
});
export type IrcFault = z.infer<typeof ircFault>;

/** IRC, which needs TCP. The connection outlives the calls, so that a host that takes over misses nothing. */
export const ircPort = definePort({
  kind: 'irc',
  featureName: 'IRC',
  calls: {
    'irc.poll': defineMethod({
      params: z.object({
        server: ircServer,
        /** Messages up to here are dropped. Null: none has been read. */
        after: ircPosition.nullable(),
        /** Time to wait for messages, in milliseconds. The first call only waits for the connection. */
        waitMs: z.number().int().min(0).max(600_000),
      }),
      result: z.object({
        session: z.string(),
        nick: z.string(),
        /** Whether the server confirms each message by an echo. */
        echoes: z.boolean(),
        messages: z.array(ircMessage),
        /** Problems of a part of the connection, such as a channel that can’t be joined. */
        problems: z.array(z.string()),
      }),
      docs: 'Connects, and returns the messages after a position; waits for some.',
      policy: { scope: 'write' },
    }),
    'irc.send': defineMethod({
      params: z.object({ server: ircServer, id: z.string().min(1).max(200), to: ircTarget, text: word.max(MAX_IRC_TEXT_BYTES) }),
      result: z.object({ sentId: z.string() }),
      docs: 'Sends one line. Resolves when the server has taken it. A line whose `id` was sent before is not sent again.',
      policy: { scope: 'write' },
    }),
    'irc.find': defineMethod({
      params: z.object({ server: ircServer, id: z.string().min(1).max(200) }),
      result: z.object({ outcome: z.enum(['sent', 'unsent', 'unknown']), sentId: z.string().optional() }),
      docs: 'Tells what became of a line.',
      policy: { scope: 'write' },
    }),
  },
  events: {},
});
