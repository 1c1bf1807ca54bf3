import type { ChannelKind } from '#shared/rpc/methods/channels.ts';
import { isStartable } from './settings.ts';

type Capability = keyof ChannelKind['capabilities'];
type Setting = ChannelKind['settings'][number];

const NAMES: readonly Capability[] = ['typing', 'reactions', 'threads', 'editing', 'deletion', 'buttons', 'pins', 'read_receipts'];

const can = (...names: Capability[]): ChannelKind['capabilities'] =>
  Object.fromEntries(NAMES.map((name) => [name, names.includes(name)])) as ChannelKind['capabilities'];
const limits = (characters: number | null, megabytes: number | null): ChannelKind['media_limits'] => ({
  max_message_length: characters,
  max_file_size_mb: megabytes,
});

const secret = (name: string, meaning: string): Setting => ({ name, required: true, secret: true, meaning });
const needed = (name: string, meaning: string): Setting => ({ name, required: true, secret: false, meaning });
const free = (name: string, meaning: string): Setting => ({ name, required: false, secret: false, meaning });
const optionalSecret = (name: string, meaning: string): Setting => ({ name, required: false, secret: true, meaning });
const apiBase = free('apiBase', 'Another server that speaks the platform’s API');
const allowedUsers = free('allowedUsers', 'Who may write; an empty list allows everyone');
const pollIntervalSeconds = free('pollIntervalSeconds', 'Seconds between two looks, 60 or more');

const NOT_HERE = 'This version of Perch keeps its settings, and does not connect to it';

/**
 * Channels and what their platforms allow a bot, as their own documents say it in 2026: lengths in characters of one message, sizes in megabytes of one
 * file, without what is paid for.
 */
const kinds: readonly (Omit<ChannelKind, 'startable' | 'reason' | 'category'> & { category: ChannelKind['category'] })[] = [
  {
    id: 'webchat',
    display_name: 'Perch app',
    category: 'builtin',
    color: '#2f6f8f',
    icon: 'message-circle',
    capabilities: can('typing', 'editing', 'deletion', 'buttons', 'pins'),
    media_limits: limits(500_000, 16),
    supports_dm: true,
    supports_groups: false,
    settings: [],
  },
  {
    id: 'x',
    display_name: 'X',
    category: 'social',
    color: '#0f1419',
    icon: 'at-sign',
    capabilities: can('reactions', 'threads', 'deletion'),
    media_limits: limits(280, 5),
    supports_dm: true,
    supports_groups: false,
    settings: [
      secret('bearerToken', 'Bearer token of the platform’s API: of the app, which reads, or of the account'),
      free('socialUsername', 'The account, without the at-sign'),
      free('monitorMentions', 'Look for mentions'),
      free('monitorDMs', 'Look for direct messages; needs an OAuth 2.0 authorization of the account'),
      pollIntervalSeconds,
      allowedUsers,
      free('searchesPerMonth', 'How often a month mentions may be looked for; 3000 where it is left out'),
      free('clientId', 'Id of the app at the platform, for the authorization of the account'),
      optionalSecret('clientSecret', 'Secret of the app, where it has one'),
      apiBase,
    ],
  },
  {
    id: 'telegram',
    display_name: 'Telegram',
    category: 'messenger',
    color: '#229ed9',
    icon: 'send',
    capabilities: can('typing', 'reactions', 'threads', 'editing', 'deletion', 'buttons', 'pins'),
    media_limits: limits(4096, 50),
    supports_dm: true,
    supports_groups: true,
    settings: [secret('botToken', 'Token that BotFather gave'), allowedUsers, apiBase],
  },
  {
    id: 'discord',
    display_name: 'Discord',
    category: 'messenger',
    color: '#5865f2',
    icon: 'gamepad-2',
    capabilities: can('typing', 'reactions', 'threads', 'editing', 'deletion', 'buttons', 'pins'),
    media_limits: limits(2000, 10),
    supports_dm: true,
    supports_groups: true,
    settings: [secret('botToken', 'Token of the bot'), free('guilds', 'Servers that it answers on'), allowedUsers],
  },
  {
    id: 'slack',
    display_name: 'Slack',
    category: 'work',
    color: '#4a154b',
    icon: 'hash',
    capabilities: can('typing', 'reactions', 'threads', 'editing', 'deletion', 'buttons', 'pins'),
    media_limits: limits(40_000, 1024),
    supports_dm: true,
    supports_groups: true,
    settings: [secret('botToken', 'Bot token, xoxb-…'), secret('appToken', 'App token for socket mode, xapp-…'), allowedUsers],
  },
  {
    id: 'matrix',
    display_name: 'Matrix',
    category: 'messenger',
    color: '#0dbd8b',
    icon: 'brackets',
    capabilities: can('typing', 'reactions', 'threads', 'editing', 'deletion', 'pins', 'read_receipts'),
    media_limits: limits(60_000, 50),
    supports_dm: true,
    supports_groups: true,
    settings: [needed('homeserver', 'Address of the server'), secret('accessToken', 'Access token of the account'), allowedUsers],
  },
  {
    id: 'signal',
    display_name: 'Signal',
    category: 'messenger',
    color: '#3a76f0',
    icon: 'shield',
    capabilities: can('typing', 'reactions', 'editing', 'deletion', 'read_receipts'),
    media_limits: limits(65_536, 100),
    supports_dm: true,
    supports_groups: true,
    settings: [needed('account', 'Telephone number of the linked account'), allowedUsers],
  },
  {
    id: 'whatsapp',
    display_name: 'WhatsApp',
    category: 'messenger',
    color: '#25d366',
    icon: 'phone',
    capabilities: can('typing', 'reactions', 'buttons', 'read_receipts'),
    media_limits: limits(4096, 100),
    supports_dm: true,
    supports_groups: false,
    settings: [needed('phoneNumberId', 'Id of the number'), secret('accessToken', 'Access token of the Cloud API'), allowedUsers],
  },
  {
    id: 'email',
    display_name: 'E-mail',
    category: 'mail',
    color: '#b45309',
    icon: 'mail',
    capabilities: can('threads'),
    media_limits: limits(null, 25),
    supports_dm: true,
    supports_groups: true,
    settings: [
      needed('address', 'The address that it reads and writes'),
      needed('imapHost', 'Server for reading'),
      needed('smtpHost', 'Server for sending'),
      secret('password', 'Password of the account'),
      pollIntervalSeconds,
      allowedUsers,
    ],
  },
  {
    id: 'teams',
    display_name: 'Microsoft Teams',
    category: 'work',
    color: '#6264a7',
    icon: 'users',
    capabilities: can('typing', 'reactions', 'threads', 'editing', 'deletion', 'buttons'),
    media_limits: limits(28_000, 250),
    supports_dm: true,
    supports_groups: true,
    settings: [needed('appId', 'Id of the bot'), secret('password', 'Password of the bot'), allowedUsers],
  },
  {
    id: 'mattermost',
    display_name: 'Mattermost',
    category: 'work',
    color: '#1e325c',
    icon: 'messages-square',
    capabilities: can('typing', 'reactions', 'threads', 'editing', 'deletion', 'buttons', 'pins'),
    media_limits: limits(16_383, 100),
    supports_dm: true,
    supports_groups: true,
    settings: [needed('url', 'Address of the server'), secret('token', 'Token of the bot'), allowedUsers],
  },
  {
    id: 'googlechat',
    display_name: 'Google Chat',
    category: 'work',
    color: '#00897b',
    icon: 'message-square',
    capabilities: can('reactions', 'threads', 'editing', 'deletion', 'buttons'),
    media_limits: limits(4096, 200),
    supports_dm: true,
    supports_groups: true,
    settings: [secret('token', 'Key of the service account, as JSON'), allowedUsers],
  },
  {
    id: 'line',
    display_name: 'LINE',
    category: 'messenger',
    color: '#06c755',
    icon: 'message-circle-more',
    capabilities: can('typing', 'buttons'),
    media_limits: limits(5000, 10),
    supports_dm: true,
    supports_groups: true,
    settings: [secret('accessToken', 'Access token of the channel'), secret('secret', 'Secret of the channel'), allowedUsers],
  },
  {
    id: 'irc',
    display_name: 'IRC',
    category: 'messenger',
    color: '#64748b',
    icon: 'terminal',
    capabilities: can(),
    media_limits: limits(400, 0),
    supports_dm: true,
    supports_groups: true,
    settings: [needed('host', 'Server'), needed('nick', 'Name there'), free('rooms', 'Rooms to join'), allowedUsers],
  },
  {
    id: 'sms',
    display_name: 'SMS',
    category: 'sms',
    color: '#be185d',
    icon: 'smartphone',
    capabilities: can(),
    media_limits: limits(1600, 5),
    supports_dm: true,
    supports_groups: false,
    settings: [needed('accountId', 'Account at the provider'), secret('token', 'Token of the account'), needed('number', 'Own number')],
  },
];

export const catalog: readonly ChannelKind[] = kinds.map((kind) =>
  kind.category === 'builtin' || isStartable(kind.id) ? { ...kind, startable: true } : { ...kind, startable: false, reason: NOT_HERE },
);
