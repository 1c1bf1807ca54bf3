import { renderChatMarkup } from '../chat-markup.ts';

/** Escapes the characters that Slack reads as markup. */
export const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Converts Markdown to Slack's markup (https://docs.slack.dev/messaging/formatting-message-text). Names in the text notify nobody. */
export const toMrkdwn = (text: string): string =>
  renderChatMarkup(text, {
    escape: escapeText,
    toLink: (address, label) => {
      const url = escapeText(address).replaceAll('|', '%7C');
      return label === '' || label === url ? `<${url}>` : `<${url}|${label}>`;
    },
  });

/** The first word of a name: its owner chooses it freely, and must not get sentences into the messages of others. */
const toOneWord = (name: string): string => /^[\p{L}\p{N}\p{M}._-]{1,40}/u.exec(name.trim())?.[0] ?? '';

/** Converts the text of a message to plain text. `getName`: display name of a user, if it is known. */
export function toPlainText(text: string, getName: (userId: string) => string | undefined): string {
  return text
    .replace(/<([^<>]*)>/g, (_, inner: string) => {
      const [target = '', label = ''] = inner.split('|');
      const [, kind = '', id = ''] = /^([@#!])(.*)$/.exec(target) ?? [];
      if (kind === '@') return `@${toOneWord(getName(id) ?? label) || id}`;
      if (kind === '#') return `#${label || id}`;
      if (kind === '!') return label || `@${id.split('^')[0]}`;
      const address = target.replace(/^mailto:/, '');
      return label === '' || label === address ? address : `${label} (${address})`;
    })
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .trim();
}
