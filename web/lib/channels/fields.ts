import type { ChannelKind } from '#shared/rpc/methods/channels.ts';
import { byLabels } from '#lib/i18n/by-labels.ts';
import { m } from '#lib/i18n/pages.ts';

export type ChannelSetting = ChannelKind['settings'][number];

interface Field {
  label: string;
  /** A sentence below it. */
  hint: string;
  kind: 'text' | 'number' | 'switch' | 'lines';
  /** Default value. */
  usual?: number | boolean;
  /** Few people need it. */
  rare?: true;
  /** A user name that may be written with a leading at-sign, which is removed. */
  named?: true;
}

const FIELDS: Readonly<Record<string, Omit<Field, 'label' | 'hint'> & { label: () => string; hint?: () => string }>> = {
  bearerToken: { label: () => m.channels_field_bearer_token(), hint: () => m.channels_hint_bearer_token(), kind: 'text' },
  botToken: { label: () => m.channels_field_bot_token(), hint: () => m.channels_hint_bot_token(), kind: 'text' },
  socialUsername: { label: () => m.channels_field_account(), hint: () => m.channels_hint_account(), kind: 'text', named: true },
  monitorMentions: { label: () => m.channels_field_mentions(), kind: 'switch', usual: true },
  monitorDMs: { label: () => m.channels_field_direct(), hint: () => m.channels_hint_direct(), kind: 'switch', usual: false },
  pollIntervalSeconds: {
    label: () => m.channels_field_interval(),
    hint: () => m.channels_hint_interval(),
    kind: 'number',
    usual: 120,
    rare: true,
  },
  allowedUsers: { label: () => m.channels_field_allowed(), hint: () => m.channels_hint_allowed(), kind: 'lines' },
  searchesPerMonth: {
    label: () => m.channels_field_searches(),
    hint: () => m.channels_hint_searches(),
    kind: 'number',
    usual: 3000,
    rare: true,
  },
  clientId: { label: () => m.channels_field_client_id(), hint: () => m.channels_hint_client_id(), kind: 'text' },
  clientSecret: { label: () => m.channels_field_client_secret(), hint: () => m.channels_hint_client_secret(), kind: 'text' },
  apiBase: { label: () => m.channels_field_api(), hint: () => m.channels_hint_api(), kind: 'text', rare: true },
};

/** How a setting of a channel is asked for. */
export function fieldOf({ name, meaning }: ChannelSetting): Field {
  const known = FIELDS[name];
  return known ? { ...known, label: known.label(), hint: known.hint?.() ?? '' } : { label: name, hint: `${meaning}.`, kind: 'text' };
}

/** Replaces setting paths in a sentence of the gateway (`channels.x.bearerToken`) by the labels of their fields. */
export const saidOfChannel = (sentence: string): string =>
  byLabels(sentence, /`?\bchannels\.[\w-]+\.(\w+)`?/g, (name) => (Object.hasOwn(FIELDS, name) ? FIELDS[name]?.label() : undefined));

export type FieldValue = string | boolean | number | null;

/** Initial value of a field; empty for secrets. */
export function shownOf(setting: ChannelSetting, settings: Readonly<Record<string, unknown>>): FieldValue {
  const { kind, usual } = fieldOf(setting);
  const value = settings[setting.name];
  if (setting.secret) return '';
  if (kind === 'switch') return typeof value === 'boolean' ? value : usual === true;
  if (kind === 'number') return typeof value === 'number' ? value : null;
  if (kind === 'lines') return Array.isArray(value) ? value.join('\n') : '';
  return typeof value === 'string' ? value : '';
}

const withoutAt = (name: string): string => name.replace(/^@/, '');

/** Converts a field's value for storage: null removes a setting, undefined leaves it unchanged. */
export function storedOf(setting: ChannelSetting, shown: FieldValue): unknown {
  const { kind, named = false } = fieldOf(setting);
  if (kind === 'switch' || kind === 'number') return shown;
  const given = String(shown ?? '').trim();
  const text = named ? withoutAt(given) : given;
  if (kind === 'lines') {
    const lines = text
      .split('\n')
      .map((line) => withoutAt(line.trim()))
      .filter(Boolean);
    return lines.length > 0 ? lines : null;
  }
  return text === '' ? (setting.secret ? undefined : null) : text;
}
