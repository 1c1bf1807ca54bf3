import { toIrcKey } from '#shared/irc-key.ts';
import { id } from '#shared/rpc/frames.ts';
import { modelParameters } from '#shared/rpc/model-parameters.ts';
import { z } from '#shared/rpc/zod.ts';

const userList = z.array(z.string().min(1).max(200)).max(10_000).nullable();
const pollIntervalSeconds = z.number().int().min(60, 'must be at least 60 seconds').max(86_400);
/** Address of another server with the platform's API; the platform's own by default. */
const apiBase = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(1000)
  .refine((text) => {
    const url = URL.parse(text);
    return url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  }, 'must not include a user name, password, query or fragment');

/** Settings common to all channels. Other settings are kept unchanged: each platform has its own. */
const commonSettings = z.looseObject({
  enabled: z.boolean().optional(),
  /** Senders to answer. Empty: everyone. Null or missing: senders confirmed by the owner (`pairedUsers`). */
  allowedUsers: userList.optional(),
  /** Ids of the owner's accounts: their messages count as the owner's own words, not as outside content. */
  owners: userList.optional(),
  /** Senders that the owner has confirmed. */
  pairedUsers: z
    .array(z.object({ id: z.string().min(1).max(200), name: z.string().max(200) }))
    .max(1000)
    .optional(),
  /** Whether the owner was asked about an empty `allowedUsers` and chose to keep it. */
  allowEveryone: z.boolean().optional(),
  pollIntervalSeconds: pollIntervalSeconds.optional(),
  /** Messages in groups that are answered: those that mention the account (the default), all, or none. */
  groups: z.enum(['mentions', 'all', 'off']).optional(),
  /** Groups, as the platform's ids, whose members may write without being let in; messages in others are ignored. Null or missing: any group, whose members are let in one by one. */
  rooms: userList.optional(),
  /** Whether the account reacts to a message while it is answered, on platforms that have reactions. */
  reactions: z.boolean().optional(),
  /** Whether messages sent by voice are answered by voice too, on platforms that have voice messages. True by default. */
  voiceReplies: z.boolean().optional(),
  /** Maximum number of messages of one sender that are answered. Owners have no limit. */
  limits: z
    .object({ perMinute: z.number().int().min(1).max(1000).optional(), perHour: z.number().int().min(1).max(10_000).optional() })
    .optional(),
  /** Agent that answers, unless a binding matches. */
  agentId: id.optional(),
  /** Tools available to runs of this channel; none by default. */
  tools: z.array(z.string().min(1).max(200)).max(1000).optional(),
  /** How the model answers in this channel. Takes precedence over the agent's parameters. */
  parameters: modelParameters.optional(),
});

/** Settings of the channel for X. */
const xSettings = commonSettings.extend({
  bearerToken: z.string().min(1).max(4096),
  socialUsername: z
    .string()
    .max(100)
    .regex(/^[^@]*$/, 'must not include the @')
    .default(''),
  monitorMentions: z.boolean().default(true),
  monitorDMs: z.boolean().default(false),
  pollIntervalSeconds: pollIntervalSeconds.default(120),
  allowedUsers: userList.default(null),
  /** Maximum number of searches for mentions per calendar month (UTC). */
  searchesPerMonth: z.number().int().min(1).max(10_000_000).default(3000),
  /** Client id of the app at the platform, for the authorization by the account. */
  clientId: z.string().min(1).max(500).optional(),
  clientSecret: z.string().max(4096).optional(),
  apiBase: apiBase.optional(),
});
export type XSettings = z.infer<typeof xSettings>;

/** Settings of the channel for Matrix. */
const matrixSettings = commonSettings.extend({ homeserver: apiBase.optional(), accessToken: z.string().max(4096).optional() });

/** Settings of the channel for Nostr. */
const nostrSettings = commonSettings.extend({
  privateKey: z.string().max(200).optional(),
  relays: z
    .array(z.url({ protocol: /^wss?$/, error: 'must be a ws or wss URL' }).max(300))
    .max(10)
    .nullable()
    .optional(),
});

const emailAddress = z
  .string()
  .trim()
  .toLowerCase()
  .max(320)
  .regex(/^[^\s@<>]+@[^\s@<>]+$/, 'must be an e-mail address');
const mailServer = z
  .string()
  .max(300)
  .regex(/^(\w+:\/\/)?[^\s/@]+$/, 'must be a server such as mail.example.org or mail.example.org:587');

/** Settings of the channel for e-mail. */
const emailSettings = commonSettings.extend({
  address: emailAddress.optional(),
  /** Sign-in name; the address by default. */
  user: z.string().min(1).max(320).optional(),
  /** Password, or the access token for `xoauth2`. */
  password: z.string().max(8192).optional(),
  signIn: z.enum(['password', 'xoauth2']).default('password'),
  imapHost: mailServer.optional(),
  smtpHost: mailServer.optional(),
  folder: z.string().min(1).max(500).default('INBOX'),
  senderName: z.string().max(200).optional(),
  /** Server, or its domain, whose `Authentication-Results` headers prove who sent a mail. */
  trustedServer: z.string().trim().min(1).max(255).optional(),
  /** Whether the topmost such header counts, whoever wrote it. Otherwise nobody is answered without a named or known server. */
  trustAnyServer: z.boolean().optional(),
  /** Whether unknown senders get a code; they are ignored by default. */
  sendCodes: z.boolean().optional(),
  allowedUsers: z.array(emailAddress).max(10_000).nullable().optional(),
  owners: z.array(emailAddress).max(10_000).nullable().optional(),
});
export type EmailSettings = z.infer<typeof emailSettings>;

/** Account with the services of an IRC network: nicknames prove nothing. */
const ircAccount = z
  .string()
  .trim()
  .regex(/^[^\s~@!:,*?]{1,100}$/, 'must be the name of an account on the network')
  .overwrite(toIrcKey);
const ircRoom = z.string().trim().overwrite(toIrcKey);

/** Settings of the channel for IRC. */
const ircSettings = commonSettings.extend({
  host: z
    .string()
    .max(300)
    .regex(/^(\w+:\/\/)?[^\s/@]+\/?$/, 'must be a server such as irc.example.org or irc.example.org:6697')
    .optional(),
  nick: z
    .string()
    .trim()
    .regex(/^[^\s:#&+!@,*?$~%\p{Cc}][^\s!@,*?\p{Cc}]{0,49}$/u, 'must be a nickname')
    .optional(),
  /** Account with the network's services; the nickname by default. */
  accountName: z.string().trim().min(1).max(100).optional(),
  accountPassword: z.string().max(500).optional(),
  /** Channels to join, each with its key after a space if it has one. */
  join: z
    .array(
      z
        .string()
        .trim()
        .regex(/^[#&+!][^\s,:]{1,99}( [^\s,:]{1,50})?$/, 'must be a channel such as #perch'),
    )
    .max(50)
    .nullable()
    .optional(),
  allowedUsers: z.array(ircAccount).max(10_000).nullable().optional(),
  owners: z.array(ircAccount).max(100).nullable().optional(),
  rooms: z
    .array(ircRoom.regex(/^[#&+!][^\s,:]{1,99}$/, 'must be a channel such as #perch'))
    .max(50)
    .nullable()
    .optional(),
});
export type IrcSettings = z.infer<typeof ircSettings>;

const secret = z.string().max(4096).optional();
/** Settings of channels with tokens and an API whose address can be changed. */
const apiSettings = commonSettings.extend({ botToken: secret, appToken: secret, accessToken: secret, secret, apiBase: apiBase.optional() });
const ntfyTopic = z.string().regex(/^[\w-]{1,64}$/, 'must have up to 64 letters, digits, "_" and "-"');

/** `channels` of the configuration, by channel id. */
export const channelSettings = z
  .object({
    x: xSettings.optional(),
    telegram: apiSettings.optional(),
    matrix: matrixSettings.optional(),
    nostr: nostrSettings.optional(),
    discord: apiSettings.optional(),
    slack: apiSettings.optional(),
    email: emailSettings.optional(),
    irc: ircSettings.optional(),
    /** Perch writes to `topic`, and reads `inboxTopic`. */
    ntfy: apiSettings.extend({ topic: ntfyTopic.nullish(), inboxTopic: ntfyTopic.nullish() }).optional(),
    whatsapp: apiSettings
      .extend({
        phoneNumberId: z
          .string()
          .regex(/^\d{1,32}$/, 'must be the ID of the phone number, in digits')
          .optional(),
        verifyToken: secret,
      })
      .optional(),
    signal: apiSettings.extend({ account: z.string().max(64).optional() }).optional(),
  })
  // Platforms that this build does not know may have any settings.
  .catchall(commonSettings.catchall(z.any()))
  .superRefine((settings, context) => {
    for (const name of Object.keys(settings))
      if (!id.safeParse(name).success) context.addIssue({ code: 'custom', path: [name], message: 'is not a valid id' });
  });
type Channels = z.infer<typeof channelSettings>;

interface StartableSpec {
  /** Setting with the secret that the channel requires. */
  token: string;
  /** Whether it also works without that secret. */
  isTokenOptional?: boolean;
  /** Settings with further secrets that it requires. */
  secrets?: readonly string[];
  /** Whether the channel cannot work from a tab alone: the platform's API is closed to browsers, or needs TCP. */
  needsBridge: boolean;
  /** Default address of the platform's API; undefined if a setting names the server. */
  apiBase?: string;
  /** Addresses of other servers that the channel uses, by its settings. */
  servers?(settings: Record<string, unknown>): string[];
}

/** The address of a server as a URL, for comparing where the password is sent. */
const toServerUrl = (address: unknown): string[] => (typeof address === 'string' ? [`https://${address.replace(/^\w+:\/\//, '')}`] : []);

/** The channels that this gateway can start. */
const STARTABLE = {
  x: { token: 'bearerToken', needsBridge: true, apiBase: 'https://api.x.com' },
  telegram: { token: 'botToken', needsBridge: true, apiBase: 'https://api.telegram.org' },
  matrix: {
    token: 'accessToken',
    needsBridge: false,
    servers: ({ homeserver }: Record<string, unknown>) => (typeof homeserver === 'string' ? [homeserver] : []),
  },
  discord: { token: 'botToken', needsBridge: true, apiBase: 'https://discord.com' },
  slack: { token: 'botToken', secrets: ['appToken'], needsBridge: true, apiBase: 'https://slack.com' },
  email: {
    token: 'password',
    needsBridge: true,
    servers: ({ imapHost, smtpHost }: Record<string, unknown>) => [imapHost, smtpHost].flatMap(toServerUrl),
  },
  ntfy: { token: 'accessToken', isTokenOptional: true, needsBridge: false, apiBase: 'https://ntfy.sh' },
  whatsapp: { token: 'accessToken', secrets: ['secret', 'verifyToken'], needsBridge: true, apiBase: 'https://graph.facebook.com' },
  signal: { token: 'secret', isTokenOptional: true, needsBridge: true, apiBase: 'http://127.0.0.1:8080' },
  irc: {
    token: 'accountPassword',
    isTokenOptional: true,
    needsBridge: true,
    servers: ({ host }: Record<string, unknown>) => toServerUrl(host),
  },
  // The key is not sent anywhere: it only signs.
  nostr: { token: 'privateKey', needsBridge: false },
} as const satisfies Record<string, StartableSpec>;
export type StartableChannel = keyof typeof STARTABLE;
export const STARTABLE_CHANNELS = Object.keys(STARTABLE) as StartableChannel[];
export const isStartable = (name: string): name is StartableChannel => Object.hasOwn(STARTABLE, name);
export const getStartableSpec = (name: StartableChannel): StartableSpec => STARTABLE[name];

const SECRET_NAMES = [
  'bearerToken',
  'botToken',
  'appToken',
  'accessToken',
  'privateKey',
  'token',
  'password',
  'accountPassword',
  'secret',
  'clientSecret',
  'verifyToken',
];

/** Whether a path leads to a secret of a channel. */
export const isChannelSecret = ([section, , name = '', ...rest]: readonly string[]): boolean =>
  section === 'channels' && rest.length === 0 && SECRET_NAMES.includes(name);

/** Address of a platform's API, without a trailing slash; empty if it has none. */
export const getApiBase = (name: StartableChannel, settings: Record<string, unknown> | undefined): string => {
  const own = settings?.['apiBase'];
  return (typeof own === 'string' ? own : (getStartableSpec(name).apiBase ?? '')).replace(/\/+$/, '');
};

/** Origins that a channel's token is sent to. */
function getOrigins(name: StartableChannel, channels: Channels): string[] {
  const settings = channels[name];
  if (!settings) return [];
  const addresses = [getApiBase(name, settings), ...(getStartableSpec(name).servers?.(settings) ?? [])];
  return addresses.flatMap((address) => URL.parse(address)?.origin ?? []);
}

/** Origins of the APIs of the configured channels. */
export const getChannelOrigins = (channels: Channels): string[] => STARTABLE_CHANNELS.flatMap((name) => getOrigins(name, channels));

/** Dotted paths of tokens whose channel's address has changed: they are not sent there until they are entered again. */
export function findMovedTokens(before: Channels, after: Channels): string[] {
  return STARTABLE_CHANNELS.flatMap((name) => {
    const old = getOrigins(name, before);
    if (old.length === 0 || !after[name] || getOrigins(name, after).every((origin) => old.includes(origin))) return [];
    return SECRET_NAMES.map((secret) => `channels.${name}.${secret}`);
  });
}
