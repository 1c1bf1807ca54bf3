import { expect, it } from 'vitest';
import { formatFrame, toFrameRecord } from './protocol-frames.ts';

const frame = (text: string) => toFrameRecord(1, 0, 'received', text);

it('frames are told in a few words', () => {
  expect(frame('{"type":"req","id":"7","method":"health","params":{}}').about).toBe('health (7)');
  expect(frame('{"type":"res","id":"7","ok":true}').about).toBe('response to 7');
  expect(frame('{"type":"event","event":"tick","seq":1,"payload":{}}').about).toBe('tick');
  expect(frame('nonsense').about).toBe('unknown frame');
});

it('secrets go by their name and by their form, at any depth; counts of tokens stay', () => {
  const key = `sk-${'a'.repeat(40)}`;
  const text = formatFrame(frame(JSON.stringify({ a: [{ apiKey: 'short', maxTokens: 7, note: `it is ${key}` }], password: '' })));
  expect(JSON.parse(text)).toEqual({ a: [{ apiKey: '***', maxTokens: 7, note: 'it is ***' }], password: '***' });
  expect(formatFrame(frame(`nonsense with ${key}`))).toBe('nonsense with ***');
});

it('a large one is kept cut, and said to be', () => {
  const large = frame(JSON.stringify({ type: 'event', text: 'x'.repeat(300_000) }));
  expect(large.text.length).toBeLessThan(300_000);
  expect(formatFrame(large)).toMatch(/^300,\d+ characters/);
});
