import type { PushMessage } from '#shared/push-message.ts';
import { MAX_PLAINTEXT_BYTES } from './encrypt-push.ts';

export type PushPayload = PushMessage;

const encode = (payload: PushPayload): Uint8Array => new TextEncoder().encode(JSON.stringify(payload));

/**
 * The plaintext of a message. A text that is too long is shortened, never another member; then `isShortened` is set, and buttons that allow
 * something are left out, since the person would not see all of it.
 */
export function encodePushPayload(payload: PushPayload): Uint8Array {
  const whole = encode(payload);
  if (whole.length <= MAX_PLAINTEXT_BYTES) return whole;
  const { buttons = [], ...rest } = payload;
  const denials = buttons.filter(({ kind }) => kind !== 'approve');
  const shorten = (chars: number): Uint8Array =>
    encode({
      ...rest,
      ...(denials.length > 0 ? { buttons: denials } : {}),
      ...(rest.title === undefined ? {} : { title: cutText(rest.title, 200) }),
      body: cutText(rest.body, chars),
      isShortened: true,
    });
  // The largest number of characters that fits: their bytes vary.
  let [fits, exceeds] = [0, MAX_PLAINTEXT_BYTES + 1];
  while (exceeds - fits > 1) {
    const middle = Math.floor((fits + exceeds) / 2);
    if (shorten(middle).length <= MAX_PLAINTEXT_BYTES) fits = middle;
    else exceeds = middle;
  }
  return shorten(fits);
}

/** The first characters of a text, never half of a surrogate pair. */
function cutText(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return `${text.slice(0, chars).replace(/[\ud800-\udbff]$/, '')}…`;
}
