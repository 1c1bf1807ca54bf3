/** Replacement for a secret. */
export const HIDDEN = '***';

/** Maximum characters of a text to examine; longer texts are cut. */
const LOOKED_AT = 20_000;
const KEPT = 8_000;
/** Maximum length of a secret (settings): the rest of a secret that was cut is removed too. */
const LONGEST_SECRET = 4_096;
/** Shorter ones are no secrets, and would make holes in every text. */
const SHORTEST_SECRET = 4;
/** From here on it is no word of a text by chance, and is hidden also within one. */
const UNMISTAKABLE = 8;
const DEPTH = 6;
const MEMBERS = 100;

/** Known forms of secrets and their replacements. Each is linear in the text's length. */
const FORMS: readonly (readonly [form: RegExp, shown: string])[] = [
  [/-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g, HIDDEN],
  // A name and password in an address.
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#@]{1,500}@/gi, `$1${HIDDEN}@`],
  [/\b(bearer)[ \t]+[^\s"',;]+/gi, `$1 ${HIDDEN}`],
  [/\b([Bb]asic)[ \t]+(?=[^\s]{0,500}[\dA-Z=+/])[\w+/=-]{8,}/g, `$1 ${HIDDEN}`],
  // Keys by the beginnings that services give them.
  [/\b(?:sk|rk|xox[abprs])-[\w-]{8,}/g, HIDDEN],
  [/\b(?:gsk_|xai-|hf_|npm_|gh[posur]_|github_pat_|glpat-|AIza|AKIA)[\w-]{16,}/g, HIDDEN],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, HIDDEN],
  // One-time parameters of an address.
  [/([?&#](?:link|code|state|otp|sig|signature|key)=)[^\s&"'<>]+/gi, `$1${HIDDEN}`],
  // A named value: `api_key=…`, `"token": "…"`, `x-api-key: …`.
  [
    /((?:api[-_]?key|access[-_]?key|private[-_]?key|token|secret|passw(?:or)?d|passphrase|authorization|credential|(?:set-)?cookie|pairing[-_]?code)["']?\s{0,5}[=:]\s{0,5})(?:"[^"]*"?|'[^']*'?|[^\s&"',;}\])]+)/gi,
    `$1${HIDDEN}`,
  ],
  // 256 bit in base64url, as the bridge's own tokens and credentials are.
  [/(?<![\w-])[\w-]{43}(?![\w-])/g, HIDDEN],
];

const SECRET_NAME =
  /api.?key|access.?key|private.?key|secret|passw|passphrase|tokens?$|authorization|cookie|credential|bearer|(?:pairing|link|auth).?code/i;

/** Whether a value of this name is usually a secret. */
export const isSecretName = (name: string): boolean => SECRET_NAME.test(name);

/** The text without what has the form of a secret. */
export const hideForms = (text: string): string => FORMS.reduce((seen, [form, hidden]) => seen.replace(form, hidden), text);

/** Whether the text from `start` to `end` has no adjacent letter, digit or underscore. A character may be two units long. */
const standsAlone = (text: string, start: number, end: number): boolean =>
  !/[\p{L}\p{N}_]$/u.test(text.slice(Math.max(0, start - 2), start)) && !/^[\p{L}\p{N}_]/u.test(text.slice(end, end + 2));

/**
 * Removes a secret from the text. One under 4 characters is not removed; one of 4 to 7 is hidden as a separate word, a longer one
 * everywhere.
 */
export function withoutSecret(text: string, secret: string): string {
  if (secret.length < SHORTEST_SECRET) return text;
  if (secret.length < UNMISTAKABLE)
    return text.replaceAll(secret, (found, at: number) => (standsAlone(text, at, at + found.length) ? HIDDEN : found));
  let shown = text;
  // The text around one may form another together with the stars in between.
  while (shown.includes(secret)) shown = shown.replaceAll(secret, HIDDEN);
  return shown;
}

/** Removes a secret from the text, and the beginning of one if the text, ending in `…`, was cut within it. */
export function withoutCutSecret(text: string, secret: string): string {
  const shown = withoutSecret(text, secret);
  if (!shown.endsWith('…')) return shown;
  const cut = shown.slice(0, -1);
  for (let length = secret.length - 1; length >= SHORTEST_SECRET; length--)
    if (cut.endsWith(secret.slice(0, length))) return `${cut.slice(0, -length)}${HIDDEN}…`;
  return shown;
}

/** The encodings in which a secret may occur in a text. */
function writings(secret: string): string[] {
  return [...new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])];
}

/** Removes secrets from text to be written down: the given ones, and everything that looks like one. */
export class Redactor {
  /** The longest first, for one may be a part of another. */
  #known: string[] = [];

  /** Knows these from now on, also when they have been replaced since: a text of before may still come. */
  learn(secrets: Iterable<string>): void {
    const known = new Set(this.#known);
    for (const secret of secrets) if (secret.length >= SHORTEST_SECRET) for (const written of writings(secret)) known.add(written);
    if (known.size > this.#known.length) this.#known = [...known].sort((a, b) => b.length - a.length);
  }

  /** The text without secrets, shortened if it is long. */
  text(text: string): string {
    let seen = text.slice(0, LOOKED_AT);
    for (const secret of this.#known) seen = seen.replaceAll(secret, HIDDEN);
    seen = hideForms(seen);
    if (text.length > LOOKED_AT) seen = seen.slice(0, Math.max(0, seen.length - LONGEST_SECRET));
    return seen.length > KEPT || text.length > LOOKED_AT ? `${seen.slice(0, KEPT)}…` : seen;
  }

  /** A value as plain JSON without secrets, which are found by value or by name. Errors include their stack. */
  value(value: unknown, depth = 0): unknown {
    if (typeof value === 'string') return this.text(value);
    if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return value;
    if (value === undefined) return null;
    if (typeof value !== 'object') return this.text(String(value));
    if (depth >= DEPTH) return '…';
    if (value instanceof Error) {
      const { name, message, stack, cause } = value;
      const told = { name, message, ...(stack === undefined ? {} : { stack }), ...(cause === undefined ? {} : { cause }) };
      return this.value(told, depth);
    }
    if (Array.isArray(value)) return value.slice(0, MEMBERS).map((each) => this.value(each, depth + 1));
    return this.fields(value, depth);
  }

  /** The members of an object, likewise. */
  fields(fields: object, depth = 0): Record<string, unknown> {
    const shown: [string, unknown][] = [];
    for (const [name, value] of Object.entries(fields).slice(0, MEMBERS)) {
      if (value === undefined) continue;
      // Counts of tokens are no tokens.
      const hidden = isSecretName(name) && typeof value !== 'number' && typeof value !== 'boolean' && value !== null;
      shown.push([this.text(name), hidden ? HIDDEN : this.value(value, depth + 1)]);
    }
    return Object.fromEntries(shown);
  }
}
