import fc from 'fast-check';
import { expect, test } from 'vitest';
import { serializeJsonBody } from './serialize-json-body.ts';

const neverAborted = new AbortController().signal;
const readBody = async (body: object): Promise<string> => {
  const { body: text, bytes } = await serializeJsonBody(body, neverAborted);
  return text ?? new TextDecoder('utf-8', { fatal: true }).decode(bytes);
};

test('a body is what JSON.stringify makes of it, short or long', async () => {
  const anything = fc.dictionary(fc.string(), fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue()), fc.constant(undefined)));
  const letters = fc.constantFrom('a', 'é', '漢', '😀', '\ud800', '"', '\n');
  const long = fc.tuple(letters, fc.integer({ min: 65_530, max: 65_540 }), letters).map(([one, count, other]) => ({
    messages: [{ content: one.repeat(count) + other.repeat(count) }, { content: other.repeat(9) }],
  }));
  await fc.assert(
    fc.asyncProperty(anything, async (body) => {
      expect(await readBody(body)).toBe(JSON.stringify(body));
    }),
  );
  await fc.assert(
    fc.asyncProperty(long, async (body) => {
      expect(await readBody(body)).toBe(JSON.stringify(body));
    }),
    { numRuns: 30 },
  );
});

test('others have their turn while a long one is made, and it ends with its caller', async () => {
  const body = { messages: Array.from({ length: 100 }, (_, nth) => ({ content: `${nth} `.repeat(20_000) })) };
  let turns = 0;
  let made = false;
  const others = (async () => {
    for (; !made; turns++) await new Promise((resolve) => setImmediate(resolve));
  })();
  await serializeJsonBody(body, neverAborted);
  made = true;
  await others;
  expect(turns).toBeGreaterThan(20);
  const gone = new AbortController();
  const making = serializeJsonBody(body, gone.signal);
  gone.abort(new Error('left'));
  await expect(making).rejects.toThrow('left');
});
