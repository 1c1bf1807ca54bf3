import { MAX_IRC_TEXT_BYTES } from '#shared/ports/irc-port.ts';
import { renderChatMarkup } from '../chat-markup.ts';
import { splitText } from '../split-text.ts';

/** Room for the nickname in front of the first line in a channel. */
const ADDRESS_BYTES = 54;
/** Servers let a line through every two seconds. */
const MAX_LINES = 40;
const CUT_NOTE = '[The reply is longer than fits here. Open Perch to read all of it.]';

const countBytes = (text: string): number => new TextEncoder().encode(text).length;

/** A short text as one line. */
export const toIrcLine = (text: string): string =>
  splitText(text.replaceAll(/\s*\p{Cc}\s*/gu, ' '), MAX_IRC_TEXT_BYTES, countBytes)[0] ?? '';

/** The lines of a text, which IRC sends one by one, without Markdown that would be noise there. */
export function toIrcLines(text: string): string[] {
  const plain = renderChatMarkup(text, {
    escape: (part) => part,
    toLink: (url, label) => (label === '' || label === url ? url : `${label} (${url})`),
  });
  const lines = plain
    .split('\n')
    .map((line) => line.replaceAll(/\p{Cc}/gu, ' ').trimEnd())
    .filter((line) => line !== '' && line !== '```')
    .flatMap((line) => splitText(line, MAX_IRC_TEXT_BYTES - ADDRESS_BYTES, countBytes));
  return lines.length <= MAX_LINES ? lines : [...lines.slice(0, MAX_LINES - 1), CUT_NOTE];
}
