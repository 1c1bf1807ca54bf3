import { expect, test } from 'vitest';
import { type ReplyText, getArtifactKind, ArtifactReader } from './artifacts.ts';

const fenced = (info: string, code: string): string => `\`\`\`${info}\n${code}\n\`\`\``;
const said = (...texts: string[]): ReplyText[] => texts.map((text) => ({ text, growing: false }));
const seen = (answers: ReplyText[]) =>
  new ArtifactReader().findArtifacts(answers).map(({ kind, name, versions }) => [kind, name, versions]);

test('what is called HTML or SVG, or begins like it, is an artifact', () => {
  for (const [language, code, kind] of [
    ['html', '<p>', 'html'],
    ['HTML', '<p>', 'html'],
    ['svg', '<circle/>', 'svg'],
    ['xml', '<?xml version="1.0"?>\n<svg viewBox="0 0 1 1"/>', 'svg'],
    ['html', '<svg/>', 'html'],
    ['html', '<svg xmlns="x"></svg>', 'svg'],
    ['', '<!doctype html><p>', 'html'],
    ['', '<p>', null],
    ['xml', '<feed/>', null],
    ['ts', '<svg >', null],
  ] as const)
    expect(getArtifactKind({ language, code }), `${language} ${code}`).toBe(kind);
});

test('the same name makes versions: as the first line has it, or the title', () => {
  expect(
    seen(
      said(
        fenced('html title="clock.html"', 'one'),
        `${fenced('html', '<title>Lake</title>1')}\n\n${fenced('html clock.html', 'two')}`,
        fenced('html:clock.html', 'three'),
        fenced('html', '<title> Lake </title>2'),
      ),
    ),
  ).toEqual([
    ['html', 'clock.html', ['one', 'two', 'three']],
    ['html', 'Lake', ['<title>Lake</title>1', '<title> Lake </title>2']],
  ]);
});

test('without a name the next of its kind is the next version; two in one answer are two', () => {
  expect(seen(said(fenced('html', 'a1'), `${fenced('html', 'a2')}\n\nor\n\n${fenced('html', 'b1')}`, fenced('svg', 's')))).toEqual([
    ['html', null, ['a1', 'a2']],
    ['html', null, ['b1']],
    ['svg', null, ['s']],
  ]);
});

test('the same code again is no new version, until it comes back after another', () => {
  expect(seen(said(fenced('html', 'a'), fenced('html', 'a'), fenced('html', 'b'), fenced('html', 'a')))).toEqual([
    ['html', null, ['a', 'b', 'a']],
  ]);
});

test('what is still being written is none yet', () => {
  const reader = new ArtifactReader();
  const growing = (text: string) => reader.findArtifacts([{ text, growing: true }]).length;
  expect(growing('```html\n<p>hal')).toBe(0);
  expect(growing('```html\n<p>half</p>\n```\n\nThen')).toBe(1);
  expect(reader.findArtifacts(said('```html\n<p>cut off')).length).toBe(1);
});
