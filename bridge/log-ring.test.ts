import { expect, test } from 'vitest';
import { LogRing } from './log-ring.ts';

const read = (ring: LogRing, options: Partial<Parameters<LogRing['read']>[0]> = {}) =>
  ring.read({ ring: ring.id, limit: 2_000, level: 'debug', ...options });

test('the newest 2,000 lines stay', () => {
  const ring = new LogRing();
  for (let at = 1; at <= 2_500; at++) ring.write(`line ${at}`);
  const { lines, last } = read(ring);
  expect(last).toBe(2_500);
  expect([lines[0]?.number, lines.at(-1)?.message, lines.length]).toEqual([501, 'line 2500', 2_000]);
});

test('reading on gives the first lines after one; all of them where it was another ring’s', () => {
  const ring = new LogRing();
  for (let at = 1; at <= 10; at++) ring.write(`line ${at}`);
  const numbers = (options: Parameters<typeof read>[1]) => read(ring, options).lines.map(({ number }) => number);
  expect(numbers({ limit: 3 })).toEqual([8, 9, 10]);
  expect(numbers({ after: 4, limit: 3 })).toEqual([5, 6, 7]);
  expect(numbers({ after: 10 })).toEqual([]);
  expect(numbers({ ring: 'another', after: 7, limit: 2 })).toEqual([1, 2]);
});

test('reading back gives the last lines before one; none of another ring', () => {
  const ring = new LogRing();
  for (let at = 1; at <= 10; at++) ring.write(`line ${at}`);
  const numbers = (options: Parameters<typeof read>[1]) => read(ring, options).lines.map(({ number }) => number);
  expect(numbers({ before: 8, limit: 3 })).toEqual([5, 6, 7]);
  expect(numbers({ before: 3 })).toEqual([1, 2]);
  expect(numbers({ before: 1 })).toEqual([]);
  expect(numbers({ ring: 'another', before: 7 })).toEqual([]);
});

test('secrets are not kept, and grave lines are told from others', () => {
  const ring = new LogRing();
  ring.hide(['the-owners-token']);
  ring.write('a host said the-owners-token to http://a:b@x.test');
  ring.write('warning: the token is short');
  ring.write('the journal’s port failed: no');
  expect(read(ring).lines.map(({ level, message }) => [level, message])).toEqual([
    ['info', 'a host said *** to http://***@x.test'],
    ['warn', 'warning: the token is short'],
    ['error', 'the journal’s port failed: no'],
  ]);
  expect(read(ring, { level: 'warn' }).lines).toHaveLength(2);
});
