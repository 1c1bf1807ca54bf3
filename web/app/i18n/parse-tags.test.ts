import { expect, it } from 'vitest';
import { parseTags } from './parse-tags.ts';

it('takes a sentence apart at its tags', () => {
  expect(parseTags('Run <code>perch doctor</code>, or open <link>Doctor</link>.')).toEqual([
    { tag: null, inner: 'Run ' },
    { tag: 'code', inner: 'perch doctor' },
    { tag: null, inner: ', or open ' },
    { tag: 'link', inner: 'Doctor' },
    { tag: null, inner: '.' },
  ]);
  expect(parseTags('a < b and <b>c')).toEqual([{ tag: null, inner: 'a < b and <b>c' }]);
});
