import type { ChannelKind } from '#shared/rpc/methods/channels.ts';

export type ChannelSetting = ChannelKind['settings'][number];

interface Field {
  label: string;
  kind: 'text' | 'number' | 'switch' | 'lines';
  /** What holds where nothing is set. */
  usual?: number | boolean;
  /** Few people need it. */
  rare?: true;
}

const FIELDS: Readonly<Record<string, Field>> = {
  bearerToken: { label: 'Bearer token', kind: 'text' },
  botToken: { label: 'Token of the bot', kind: 'text' },
  socialUsername: { label: 'Account', kind: 'text' },
  monitorMentions: { label: 'Answer mentions', kind: 'switch', usual: true },
  monitorDMs: { label: 'Answer direct messages', kind: 'switch', usual: false },
  pollIntervalSeconds: { label: 'Seconds between two looks', kind: 'number', usual: 120, rare: true },
  allowedUsers: { label: 'Who may write', kind: 'lines' },
  searchesPerMonth: { label: 'Searches a month', kind: 'number', usual: 3000, rare: true },
  clientId: { label: 'Client id', kind: 'text' },
  clientSecret: { label: 'Client secret', kind: 'text' },
  apiBase: { label: 'Address of the API', kind: 'text', rare: true },
};

/** How a setting of a channel is asked for. */
export const fieldOf = ({ name }: ChannelSetting): Field => FIELDS[name] ?? { label: name, kind: 'text' };

export type FieldValue = string | boolean | number | null;

/** What a form shows at first; of secrets nothing. */
export function shownOf(setting: ChannelSetting, settings: Readonly<Record<string, unknown>>): FieldValue {
  const { kind, usual } = fieldOf(setting);
  const value = settings[setting.name];
  if (setting.secret) return '';
  if (kind === 'switch') return typeof value === 'boolean' ? value : usual === true;
  if (kind === 'number') return typeof value === 'number' ? value : null;
  if (kind === 'lines') return Array.isArray(value) ? value.join('\n') : '';
  return typeof value === 'string' ? value : '';
}

/** What is stored of what a form shows: null takes a setting out, undefined leaves it as it is. */
export function storedOf(setting: ChannelSetting, shown: FieldValue): unknown {
  const { kind } = fieldOf(setting);
  if (kind === 'switch' || kind === 'number') return shown;
  const text = String(shown ?? '').trim();
  if (kind === 'lines') {
    const lines = text
      .split('\n')
      .map((line) => line.trim().replace(/^@/, ''))
      .filter(Boolean);
    return lines.length > 0 ? lines : null;
  }
  return text === '' ? (setting.secret ? undefined : null) : text;
}
