import type { ChannelKind } from '#shared/rpc/methods/channel-contracts.ts';
import { replacePathsByLabels } from '#app/i18n/replace-paths.ts';
import { m } from '#app/i18n/messages.ts';

export type ChannelSetting = ChannelKind['settings'][number];

interface ChannelField {
  label: string;
  /** A sentence below the field. */
  hint: string;
  kind: 'text' | 'number' | 'switch' | 'lines' | 'choice';
  /** Labels of the values of a choice, the default first. */
  options?: Readonly<Record<string, () => string>>;
  /** Default value. */
  defaultValue?: number | boolean;
  /** Shown under "More", as few people need it. */
  rare?: true;
  /** A user name that may be written with a leading at-sign, which is removed. */
  stripsAtSign?: true;
}

const CHANNEL_FIELDS: Readonly<Record<string, Omit<ChannelField, 'label' | 'hint'> & { label: () => string; hint?: () => string }>> = {
  bearerToken: { label: () => m.channels_field_bearer_token(), hint: () => m.channels_hint_bearer_token(), kind: 'text' },
  botToken: { label: () => m.channels_field_bot_token(), hint: () => m.channels_hint_bot_token(), kind: 'text' },
  appToken: { label: () => m.channels_field_app_token(), hint: () => m.channels_hint_app_token(), kind: 'text' },
  socialUsername: { label: () => m.channels_field_account(), hint: () => m.channels_hint_account(), kind: 'text', stripsAtSign: true },
  monitorMentions: { label: () => m.channels_field_mentions(), kind: 'switch', defaultValue: true },
  monitorDMs: { label: () => m.channels_field_direct(), hint: () => m.channels_hint_direct(), kind: 'switch', defaultValue: false },
  pollIntervalSeconds: {
    label: () => m.channels_field_interval(),
    hint: () => m.channels_hint_interval(),
    kind: 'number',
    defaultValue: 120,
    rare: true,
  },
  allowedUsers: { label: () => m.channels_field_allowed(), hint: () => m.channels_hint_allowed(), kind: 'lines' },
  searchesPerMonth: {
    label: () => m.channels_field_searches(),
    hint: () => m.channels_hint_searches(),
    kind: 'number',
    defaultValue: 3000,
    rare: true,
  },
  account: { label: () => m.channels_field_phone_number(), hint: () => m.channels_hint_phone_number(), kind: 'text' },
  phoneNumberId: { label: () => m.channels_field_phone_number_id(), hint: () => m.channels_hint_phone_number_id(), kind: 'text' },
  secret: { label: () => m.channels_field_app_secret(), hint: () => m.channels_hint_app_secret(), kind: 'text' },
  verifyToken: { label: () => m.channels_field_verify_token(), hint: () => m.channels_hint_verify_token(), kind: 'text' },
  topic: { label: () => m.channels_field_topic(), hint: () => m.channels_hint_topic(), kind: 'text' },
  inboxTopic: { label: () => m.channels_field_inbox_topic(), hint: () => m.channels_hint_inbox_topic(), kind: 'text' },
  homeserver: { label: () => m.channels_field_homeserver(), hint: () => m.channels_hint_homeserver(), kind: 'text' },
  accessToken: { label: () => m.channels_field_access_token(), hint: () => m.channels_hint_access_token(), kind: 'text' },
  privateKey: { label: () => m.channels_field_private_key(), hint: () => m.channels_hint_private_key(), kind: 'text' },
  relays: { label: () => m.channels_field_relays(), hint: () => m.channels_hint_relays(), kind: 'lines' },
  groups: {
    label: () => m.channels_field_groups(),
    kind: 'choice',
    options: { mentions: () => m.channels_groups_mentions(), all: () => m.channels_groups_all(), off: () => m.channels_groups_off() },
    rare: true,
  },
  rooms: { label: () => m.channels_field_rooms(), hint: () => m.channels_hint_rooms(), kind: 'lines', rare: true },
  reactions: { label: () => m.channels_field_reactions(), kind: 'switch', defaultValue: false, rare: true },
  address: { label: () => m.channels_field_address(), hint: () => m.channels_hint_access_token(), kind: 'text' },
  imapHost: { label: () => m.channels_field_imap_host(), hint: () => m.channels_hint_imap_host(), kind: 'text' },
  smtpHost: { label: () => m.channels_field_smtp_host(), hint: () => m.channels_hint_smtp_host(), kind: 'text' },
  password: { label: () => m.channels_field_password(), hint: () => m.channels_hint_password(), kind: 'text' },
  trustedServer: { label: () => m.channels_field_trusted_server(), hint: () => m.channels_hint_trusted_server(), kind: 'text' },
  trustAnyServer: {
    label: () => m.channels_field_trust_any_server(),
    hint: () => m.channels_hint_trust_any_server(),
    kind: 'switch',
    defaultValue: false,
    rare: true,
  },
  host: { label: () => m.channels_field_server(), hint: () => m.channels_hint_server(), kind: 'text' },
  nick: { label: () => m.channels_field_nick(), kind: 'text' },
  accountPassword: { label: () => m.channels_field_account_password(), hint: () => m.channels_hint_account_password(), kind: 'text' },
  join: { label: () => m.channels_field_join(), hint: () => m.channels_hint_join(), kind: 'lines' },
  accountName: { label: () => m.channels_field_account_name(), hint: () => m.channels_hint_account_name(), kind: 'text', rare: true },
  user: { label: () => m.channels_field_user(), hint: () => m.channels_hint_user(), kind: 'text', rare: true },
  signIn: {
    label: () => m.channels_field_sign_in(),
    kind: 'choice',
    options: { password: () => m.channels_field_password(), xoauth2: () => m.channels_sign_in_token() },
    rare: true,
  },
  senderName: { label: () => m.channels_field_sender_name(), kind: 'text', rare: true },
  folder: { label: () => m.channels_field_folder(), hint: () => m.channels_hint_folder(), kind: 'text', rare: true },
  clientId: { label: () => m.channels_field_client_id(), hint: () => m.channels_hint_client_id(), kind: 'text' },
  clientSecret: { label: () => m.channels_field_client_secret(), hint: () => m.channels_hint_client_secret(), kind: 'text' },
  apiBase: { label: () => m.channels_field_api(), hint: () => m.channels_hint_api(), kind: 'text', rare: true },
};

/** Form field of a channel setting. */
export function getChannelField({ name, meaning }: ChannelSetting): ChannelField {
  const field = CHANNEL_FIELDS[name];
  return field ? { ...field, label: field.label(), hint: field.hint?.() ?? '' } : { label: name, hint: `${meaning}.`, kind: 'text' };
}

/** Replaces setting paths in a sentence of the gateway (`channels.x.bearerToken`) by the labels of their fields. */
export const toFieldLabels = (sentence: string): string =>
  replacePathsByLabels(sentence, /`?\bchannels\.[\w-]+\.(\w+)`?/g, (name) =>
    Object.hasOwn(CHANNEL_FIELDS, name) ? CHANNEL_FIELDS[name]?.label() : undefined,
  );

export type FieldValue = string | boolean | number | null;

/** Initial value of a field; empty for secrets. */
export function toFieldValue(setting: ChannelSetting, settings: Readonly<Record<string, unknown>>): FieldValue {
  const { kind, defaultValue } = getChannelField(setting);
  const value = settings[setting.name];
  if (setting.secret) return '';
  if (kind === 'switch') return typeof value === 'boolean' ? value : defaultValue === true;
  if (kind === 'number') return typeof value === 'number' ? value : null;
  if (kind === 'choice') return typeof value === 'string' ? value : (Object.keys(getChannelField(setting).options ?? {})[0] ?? '');
  if (kind === 'lines') return Array.isArray(value) ? value.join('\n') : '';
  return typeof value === 'string' ? value : '';
}

const stripAtSign = (name: string): string => name.replace(/^@/, '');

/** Converts a field's value for storage: null removes a setting, undefined leaves it unchanged. */
export function toStoredValue(setting: ChannelSetting, fieldValue: FieldValue): unknown {
  const { kind, stripsAtSign = false } = getChannelField(setting);
  if (kind === 'switch' || kind === 'number') return fieldValue;
  const trimmed = String(fieldValue ?? '').trim();
  const text = stripsAtSign ? stripAtSign(trimmed) : trimmed;
  if (kind === 'lines') {
    const lines = text
      .split('\n')
      .map((line) => stripAtSign(line.trim()))
      .filter(Boolean);
    return lines.length > 0 ? lines : null;
  }
  return text === '' ? (setting.secret ? undefined : null) : text;
}
