import { expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { splitThread, computeWeight } from './post-weight.ts';

verifies('channels/reply-weight', 'a post weighs what X says', () => {
  for (const [text, weight] of [
    ['', 0],
    ['hello', 5],
    ['日本語', 6],
    ['é', 1],
    ['e\u0301', 1],
    ['👍', 2],
    ['👩‍👩‍👧‍👦', 2],
    ['🇩🇪', 2],
    ['“quoted” — so…', 15],
    ['https://example.com/a/very/long/path?with=a&query=too', 23],
    ['see https://t.co/x now', 31],
  ] as const)
    expect(computeWeight(text), text).toBe(weight);
  // Text that may become a link counts as one.
  expect(computeWeight('a.co')).toBe(23);
  expect(computeWeight(`http://localhost:3000/${'a'.repeat(50)}`)).toBe(72);
});

verifies('channels/reply-weight', 'whatever the text, no post is too heavy, none is empty, and nothing but spaces is lost', () => {
  const texts = [
    'word '.repeat(400),
    'x'.repeat(900),
    '日本'.repeat(400),
    '👩‍👩‍👧‍👦'.repeat(200),
    `a${'\u0301'.repeat(700)}`,
    'https://example.com/a '.repeat(60),
    'One. Two! Three? '.repeat(60),
    'end.Next.one.of.it '.repeat(40),
    '\n\n\n',
  ];
  for (const text of texts) {
    const posts = splitThread(text);
    expect(
      posts.every((post) => computeWeight(post) <= 280 && post.trim() !== ''),
      text.slice(0, 20),
    ).toBe(true);
    if (posts.length > 1 && posts.length < 10) {
      const plain = posts.map((post) => post.replace(/ \(\d+\/\d+\)$/, '')).join('');
      expect(plain.replace(/\s/g, '')).toBe(text.normalize('NFC').replace(/\s/g, ''));
    }
  }
  expect(splitThread('word '.repeat(4000))).toHaveLength(10);
  expect(splitThread('word '.repeat(4000)).at(-1)).toMatch(/… \(10\/10\)$/);
});
