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
const apiBase = free('apiBase', 'Base URL of another server with the same API');
const allowedUsers = free(
  'allowedUsers',
  'Users who may send messages. If unset, you confirm each new sender by a code. An empty list allows everyone.',
);
const pollIntervalSeconds = free('pollIntervalSeconds', 'Polling interval in seconds, at least 60');

const NOT_HERE = 'This version of Perch can’t connect to this channel yet';

/**
 * Channels and their platforms' limits for bots, as documented in 2026, without paid plans: length of one message in characters, size of
 * one file in megabytes.
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
      secret('bearerToken', 'Bearer token of the app (read-only) or of the account'),
      free('socialUsername', 'Account name, without the @'),
      free('monitorMentions', 'Check for mentions'),
      free('monitorDMs', 'Check for direct messages. The account must be authorized with OAuth 2.0.'),
      pollIntervalSeconds,
      allowedUsers,
      free('searchesPerMonth', 'Maximum number of searches per month, 3000 by default'),
      free('clientId', 'OAuth 2.0 client ID of the app'),
      optionalSecret('clientSecret', 'OAuth 2.0 client secret of the app, if it has one'),
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
    settings: [secret('botToken', 'Bot token from BotFather'), allowedUsers, apiBase],
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
    settings: [secret('botToken', 'Bot token'), free('guilds', 'Servers to reply on'), allowedUsers],
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
    settings: [secret('botToken', 'Bot token (xoxb-…)'), secret('appToken', 'App token for socket mode (xapp-…)'), allowedUsers],
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
    settings: [needed('homeserver', 'Server URL'), secret('accessToken', 'Access token of the account'), allowedUsers],
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
    settings: [needed('account', 'Phone number of the linked account'), allowedUsers],
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
    settings: [needed('phoneNumberId', 'Phone number ID'), secret('accessToken', 'Cloud API access token'), allowedUsers],
  },
  {
    id: 'email',
    display_name: 'Email',
    category: 'mail',
    color: '#b45309',
    icon: 'mail',
    capabilities: can('threads'),
    media_limits: limits(null, 25),
    supports_dm: true,
    supports_groups: true,
    settings: [
      needed('address', 'Email address'),
      needed('imapHost', 'IMAP server'),
      needed('smtpHost', 'SMTP server'),
      secret('password', 'Account password'),
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
    settings: [needed('appId', 'Bot ID'), secret('password', 'Bot password'), allowedUsers],
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
    settings: [needed('url', 'Server URL'), secret('token', 'Bot token'), allowedUsers],
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
    settings: [secret('token', 'Service account key (JSON)'), allowedUsers],
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
    settings: [secret('accessToken', 'Channel access token'), secret('secret', 'Channel secret'), allowedUsers],
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
    settings: [needed('host', 'Server'), needed('nick', 'Nickname'), free('rooms', 'Rooms to join'), allowedUsers],
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
    settings: [needed('accountId', 'Account ID'), secret('token', 'Account token'), needed('number', 'Your phone number')],
  },
];

export const catalog: readonly ChannelKind[] = kinds.map((kind) =>
  kind.category === 'builtin' || isStartable(kind.id) ? { ...kind, startable: true } : { ...kind, startable: false, reason: NOT_HERE },
);
