import { legible } from '#shared/legible.ts';
import { parseJson } from '#shared/parse-json.ts';
import { hideForms } from '#shared/redact.ts';
import { m } from '#lib/i18n/pages.ts';
import { withoutSecrets } from './hidden.ts';

/** A frame as it went over the link. */
export interface SeenFrame {
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
const MAX_TEXT = 200_000;

export function seenFrame(id: number, at: number, way: SeenFrame['way'], text: string): SeenFrame {
  return { ...{ id, at, way, size: text.length }, about: aboutOf(text), text: text.slice(0, MAX_TEXT) };
}

/** Reads only the beginning of the text, since a frame may be large: ours begin with these members. */
function aboutOf(text: string): string {
  const member = (name: string): string => legible(new RegExp(`"${name}":"([^"]{1,100})"`).exec(text.slice(0, 400))?.[1] ?? '');
  const type = member('type');
  if (type === 'req') return `${member('method')} (${member('id')})`;
  return type === 'event' ? member('event') : type === 'res' ? m.console_frame_answer({ id: member('id') }) : m.console_frame_none();
}

/** Its text without secrets, laid out. */
export function frameText({ text, size }: SeenFrame): string {
  if (size > text.length) return m.console_frame_too_long({ count: size });
  try {
    return JSON.stringify(withoutSecrets(parseJson(text)), null, 2);
  } catch {
    return hideForms(text);
  }
}
