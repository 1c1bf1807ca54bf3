import { toPrintable } from '#shared/printable.ts';
import { formatList } from '../i18n/format.ts';
import { m } from '../i18n/messages.ts';

/** Maximum number of named sources; further ones are counted. */
const MAX_NAMED_SOURCES = 3;
/** Maximum length of a name, which the author of the content chooses: it must not pass for a sentence of the app. */
const MAX_NAME_CHARS = 40;

const CHANNEL_NAMES: Readonly<Record<string, string>> = { telegram: 'Telegram', x: 'X' };

const SOURCE_TEXTS: Readonly<Record<string, (name: string) => string>> = {
  web: (name) => (name === 'unknown' ? m.trust_unknown() : name),
  mcp: (name) => m.trust_mcp({ name }),
  document: (name) => (name === 'without a name' ? m.trust_document() : name),
  picture: (name) => (name === 'without a name' ? m.trust_picture() : name === 'the screen' ? m.trust_screen() : name),
  channel: (name) => (name === 'a message' ? m.trust_channel_any() : describeChannel(name)),
  program: (name) => (name === 'a system event' ? m.trust_event() : name === 'a tool' ? m.trust_tool_any() : m.trust_tool({ name })),
  key: (name) => m.trust_key({ name }),
  command: (name) => m.trust_command({ name }),
  import: (name) => m.trust_import({ name }),
  collection: (name) => m.trust_collection({ name }),
  unknown: () => m.trust_unknown(),
};

/** The name of the channel is followed by the id of a conversation. */
function describeChannel(source: string): string {
  return m.trust_channel({ name: toChannelName(source.replace(/ .*/, '')) });
}

/** The name of a channel by its id. */
export const toChannelName = (id: string): string => CHANNEL_NAMES[id] ?? toPrintable(id);

/** A source of outside content, such as `web:example.com`, in words. A pattern, such as `web:*`, stays as it is written. */
export function describeSource(source: string): string {
  if (source.includes('*')) return shorten(source);
  const at = source.indexOf(':');
  const kind = source.slice(0, at);
  // The name of a key is preceded by its id.
  const name = shorten(source.slice(at + 1).replace(kind === 'key' ? /^\S+ / : '', ''));
  return Object.hasOwn(SOURCE_TEXTS, kind) ? (SOURCE_TEXTS[kind]?.(name) ?? name) : shorten(source) || m.trust_unknown();
}

/** Describes sources as one phrase: `pages.test and invoice.pdf`. */
export function describeSources(sources: readonly string[], max = MAX_NAMED_SOURCES): string {
  const descriptions = [...new Set(sources.map(describeSource))];
  // A count of one would not be shorter than the name.
  const visible = descriptions.length > max + 1 ? descriptions.slice(0, max) : descriptions;
  const hiddenCount = descriptions.length - visible.length;
  return formatList(hiddenCount === 0 ? visible : [...visible, m.trust_more({ count: hiddenCount })]);
}

/** `After reading pages.test`. */
export const describeAfterReading = (sources: readonly string[]): string => m.trust_after({ sources: describeSources(sources) });

function shorten(text: string): string {
  const chars = [...toPrintable(text.replace(/\s+/g, ' '))];
  return chars.length > MAX_NAME_CHARS ? `${chars.slice(0, MAX_NAME_CHARS - 1).join('')}…` : chars.join('');
}
