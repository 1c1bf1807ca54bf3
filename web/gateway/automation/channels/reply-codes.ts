import type { IncomingMessage } from '../../storage/records/channel-state.ts';
import type { Button, ButtonPress } from './channel-adapter.ts';

const MAX_CODES = 40;
/** Without letters and digits that look alike. A digit first, so that no word is one. */
const DIGITS = '23456789';
const CHARS = 'abcdefghjkmnpqrstuvwxyz23456789';
const CODE_CHARS = 5;
const REPLY = /^\W*([a-z]+)\s+(\d[a-z\d]{4})\W*$/i;

/**
 * Codes that stand for buttons on platforms without them: the owner writes one as a message. A code is no secret; who may use the button
 * is checked as for a press.
 */
export class ReplyCodes {
  readonly #values = new Map<string, string>();

  /** `stored`: `toText` of an earlier one. */
  constructor(stored = '') {
    for (const [, key = '', value = ''] of stored.matchAll(/([^ =]+)=([^ ]+)/g)) this.#values.set(key, value);
  }

  /** A line for each button, which says what to write. */
  add(buttons: readonly Button[]): string[] {
    return buttons.map(({ label, value }) => {
      const reply = `${toWord(label)} ${createCode()}`;
      this.#values.set(toKey(reply), value);
      for (const first of this.#values.keys()) {
        if (this.#values.size <= MAX_CODES) break;
        this.#values.delete(first);
      }
      return `${label}: write "${reply}".`;
    });
  }

  /** The press that a private message stands for, without a value if its code is unknown. Undefined if it has none. */
  readPress({ id, user, conversation, text, isGroup, isEdit = false }: IncomingMessage): ButtonPress | undefined {
    const [, word = '', code = ''] = REPLY.exec(text) ?? [];
    if (isGroup !== false || isEdit || code === '') return undefined;
    const value = this.#values.get(toKey(`${word} ${code}`)) ?? '';
    return { id: `press:${id}`, user, conversation, isPrivate: true, value, postId: '' };
  }

  toText(): string {
    return [...this.#values].map((entry) => entry.join('=')).join(' ');
  }
}

const toKey = (reply: string): string => reply.toLowerCase().replace(/\s+/, '-');
const toWord = (label: string): string => /^[a-z]+/i.exec(label)?.[0].toLowerCase() ?? 'yes';

function createCode(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(CODE_CHARS));
  return [...bytes].map((byte, index) => (index === 0 ? DIGITS : CHARS).charAt(byte % (index === 0 ? DIGITS : CHARS).length)).join('');
}
