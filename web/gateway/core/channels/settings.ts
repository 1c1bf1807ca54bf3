import { id } from '#shared/rpc/frames.ts';
import { z } from '#shared/rpc/zod.ts';

const users = z.array(z.string().min(1).max(200)).max(10_000).nullable();
const pollIntervalSeconds = z.number().int().min(60, 'must be at least 60 seconds').max(86_400);
/** Another server that speaks the platform's API; the platform's own where left out. */
const apiBase = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(1000)
  .refine((text) => {
    const url = URL.parse(text);
    return url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  }, 'must not include a user name, password, query or fragment');

/** What every channel has. Their other settings are kept as they are: each platform has its own. */
const channel = z.looseObject({
  enabled: z.boolean().optional(),
  /** Senders that are answered. Empty: everyone. Null or missing: those whom the owner confirmed (`pairedUsers`). */
  allowedUsers: users.optional(),
  /** Accounts of the owner, by id: what they write counts as the owner's own words, and not as outside content. */
  owners: users.optional(),
  /** Senders that the owner has confirmed. */
  pairedUsers: z
    .array(z.object({ id: z.string().min(1).max(200), name: z.string().max(200) }))
    .max(1000)
    .optional(),
  /** The owner was asked about an empty `allowedUsers` and chose to keep it. */
  allowEveryone: z.boolean().optional(),
  pollIntervalSeconds: pollIntervalSeconds.optional(),
  /** Who answers there, unless a binding says otherwise. */
  agentId: id.optional(),
  /** Tools that runs from there may use: none, unless they are named. */
  tools: z.array(z.string().min(1).max(200)).max(1000).optional(),
});

/** The social channel (interface document 2, section 2.2). */
const x = channel.extend({
  bearerToken: z.string().min(1).max(4096),
  socialUsername: z
    .string()
    .max(100)
    .regex(/^[^@]*$/, 'must not include the @')
    .default(''),
  monitorMentions: z.boolean().default(true),
  monitorDMs: z.boolean().default(false),
  pollIntervalSeconds: pollIntervalSeconds.default(120),
  allowedUsers: users.default(null),
  /** Looks for mentions in a calendar month (UTC). */
  searchesPerMonth: z.number().int().min(1).max(10_000_000).default(3000),
  /** Of the app at the platform, for the authorization of the account. */
  clientId: z.string().min(1).max(500).optional(),
  clientSecret: z.string().max(4096).optional(),
  apiBase: apiBase.optional(),
});
export type XSettings = z.infer<typeof x>;

const telegram = channel.extend({ botToken: z.string().max(4096).optional(), apiBase: apiBase.optional() });
export type TelegramSettings = z.infer<typeof telegram>;

/** `channels` of the configuration, by the channel's id. */
export const channelSettings = z
  .object({ x: x.optional(), telegram: telegram.optional() })
  // Of platforms that are not known here, any setting is.
  .catchall(channel.catchall(z.any()))
  .superRefine((given, context) => {
    for (const name of Object.keys(given))
      if (!id.safeParse(name).success) context.addIssue({ code: 'custom', path: [name], message: 'is not a valid id' });
  });
type Channels = z.infer<typeof channelSettings>;

/** The channels that this gateway can start, with the addresses of their platforms' APIs. */
export const API_BASES = { x: 'https://api.x.com', telegram: 'https://api.telegram.org' } as const;
export type StartableChannel = keyof typeof API_BASES;
export const STARTABLE = ['x', 'telegram'] as const satisfies readonly StartableChannel[];
export const isStartable = (name: string): name is StartableChannel => Object.hasOwn(API_BASES, name);

const SECRETS = ['bearerToken', 'botToken', 'appToken', 'accessToken', 'token', 'password', 'secret', 'clientSecret'];

/** Whether a path leads to a secret of a channel. */
export const isChannelSecret = ([section, , name = '', ...rest]: readonly string[]): boolean =>
  section === 'channels' && rest.length === 0 && SECRETS.includes(name);

/** Without a slash at its end. */
export const apiBaseOf = (name: StartableChannel, settings: { apiBase?: string | undefined } | undefined): string =>
  (settings?.apiBase ?? API_BASES[name]).replace(/\/+$/, '');

const originOf = (name: StartableChannel, channels: Channels): string | undefined =>
  channels[name] && new URL(apiBaseOf(name, channels[name])).origin;

/** Where the configured channels are asked. */
export const channelOrigins = (channels: Channels): string[] => STARTABLE.flatMap((name) => originOf(name, channels) ?? []);

/** Dotted paths of tokens whose channel has another address than before: they are not sent there without being given again. */
export function movedTokens(before: Channels, after: Channels): string[] {
  return STARTABLE.flatMap((name) => {
    const old = originOf(name, before);
    if (old === undefined || !after[name] || old === originOf(name, after)) return [];
    return SECRETS.map((secret) => `channels.${name}.${secret}`);
  });
}
