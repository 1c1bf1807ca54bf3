import type { ChannelKind } from '#shared/rpc/methods/channel-contracts.ts';
import { isStartable } from '../../config/sections/channel-settings.ts';

type Capability = keyof ChannelKind['capabilities'];
type Setting = ChannelKind['settings'][number];

const CAPABILITIES: readonly Capability[] = ['typing', 'reactions', 'threads', 'editing', 'deletion', 'buttons', 'pins', 'read_receipts'];

const toCapabilities = (...names: Capability[]): ChannelKind['capabilities'] =>
  Object.fromEntries(CAPABILITIES.map((name) => [name, names.includes(name)])) as ChannelKind['capabilities'];
const toMediaLimits = (characters: number | null, megabytes: number | null): ChannelKind['media_limits'] => ({
  max_message_length: characters,
  max_file_size_mb: megabytes,
});

const requiredSecret = (name: string, meaning: string): Setting => ({ name, required: true, secret: true, meaning });
const requiredSetting = (name: string, meaning: string): Setting => ({ name, required: true, secret: false, meaning });
const optionalSetting = (name: string, meaning: string): Setting => ({ name, required: false, secret: false, meaning });
const optionalSecret = (name: string, meaning: string): Setting => ({ name, required: false, secret: true, meaning });
const apiBase = optionalSetting('apiBase', 'Base URL of another server with the same API');
const allowedUsers = optionalSetting(
  'allowedUsers',
  'Users who may send messages. If unset, you confirm each new sender by a code. An empty list allows everyone.',
);
const groups = optionalSetting('groups', 'Messages in groups to reply to: `mentions` (the default), `all` or `off`');
/** Settings of platforms whose groups have ids that people can see. */
const groupSettings = [
  groups,
  optionalSetting('rooms', 'IDs of groups whose members may write; others are ignored. If unset, each member is let in by a code.'),
];
const reactions = optionalSetting('reactions', 'React to a message while it is answered');
const pollIntervalSeconds = optionalSetting('pollIntervalSeconds', 'Polling interval in seconds, at least 60');

const NOT_SUPPORTED = 'This version of Perch can’t connect to this channel yet';

/**
 * Channels and their platforms' limits for bots, as documented in 2026, without paid plans: length of one message in characters, size of
 * one file in megabytes.
 */
const channelKinds: readonly (Omit<ChannelKind, 'startable' | 'reason' | 'category'> & { category: ChannelKind['category'] })[] = [
  {
    id: 'webchat',
    display_name: 'Perch app',
    category: 'builtin',
    color: '#2f6f8f',
    icon: 'message-circle',
    capabilities: toCapabilities('typing', 'editing', 'deletion', 'buttons', 'pins'),
    media_limits: toMediaLimits(500_000, 16),
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
    capabilities: toCapabilities('reactions', 'threads', 'deletion'),
    media_limits: toMediaLimits(280, 5),
    supports_dm: true,
    supports_groups: false,
    settings: [
      requiredSecret('bearerToken', 'Bearer token of the app (read-only) or of the account'),
      optionalSetting('socialUsername', 'Account name, without the @'),
      optionalSetting('monitorMentions', 'Check for mentions'),
      optionalSetting('monitorDMs', 'Check for direct messages. The account must be authorized with OAuth 2.0.'),
      pollIntervalSeconds,
      allowedUsers,
      optionalSetting('searchesPerMonth', 'Maximum number of searches per month, 3000 by default'),
      optionalSetting('clientId', 'OAuth 2.0 client ID of the app'),
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
    capabilities: toCapabilities('typing', 'reactions', 'threads', 'editing', 'deletion', 'buttons', 'pins'),
    media_limits: toMediaLimits(4096, 50),
    supports_dm: true,
    supports_groups: true,
    settings: [requiredSecret('botToken', 'Bot token from BotFather'), allowedUsers, ...groupSettings, apiBase],
  },
  {
    id: 'discord',
    display_name: 'Discord',
    category: 'messenger',
    color: '#5865f2',
    icon: 'gamepad-2',
    capabilities: toCapabilities('typing', 'reactions', 'threads', 'editing', 'deletion', 'buttons', 'pins'),
    media_limits: toMediaLimits(2000, 10),
    supports_dm: true,
    supports_groups: true,
    settings: [requiredSecret('botToken', 'Bot token'), allowedUsers, ...groupSettings, reactions, apiBase],
  },
  {
    id: 'slack',
    display_name: 'Slack',
    category: 'work',
    color: '#4a154b',
    icon: 'hash',
    capabilities: toCapabilities('reactions', 'threads', 'editing', 'deletion', 'buttons', 'pins'),
    media_limits: toMediaLimits(4000, 1024),
    supports_dm: true,
    supports_groups: true,
    settings: [
      requiredSecret('botToken', 'Bot token (xoxb-…)'),
      requiredSecret('appToken', 'App token for socket mode (xapp-…)'),
      allowedUsers,
      ...groupSettings,
      reactions,
      apiBase,
    ],
  },
  {
    id: 'matrix',
    display_name: 'Matrix',
    category: 'messenger',
    color: '#0dbd8b',
    icon: 'brackets',
    capabilities: toCapabilities('typing', 'reactions', 'threads', 'editing', 'deletion', 'buttons', 'pins', 'read_receipts'),
    media_limits: toMediaLimits(20_000, 50),
    supports_dm: true,
    supports_groups: true,
    settings: [
      requiredSetting('homeserver', 'Server URL'),
      requiredSecret('accessToken', 'Access token of the account'),
      allowedUsers,
      ...groupSettings,
      reactions,
    ],
  },
  {
    id: 'nostr',
    display_name: 'Nostr',
    category: 'messenger',
    color: '#7b3fe4',
    icon: 'radio-tower',
    capabilities: toCapabilities('reactions', 'threads'),
    media_limits: toMediaLimits(20_000, 0),
    supports_dm: true,
    supports_groups: true,
    settings: [
      requiredSecret('privateKey', 'Private key of the account (nsec1…)'),
      requiredSetting('relays', 'Addresses of relays'),
      allowedUsers,
      groups,
    ],
  },
  {
    id: 'ntfy',
    display_name: 'ntfy',
    category: 'messenger',
    color: '#338574',
    icon: 'bell',
    capabilities: toCapabilities(),
    media_limits: toMediaLimits(4000, 15),
    supports_dm: true,
    supports_groups: false,
    settings: [
      requiredSetting('topic', 'Topic that Perch writes to'),
      optionalSetting('inboxTopic', 'Topic that Perch reads and answers'),
      optionalSecret('accessToken', 'Access token, if the topics are protected'),
      allowedUsers,
      apiBase,
    ],
  },
  {
    id: 'signal',
    display_name: 'Signal',
    category: 'messenger',
    color: '#3a76f0',
    icon: 'shield',
    capabilities: toCapabilities('typing', 'reactions', 'editing', 'deletion', 'read_receipts'),
    media_limits: toMediaLimits(2000, 100),
    supports_dm: true,
    supports_groups: true,
    settings: [
      requiredSetting('account', 'Phone number of the linked account, such as +491701234567'),
      allowedUsers,
      ...groupSettings,
      reactions,
      apiBase,
    ],
  },
  {
    id: 'whatsapp',
    display_name: 'WhatsApp',
    category: 'messenger',
    color: '#25d366',
    icon: 'phone',
    capabilities: toCapabilities('typing', 'reactions', 'buttons', 'read_receipts'),
    media_limits: toMediaLimits(4000, 100),
    supports_dm: true,
    supports_groups: false,
    settings: [
      requiredSetting('phoneNumberId', 'Phone number ID'),
      requiredSecret('accessToken', 'Cloud API access token'),
      requiredSecret('secret', 'App secret, which proves that calls are WhatsApp’s'),
      requiredSecret('verifyToken', 'A word of your own, which you enter at Meta too'),
      allowedUsers,
      reactions,
      apiBase,
    ],
  },
  {
    id: 'email',
    display_name: 'Email',
    category: 'mail',
    color: '#b45309',
    icon: 'mail',
    capabilities: toCapabilities('threads'),
    media_limits: toMediaLimits(null, 15),
    supports_dm: true,
    supports_groups: false,
    settings: [
      requiredSetting('address', 'Email address'),
      requiredSetting('imapHost', 'IMAP server, such as imap.example.org'),
      requiredSetting('smtpHost', 'SMTP server, such as smtp.example.org'),
      requiredSecret('password', 'Password of the account, an app password, or an access token'),
      allowedUsers,
      optionalSetting('trustedServer', 'Server whose Authentication-Results prove who sent a mail'),
      optionalSetting('trustAnyServer', 'Trust the topmost Authentication-Results header, whoever wrote it'),
      optionalSetting('sendCodes', 'Send codes to unknown senders instead of ignoring them'),
      optionalSetting('user', 'Sign-in name, by default the address'),
      optionalSetting('signIn', 'Type of `password`: `password` (the default), or `xoauth2` for an access token'),
      optionalSetting('senderName', 'Name shown to recipients'),
      optionalSetting('folder', 'Folder to read, INBOX by default'),
      pollIntervalSeconds,
    ],
  },
  {
    id: 'teams',
    display_name: 'Microsoft Teams',
    category: 'work',
    color: '#6264a7',
    icon: 'users',
    capabilities: toCapabilities('typing', 'reactions', 'threads', 'editing', 'deletion', 'buttons'),
    media_limits: toMediaLimits(28_000, 250),
    supports_dm: true,
    supports_groups: true,
    settings: [requiredSetting('appId', 'Bot ID'), requiredSecret('password', 'Bot password'), allowedUsers],
  },
  {
    id: 'mattermost',
    display_name: 'Mattermost',
    category: 'work',
    color: '#1e325c',
    icon: 'messages-square',
    capabilities: toCapabilities('typing', 'reactions', 'threads', 'editing', 'deletion', 'buttons', 'pins'),
    media_limits: toMediaLimits(16_383, 100),
    supports_dm: true,
    supports_groups: true,
    settings: [requiredSetting('url', 'Server URL'), requiredSecret('token', 'Bot token'), allowedUsers],
  },
  {
    id: 'googlechat',
    display_name: 'Google Chat',
    category: 'work',
    color: '#00897b',
    icon: 'message-square',
    capabilities: toCapabilities('reactions', 'threads', 'editing', 'deletion', 'buttons'),
    media_limits: toMediaLimits(4096, 200),
    supports_dm: true,
    supports_groups: true,
    settings: [requiredSecret('token', 'Service account key (JSON)'), allowedUsers],
  },
  {
    id: 'line',
    display_name: 'LINE',
    category: 'messenger',
    color: '#06c755',
    icon: 'message-circle-more',
    capabilities: toCapabilities('typing', 'buttons'),
    media_limits: toMediaLimits(5000, 10),
    supports_dm: true,
    supports_groups: true,
    settings: [requiredSecret('accessToken', 'Channel access token'), requiredSecret('secret', 'Channel secret'), allowedUsers],
  },
  {
    id: 'irc',
    display_name: 'IRC',
    category: 'messenger',
    color: '#64748b',
    icon: 'terminal',
    capabilities: toCapabilities(),
    media_limits: toMediaLimits(296, 0),
    supports_dm: true,
    supports_groups: true,
    settings: [
      requiredSetting('host', 'Server, such as irc.example.org. TLS at port 6697 by default'),
      requiredSetting('nick', 'Nickname'),
      optionalSecret('accountPassword', 'Password of the account with the network’s services'),
      optionalSetting('join', 'Channels to join'),
      allowedUsers,
      optionalSetting('accountName', 'Account with the network’s services, the nickname by default'),
      ...groupSettings,
    ],
  },
  {
    id: 'sms',
    display_name: 'SMS',
    category: 'sms',
    color: '#be185d',
    icon: 'smartphone',
    capabilities: toCapabilities(),
    media_limits: toMediaLimits(1600, 5),
    supports_dm: true,
    supports_groups: false,
    settings: [
      requiredSetting('accountId', 'Account ID'),
      requiredSecret('token', 'Account token'),
      requiredSetting('number', 'Your phone number'),
    ],
  },
];

export const channelCatalog: readonly ChannelKind[] = channelKinds.map((kind) =>
  kind.category === 'builtin' || isStartable(kind.id) ? { ...kind, startable: true } : { ...kind, startable: false, reason: NOT_SUPPORTED },
);
