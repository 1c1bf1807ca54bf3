import { expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { computeBodyEdits } from './body-edits.ts';

/** The text with the edits of `computeBodyEdits`; undefined if there are none. */
function applyEdits(text: string, change: object): string | undefined {
  const body = JSON.parse(text) as Record<string, unknown>;
  const edits = computeBodyEdits(text, body, { ...body, ...change });
  if (!edits) return undefined;
  let bytes = Buffer.from(text);
  for (const { at, drop, put } of edits.toReversed())
    bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(put), bytes.subarray(at + drop)]);
  return bytes.toString();
}

const USAGE = { stream_options: { include_usage: true } };

verifies('http.chat/splice-request', 'a value is changed in its place, a new one comes first, and all else stays as it was written', () => {
  expect(applyEdits('{"model":"up/m","x":1.0}', { model: 'm' })).toBe('{"model":"m","x":1.0}');
  expect(applyEdits(' {"x":"ü😀",\n"model" :\t"up\\/m" }', { model: 'é' })).toBe(' {"x":"ü😀",\n"model" :\t"é" }');
  expect(applyEdits('{"ü":1,"model":"up/m"}', { model: 'm', ...USAGE })).toBe(
    '{"stream_options":{"include_usage":true},"ü":1,"model":"m"}',
  );
  expect(applyEdits('{"model":"m"}', {})).toBe('{"model":"m"}');
});

it.each([
  ['in a text', '{"messages":"say \\"model\\": \\"up/m\\", {\\"model\\":1","model":"up/m"}'],
  ['as the end of a longer key', '{"a\\"model":"up/m","model":"up/m"}'],
  ['as a value', '{"a":"model","b":["model","model"],"model":"up/m"}'],
])('text that only resembles the key, %s, is not one', (_, text) => {
  expect(applyEdits(text, { model: 'm' })).toBe(`${text.slice(0, text.lastIndexOf('up/m'))}m"}`);
});

it.each([
  ['is there twice', '{"model":"up/a","model":"up/m"}'],
  ['is within another object too', '{"tools":[{"model":{}}],"model":"up/m"}'],
  ['is written in escapes', '{"mod\\u0065l":"up/m"}'],
  ['may be written in escapes as well', '{"model":"up/m","mod\\u0065l":"up/m"}'],
  ['has a value longer than names are', `{"model":"${'m'.repeat(2000)}"}`],
])('a key that %s is not changed by a glance', (_, text) => {
  expect(applyEdits(text, { model: 'm' })).toBeUndefined();
});

it('options that are there already are not changed by a glance', () => {
  expect(applyEdits('{"stream_options":{},"model":"m"}', USAGE)).toBeUndefined();
  expect(applyEdits('{"\\u0073tream_options":{},"model":"m"}', USAGE)).toBeUndefined();
});
