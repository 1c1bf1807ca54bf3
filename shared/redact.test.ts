import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../tests/requirements.ts';
import { Redactor, redactTruncatedSecret, redactSecret } from './redact.ts';

const TOKEN = 'Zq3vT8xWm1Rk7Lp0Sd5Yh2Nc9Bf4Gj6Aa-_uEiOoPx1';
const SECRET_SAMPLES: [text: string, secret: string][] = [
  ['Authorization: Bearer abc.def-123', 'abc.def-123'],
  ['{"authorization":"Bearer abc.def-123"}', 'abc.def-123'],
  ['authorization: Basic dXNlcjpwYXNzd29yZA==', 'dXNlcjpwYXNzd29yZA=='],
  ['the key sk-proj-abcdefghijklmnop is refused', 'abcdefghijklmnop'],
  ['rejected ghp_0123456789abcdefghijABCDEFGHIJ', '0123456789abcdefghijABCDEFGHIJ'],
  ['https://x.test/v1?api_key=hunter2secret&a=1', 'hunter2secret'],
  ['api_key=hunter2secret', 'hunter2secret'],
  ['{"apiKey": "hunter2 secret, and more"}', 'and more'],
  ["password='hunter2 secret'", 'hunter2'],
  ['x-api-key: hunter2secret', 'hunter2secret'],
  ['fetch https://user:hunter2secret@x.test/path failed', 'hunter2secret'],
  ['http://127.0.0.1:7333/#link=abcd1234efgh', 'abcd1234efgh'],
  ['http://x.test/callback?code=abcd1234&x=1', 'abcd1234'],
  ['pairingCode: ABCD2345', 'ABCD2345'],
  ['Set-Cookie: session=abcd1234; Path=/', 'abcd1234'],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl', 'eyJzdWIiOiIxMjM0In0'],
  [`the token ${TOKEN} is old`, TOKEN],
  ['-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----', 'MIIEvQIBADANBg'],
  ['-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBg', 'MIIEvQIBADANBg'],
];

verifies('logs/redacted', 'secrets are removed from texts, and the surrounding text stays', () => {
  const redactor = new Redactor();
  for (const [text, secret] of SECRET_SAMPLES) {
    expect(redactor.text(text), text).not.toContain(secret);
    expect(redactor.text(text), text).toContain('***');
  }
  expect(redactor.text('GET https://u:p@x.test/a?key=abc&n=1 failed')).toBe('GET https://***@x.test/a?key=***&n=1 failed');
});

test('what only resembles one is left as it is', () => {
  const redactor = new Redactor();
  for (const text of [
    'the basic rules of a task-management-system',
    'bearers of news; tokens: 12; maxTokens 400',
    'session 0b8a1f6e-53a1-4c9e-9d05-0e3b3f1f0d11 at /home/me/.config/perch',
    'INVALID_PARAMS: code: it must be shorter',
    'npm_config_registry is not set',
  ])
    expect(redactor.text(text)).toBe(text);
});

verifies('logs/redacted', 'a secret that is known goes in whatever writing it stands, also one within another', () => {
  const redactor = new Redactor();
  redactor.addSecrets(['plain "words"/ here', 'abcd', 'abcdefgh', 'xyz']);
  expect(redactor.text('a plain "words"/ here b')).toBe('a *** b');
  expect(redactor.text(`a ${JSON.stringify('plain "words"/ here')} b`)).toBe('a "***" b');
  expect(redactor.text(`a ${encodeURIComponent('plain "words"/ here')} b`)).toBe('a *** b');
  expect(redactor.text('abcdefgh abcd')).toBe('*** ***');
  // Too short for a secret: every text would have holes.
  expect(redactor.text('xyz')).toBe('xyz');
  redactor.addSecrets([]);
  expect(redactor.text('abcd')).toBe('***');
});

verifies('logs/redacted', 'values go by the names of their members, at any depth, with errors and their causes', () => {
  const redactor = new Redactor();
  redactor.addSecrets(['hunter2secret']);
  const cause = new Error('said hunter2secret');
  expect(
    redactor.fields({
      ...{ apiKey: 'a', deviceToken: 'b', headers: { Authorization: ['c'], cookie: 'd' }, password: { value: 'e' }, tokens: ['f'] },
      ...{ inputTokens: 3, maxTokens: 400, token: null, list: [{ secret: 'g' }], hunter2secret: 1, left: undefined },
    }),
  ).toEqual({
    ...{ apiKey: '***', deviceToken: '***', headers: { Authorization: '***', cookie: '***' }, password: '***', tokens: '***' },
    ...{ inputTokens: 3, maxTokens: 400, token: null, list: [{ secret: '***' }], '***': 1 },
  });
  const redacted = JSON.stringify(redactor.fields({ error: new TypeError('with hunter2secret', { cause }) }));
  expect(redacted).not.toContain('hunter2secret');
  expect(redacted).toMatch(/TypeError.*stack.*cause.*said \*\*\*/);
});

test('values of any kind become plain JSON; cycles and long lists end', () => {
  const redactor = new Redactor();
  const cycle: Record<string, unknown> = {
    big: 1n,
    symbol: Symbol('s'),
    at: Number.NaN,
    run: undefined,
    many: Array.from({ length: 500 }),
  };
  cycle['self'] = cycle;
  const redacted = redactor.fields(cycle);
  expect(structuredClone(redacted)).toEqual(redacted);
  expect(redacted['big']).toBe('1');
  expect(redacted['many']).toHaveLength(100);
});

verifies('logs/redacted', 'a secret at the place where a long text is cut is not half left', () => {
  const redactor = new Redactor();
  const secret = `q${'uvwxyz'.repeat(600)}`;
  redactor.addSecrets([secret]);
  for (let before = 19_000; before < 20_010; before += 101) {
    // The text before it shrinks, so that the position is within the kept part.
    const shown = redactor.text(`${`api_key=${'x'.repeat(191)} `.repeat(before / 200)}${secret} end`);
    expect(shown.length).toBeLessThanOrEqual(8_001);
    expect(shown).not.toContain('uvwxyz');
  }
});

const textArbitrary = fc.string({ unit: fc.constantFrom('a', 'b', '*', '…', ' ', '"', 'ä', '𝒳'), maxLength: 60 });
const secretArbitrary = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom('a', 'b', '*', '-', '$', '.'), minLength, maxLength });

test('a secret of 8 characters or more never stays, whatever stands around it', () => {
  fc.assert(
    fc.property(secretArbitrary(8, 20), fc.array(textArbitrary, { minLength: 1, maxLength: 5 }), (secret, parts) => {
      const text = parts.join(secret);
      expect(redactSecret(text, secret)).not.toContain(secret);
      expect(redactTruncatedSecret(text, secret)).not.toContain(secret);
    }),
  );
  expect(redactSecret('ab***cdef', 'ab***cdef')).toBe('***');
  expect(redactSecret('abab***cdefcdef', 'ab***cdef')).not.toContain('ab***cdef');
});

test('one under 4 characters leaves every text as it is', () => {
  fc.assert(
    fc.property(secretArbitrary(0, 3), textArbitrary, (secret, text) => {
      expect(redactSecret(text, secret)).toBe(text);
      expect(redactTruncatedSecret(`${text}${secret}…`, secret)).toBe(`${text}${secret}…`);
    }),
  );
});

test.each([
  ['The key demo is wrong (demo), "demo"', 'The key *** is wrong (***), "***"'],
  ['The demonstration of demo_1, édemo and 𝒳demo', 'The demonstration of demo_1, édemo and 𝒳demo'],
  ['demo', '***'],
])('one of 4 to 7 goes where it stands alone as a word: %s', (text, shown) => {
  expect(redactSecret(text, 'demo')).toBe(shown);
  const redactor = new Redactor();
  redactor.addSecrets(['demo']);
  // Logs are also read by people who do not have the key, so it is removed everywhere.
  expect(redactor.text(text)).not.toContain('demo');
});

test('a text that is cut within a secret loses the beginning of it, from 4 characters on', () => {
  expect(redactTruncatedSecret('The key is key-0…', 'key-0123456789')).toBe('The key is ***…');
  expect(redactTruncatedSecret('The key is key-…', 'key-0123456789')).toBe('The key is ***…');
  expect(redactTruncatedSecret('This is the monk…', 'k-0123456789')).toBe('This is the monk…');
});
