/** A line of the IRC protocol (RFC 1459, 2812; https://ircv3.net/specs/extensions/message-tags). */
export interface IrcLine {
  tags: ReadonlyMap<string, string>;
  /** Server, or `nick!user@host`; empty if the line names none. */
  source: string;
  /** In upper case, or a number of three digits. */
  command: string;
  params: string[];
}

const LINE = /^(?:@([^ ]*) +)?(?::([^ ]*) +)?([a-z]+|\d{3})((?: +[^ :][^ ]*)*)(?: +:(.*)| *)$/is;
const TAG_ESCAPES: Readonly<Record<string, string>> = { ':': ';', s: ' ', r: '\r', n: '\n' };

/** Undefined if it is not a line of the protocol. */
export function parseLine(text: string): IrcLine | undefined {
  const [match, tags = '', source = '', command = '', middle = '', trailing] = LINE.exec(text) ?? [];
  if (match === undefined) return undefined;
  const params = middle.split(/ +/).filter((param) => param !== '');
  return { tags: parseTags(tags), source, command: command.toUpperCase(), params: trailing === undefined ? params : [...params, trailing] };
}

function parseTags(text: string): Map<string, string> {
  const tags = new Map<string, string>();
  for (const tag of text.split(';')) {
    const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(tag) ?? [];
    if (name !== '')
      tags.set(
        name,
        value.replaceAll(/\\(.?)/gs, (_, char: string) => TAG_ESCAPES[char] ?? char),
      );
  }
  return tags;
}

/** Builds a line; the last parameter may have spaces. Characters that would end the line or a parameter are dropped. */
export function formatLine(command: string, ...params: string[]): string {
  const clean = params.map((param) => param.replaceAll(/[\r\n\0]/g, ''));
  const last = clean.pop();
  const middle = clean.map((param) => ` ${param.replaceAll(/ |^:+/g, '')}`).join('');
  if (last === undefined) return command;
  return `${command}${middle} ${last === '' || /^:| /.test(last) ? ':' : ''}${last}`;
}

/** The sender of a line: a person has a user name and a host. */
export function parseSource(source: string): { nick: string; userHost: string } | undefined {
  const [, nick, userHost] = /^([^!@]+)!([^@]+@.+)$/.exec(source) ?? [];
  return nick === undefined || userHost === undefined ? undefined : { nick, userHost };
}

const CTCP = '\x01';
const ACTION = `${CTCP}ACTION `;
/** Colors with their numbers (https://modern.ircdocs.horse/formatting); other formatting is a single control character. */
const COLORS = new RegExp(`${'\x03'}(?:\\d{1,2}(?:,\\d{1,2})?)?|${'\x04'}(?:[\\da-f]{6}(?:,[\\da-f]{6})?)?`, 'gi');

/** The text of a message without formatting; undefined for requests to the client (CTCP) other than actions. */
export function readText(text: string): string | undefined {
  const isAction = text.startsWith(ACTION);
  if (!isAction && text.startsWith(CTCP)) return undefined;
  const content = isAction ? text.slice(ACTION.length) : text;
  return content
    .replaceAll(COLORS, '')
    .replaceAll(/\s/g, ' ')
    .replaceAll(/\p{Cc}/gu, '')
    .trim();
}

const NAME_CHARS = String.raw`[\p{L}\p{N}_\-[\]\\\x60^{|}]`;

/** Whether a text has a nickname as a word, and the text without it at the start. */
export function readMention(text: string, nick: string): { isMention: boolean; text: string } {
  const escaped = nick.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  const isMention = new RegExp(`(?<!${NAME_CHARS})${escaped}(?!${NAME_CHARS})`, 'iu').test(text);
  return { isMention, text: text.replace(new RegExp(`^@?${escaped}(?!${NAME_CHARS})[\\s:,]*`, 'iu'), '').trim() };
}
