import { expect, test } from 'vitest';
import { DictatedText } from './dictated-text.ts';

test('words stand at the caret, apart from their neighbours', () => {
  const dictated = new DictatedText('Dear Ana,thanks', 9, 9);
  expect(dictated.withInterim('how')).toEqual({ text: 'Dear Ana, how thanks', caret: 13 });
  dictated.add('how are you');
  expect(dictated.withInterim('')).toEqual({ text: 'Dear Ana, how are you thanks', caret: 21 });
});

test('words that may still change are not kept, those that do not are', () => {
  const dictated = new DictatedText('', 0, 0);
  expect(dictated.withInterim('wreck a nice').text).toBe('wreck a nice');
  dictated.add(' recognise ');
  expect(dictated.withInterim('peach').text).toBe('recognise peach');
  dictated.add('speech');
  expect(dictated.withInterim('')).toEqual({ text: 'recognise speech', caret: 16 });
});

test('they take the place of what is selected, and need no space before a sign', () => {
  expect(new DictatedText('Hello world!', 6, 11).withInterim('moon')).toEqual({ text: 'Hello moon!', caret: 10 });
});

test('nothing said changes nothing', () => {
  expect(new DictatedText('ab', 1, 1).withInterim('')).toEqual({ text: 'ab', caret: 1 });
});
