import { toPrintable } from '#shared/printable.ts';
import { parseJson } from '#shared/parse-json.ts';
import { redactPatterns } from '#shared/redact.ts';
import { m } from '#app/i18n/messages.ts';
import { redactSecrets } from './redact-secrets.ts';

/** A frame of the connection. */
export interface FrameRecord {
  /** Sequence number. */
  id: number;
  at: number;
  direction: 'sent' | 'received';
  /** Short description: `req health`, `res 7`, `event tick`. */
  about: string;
  /** Length in UTF-16 units. */
  size: number;
  text: string;
}

/** Maximum length of a stored frame; longer ones are cut. */
const MAX_TEXT_CHARS = 200_000;

export function toFrameRecord(id: number, at: number, direction: FrameRecord['direction'], text: string): FrameRecord {
  return { ...{ id, at, direction, size: text.length }, about: summarizeFrame(text), text: text.slice(0, MAX_TEXT_CHARS) };
}

/** Summarizes a frame by its first members, without parsing it, since it may be large. */
function summarizeFrame(text: string): string {
  const readMember = (name: string): string => toPrintable(new RegExp(`"${name}":"([^"]{1,100})"`).exec(text.slice(0, 400))?.[1] ?? '');
  const type = readMember('type');
  if (type === 'req') return `${readMember('method')} (${readMember('id')})`;
  return type === 'event'
    ? readMember('event')
    : type === 'res'
      ? m.console_frame_answer({ id: readMember('id') })
      : m.console_frame_none();
}

/** Formats a frame as indented JSON without secrets. */
export function formatFrame({ text, size }: FrameRecord): string {
  if (size > text.length) return m.console_frame_too_long({ count: size });
  try {
    return JSON.stringify(redactSecrets(parseJson(text)), null, 2);
  } catch {
    return redactPatterns(text);
  }
}
