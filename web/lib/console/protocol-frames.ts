import { toPrintable } from '#shared/printable.ts';
import { parseJson } from '#shared/parse-json.ts';
import { redactPatterns } from '#shared/redact.ts';
import { m } from '#lib/i18n/page-messages.ts';
import { redactSecrets } from './redact-secrets.ts';

/** A frame as it went over the link. */
export interface FrameRecord {
  /** Counts up. */
  id: number;
  at: number;
  way: 'sent' | 'received';
  /** Short description: `req health`, `res 7`, `event tick`. */
  about: string;
  /** UTF-16 units. */
  size: number;
  text: string;
}

/** Longer ones are shown cut. */
const MAX_TEXT_CHARS = 200_000;

export function toFrameRecord(id: number, at: number, way: FrameRecord['way'], text: string): FrameRecord {
  return { ...{ id, at, way, size: text.length }, about: summarizeFrame(text), text: text.slice(0, MAX_TEXT_CHARS) };
}

/** Reads only the beginning of the text, since a frame may be large: ours begin with these members. */
function summarizeFrame(text: string): string {
  const member = (name: string): string => toPrintable(new RegExp(`"${name}":"([^"]{1,100})"`).exec(text.slice(0, 400))?.[1] ?? '');
  const type = member('type');
  if (type === 'req') return `${member('method')} (${member('id')})`;
  return type === 'event' ? member('event') : type === 'res' ? m.console_frame_answer({ id: member('id') }) : m.console_frame_none();
}

/** Its text without secrets, laid out. */
export function formatFrame({ text, size }: FrameRecord): string {
  if (size > text.length) return m.console_frame_too_long({ count: size });
  try {
    return JSON.stringify(redactSecrets(parseJson(text)), null, 2);
  } catch {
    return redactPatterns(text);
  }
}
