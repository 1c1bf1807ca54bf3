import { expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { editsOf } from './body-edits.ts';

/** The text with the edits of `editsOf`; undefined if there are none. */
function edited(text: string, change: object): string | undefined {
  const own = JSON.parse(text) as Record<string, unknown>;
  const edits = editsOf(text, own, { ...own, ...change });
  if (!edits) return undefined;
  let bytes = Buffer.from(text);
  for (const { at, drop, put } of edits.toReversed())
    bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(put), bytes.subarray(at + drop)]);
  return bytes.toString();
}

const USAGE = { stream_options: { include_usage: true } };

verifies('http.chat/splice-request', 'a value is changed in its place, a new one comes first, and all else stays as it was written', () => {
  expect(edited('{"model":"up/m","x":1.0}', { model: 'm' })).toBe('{"model":"m","x":1.0}');
  expect(edited(' {"x":"ü😀",\n"model" :\t"up\\/m" }', { model: 'é' })).toBe(' {"x":"ü😀",\n"model" :\t"é" }');
  expect(edited('{"ü":1,"model":"up/m"}', { model: 'm', ...USAGE })).toBe('{"stream_options":{"include_usage":true},"ü":1,"model":"m"}');
  expect(edited('{"model":"m"}', {})).toBe('{"model":"m"}');
});

it.each([
  ['in a text', '{"messages":"say \\"model\\": \\"up/m\\", {\\"model\\":1","model":"up/m"}'],
  ['as the end of a longer key', '{"a\\"model":"up/m","model":"up/m"}'],
  ['as a value', '{"a":"model","b":["model","model"],"model":"up/m"}'],
])('text that only resembles the key, %s, is not one', (_, text) => {
  expect(edited(text, { model: 'm' })).toBe(`${text.slice(0, text.lastIndexOf('up/m'))}m"}`);
});

it.each([
  ['is there twice', '{"model":"up/a","model":"up/m"}'],
  ['is within another object too', '{"tools":[{"model":{}}],"model":"up/m"}'],
  ['is written in escapes', '{"mod\\u0065l":"up/m"}'],
  ['may be written in escapes as well', '{"model":"up/m","mod\\u0065l":"up/m"}'],
  ['has a value longer than names are', `{"model":"${'m'.repeat(2000)}"}`],
])('a key that %s is not changed by a glance', (_, text) => {
  expect(edited(text, { model: 'm' })).toBeUndefined();
});

it('options that are there already are not changed by a glance', () => {
  expect(edited('{"stream_options":{},"model":"m"}', USAGE)).toBeUndefined();
  expect(edited('{"\\u0073tream_options":{},"model":"m"}', USAGE)).toBeUndefined();
});
