import { expect, test } from 'vitest';
import { NotUtf8, readValues } from './json-values.ts';

const stream = (...parts: (string | Uint8Array)[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(typeof part === 'string' ? new TextEncoder().encode(part) : part);
      controller.close();
    },
  });
async function values(...parts: (string | Uint8Array)[]) {
  const found: unknown[] = [];
  const text = await readValues(stream(...parts), (value) => found.push(value));
  return text ?? found;
}

const LIST = ' [ {"a":"] , \\" } [","b":[1,{"c":"é😀"}]}, 2 ,"x\\\\", [] ,null]\n';

test('reads the elements of a list, wherever its bytes are cut', async () => {
  const expected = JSON.parse(LIST) as unknown[];
  const bytes = new TextEncoder().encode(LIST);
  for (let at = 0; at <= bytes.length; at++) expect(await values(bytes.subarray(0, at), bytes.subarray(at))).toEqual(expected);
  expect(await values(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(expected);
  expect(await values('[ ]')).toEqual([]);
});

test('returns all other text as it is', async () => {
  expect(await values('\n {"a"', ':1}')).toBe('\n {"a":1}');
  expect(await values('')).toBe('');
});

test('rejects a list that is cut short or malformed', async () => {
  for (let at = LIST.indexOf('[') + 1; at < LIST.trimEnd().length; at++)
    await expect(values(LIST.slice(0, at))).rejects.toThrow(SyntaxError);
  for (const bad of ['[1,]', '[,1]', '[1 2]', '[1]]', '[1],', '[1] x', '[{]}', '[,]'])
    await expect(values(bad), bad).rejects.toThrow(SyntaxError);
  await expect(values('["', Uint8Array.of(0xff), '"]')).rejects.toThrow(NotUtf8);
});

test('takes each element before the next is read: a long list is never in memory as text', async () => {
  const chat = `{"text":"${'x'.repeat(100_000)}"}`;
  let pulled = 0;
  const taken: number[] = [];
  const count = 200;
  const bytes = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (pulled > count) return controller.close();
      controller.enqueue(new TextEncoder().encode(pulled === count ? ']' : `${pulled === 0 ? '[' : ','}${chat}`));
      pulled++;
    },
  });
  await readValues(bytes, () => taken.push(pulled));
  expect(taken).toHaveLength(count);
  expect(taken.every((at, index) => at <= index + 4)).toBe(true);
});
