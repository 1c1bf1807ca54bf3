/** Replacement for a secret. */
export const REDACTED = '***';

/** Maximum characters of a text to examine; longer texts are cut. */
const MAX_EXAMINED_CHARS = 20_000;
const MAX_TEXT_CHARS = 8_000;
/** Maximum length of a secret (settings): the rest of a secret that was cut is removed too. */
const MAX_SECRET_CHARS = 4_096;
/** Minimum length of a secret. Shorter values would be replaced in ordinary text. */
const MIN_SECRET_CHARS = 4;
/** Minimum length of a secret that is replaced within words too. */
const MIN_UNMISTAKABLE_CHARS = 8;
const MAX_DEPTH = 6;
const MAX_MEMBERS = 100;

/** Known forms of secrets and their replacements. Each is linear in the text's length. */
const SECRET_PATTERNS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g, REDACTED],
  // A name and password in an address.
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#@]{1,500}@/gi, `$1${REDACTED}@`],
  [/\b(bearer)[ \t]+[^\s"',;]+/gi, `$1 ${REDACTED}`],
  [/\b([Bb]asic)[ \t]+(?=[^\s]{0,500}[\dA-Z=+/])[\w+/=-]{8,}/g, `$1 ${REDACTED}`],
  // API keys with a known prefix.
  [/\b(?:sk|rk|xox[abprs])-[\w-]{8,}/g, REDACTED],
  [/\b(?:gsk_|xai-|hf_|npm_|gh[posur]_|github_pat_|glpat-|AIza|AKIA)[\w-]{16,}/g, REDACTED],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, REDACTED],
  // One-time parameters of an address.
  [/([?&#](?:link|code|state|otp|sig|signature|key)=)[^\s&"'<>]+/gi, `$1${REDACTED}`],
  // A named value: `api_key=…`, `"token": "…"`, `x-api-key: …`.
  [
    /((?:api[-_]?key|access[-_]?key|private[-_]?key|token|secret|passw(?:or)?d|passphrase|authorization|credential|(?:set-)?cookie|pairing[-_]?code)["']?\s{0,5}[=:]\s{0,5})(?:"[^"]*"?|'[^']*'?|[^\s&"',;}\])]+)/gi,
    `$1${REDACTED}`,
  ],
  // 256 bit in base64url, as the bridge's own tokens and credentials are.
  [/(?<![\w-])[\w-]{43}(?![\w-])/g, REDACTED],
];

const SECRET_NAME_PATTERN =
  /api.?key|access.?key|private.?key|secret|passw|passphrase|tokens?$|authorization|cookie|credential|bearer|(?:pairing|link|auth).?code/i;

/** Whether a value of this name is usually a secret. */
export const isSecretName = (name: string): boolean => SECRET_NAME_PATTERN.test(name);

/** Removes everything that has the form of a secret. */
export const redactPatterns = (text: string): string =>
  SECRET_PATTERNS.reduce((redacted, [pattern, replacement]) => redacted.replace(pattern, replacement), text);

/** Whether the text from `start` to `end` has no adjacent letter, digit or underscore. A character may be two units long. */
const isSeparateWord = (text: string, start: number, end: number): boolean =>
  !/[\p{L}\p{N}_]$/u.test(text.slice(Math.max(0, start - 2), start)) && !/^[\p{L}\p{N}_]/u.test(text.slice(end, end + 2));

/**
 * Removes a secret from the text. One under 4 characters is not removed; one of 4 to 7 is hidden as a separate word, a longer one
 * everywhere.
 */
export function redactSecret(text: string, secret: string): string {
  if (secret.length < MIN_SECRET_CHARS) return text;
  if (secret.length < MIN_UNMISTAKABLE_CHARS)
    return text.replaceAll(secret, (found, at: number) => (isSeparateWord(text, at, at + found.length) ? REDACTED : found));
  let redacted = text;
  // A replacement may join the text around it to another occurrence.
  while (redacted.includes(secret)) redacted = redacted.replaceAll(secret, REDACTED);
  return redacted;
}

/** Removes a secret from the text, and the beginning of one if the text, ending in `…`, was cut within it. */
export function redactTruncatedSecret(text: string, secret: string): string {
  const redacted = redactSecret(text, secret);
  if (!redacted.endsWith('…')) return redacted;
  const cut = redacted.slice(0, -1);
  for (let length = secret.length - 1; length >= MIN_SECRET_CHARS; length--)
    if (cut.endsWith(secret.slice(0, length))) return `${cut.slice(0, -length)}${REDACTED}…`;
  return redacted;
}

/** The encodings in which a secret may occur in a text. */
function getEncodings(secret: string): string[] {
  return [...new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])];
}

/** Removes secrets from text to be stored: the given ones, and everything that looks like one. */
export class Redactor {
  /** Longest first, since a secret may contain another. */
  #secrets: string[] = [];

  /** Adds secrets. They stay after they have been replaced, since older text may still arrive. */
  addSecrets(secrets: Iterable<string>): void {
    const encodings = new Set(this.#secrets);
    for (const secret of secrets) if (secret.length >= MIN_SECRET_CHARS) for (const written of getEncodings(secret)) encodings.add(written);
    if (encodings.size > this.#secrets.length) this.#secrets = [...encodings].sort((a, b) => b.length - a.length);
  }

  /** The text without secrets, shortened if it is long. */
  text(text: string): string {
    let redacted = text.slice(0, MAX_EXAMINED_CHARS);
    for (const secret of this.#secrets) redacted = redacted.replaceAll(secret, REDACTED);
    redacted = redactPatterns(redacted);
    if (text.length > MAX_EXAMINED_CHARS) redacted = redacted.slice(0, Math.max(0, redacted.length - MAX_SECRET_CHARS));
    return redacted.length > MAX_TEXT_CHARS || text.length > MAX_EXAMINED_CHARS ? `${redacted.slice(0, MAX_TEXT_CHARS)}…` : redacted;
  }

  /** A value as plain JSON without secrets, which are found by value or by name. Errors include their stack. */
  value(value: unknown, depth = 0): unknown {
    if (typeof value === 'string') return this.text(value);
    if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return value;
    if (value === undefined) return null;
    if (typeof value !== 'object') return this.text(String(value));
    if (depth >= MAX_DEPTH) return '…';
    if (value instanceof Error) {
      const { name, message, stack, cause } = value;
      const plain = { name, message, ...(stack === undefined ? {} : { stack }), ...(cause === undefined ? {} : { cause }) };
      return this.value(plain, depth);
    }
    if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((each) => this.value(each, depth + 1));
    return this.fields(value, depth);
  }

  /** Returns the members of an object as plain JSON without secrets. */
  fields(fields: object, depth = 0): Record<string, unknown> {
    const members: [string, unknown][] = [];
    for (const [name, value] of Object.entries(fields).slice(0, MAX_MEMBERS)) {
      if (value === undefined) continue;
      // Numbers are counts of tokens, not secrets.
      const hidden = isSecretName(name) && typeof value !== 'number' && typeof value !== 'boolean' && value !== null;
      members.push([this.text(name), hidden ? REDACTED : this.value(value, depth + 1)]);
    }
    return Object.fromEntries(members);
  }
}
