/** Letters of other scripts that look like one of `a` to `z`. */
const LOOK_ALIKES =
  /[\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u0501\u051b\u051d\u04bb\u04cf\u0461\u0475\u043a\u043c\u0442\u0432\u043d\u0433\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0405\u0406\u0408\u03b1\u03bf\u03bd\u03c1\u03c5\u03b9\u03ba\u03c4\u03c7\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u0578\u057d\u0581\u0585\u0566\u0570\u0261\u0131\u0269\u026f\u028f\u0280]/u;
/** Dashes, slashes and points that look like those of a path. */
const SIGN_LOOK_ALIKES = /[\u2010-\u2015\u2212\uff0d\u2044\u2215\u29f8\uff0f\u2024\uff0e\u0589\u05c3\u2236\u00b7\u2027]/u;

/**
 * Characters of a command's name that can be mistaken for others: letters that look like Latin ones, in a Latin name or one without other
 * letters; variants of letters; characters that look like those of a path; combining marks; and invisible ones. Each once.
 */
export function findLookAlikes(name: string): string[] {
  const names = new Set<string>();
  for (const part of name.split(/[/\\]/)) {
    const chars = [...part.normalize('NFC')];
    const letters = chars.filter((char) => /\p{L}/u.test(char));
    const isMixed = letters.some((char) => /[A-Za-z]/.test(char));
    const isAllLookAlikes = letters.length > 0 && letters.every((char) => LOOK_ALIKES.test(char));
    for (const char of chars) {
      if (char <= '\u007f') continue;
      const isOther = /\p{L}/u.test(char) && !/\p{Script=Latin}/u.test(char);
      const isForm = /^[\u0020-\u007e]+$/.test(char.normalize('NFKC'));
      if (
        isForm ||
        SIGN_LOOK_ALIKES.test(char) ||
        /[\p{M}\p{C}\p{Z}]/u.test(char) ||
        (isMixed && (isOther || LOOK_ALIKES.test(char))) ||
        isAllLookAlikes
      )
        names.add(char);
    }
  }
  return [...names];
}

/** Formats a character with its code point: `а (U+0430)`; the code point alone if it is invisible. */
export function describeCharacter(char: string): string {
  const code = `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  return /[\p{M}\p{C}\p{Z}]/u.test(char) ? code : `${char} (${code})`;
}
