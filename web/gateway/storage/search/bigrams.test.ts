import fc from 'fast-check';
import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { toIndexedMessage } from './indexed-document.ts';
import { filterFollowed } from './bigrams.ts';
import { decodePostings, PostingsWriter } from './postings.ts';

/** Indexes of the texts in which, according to the stored bytes, `next` may follow `term`. */
function findFollowed(texts: readonly string[], term: string, next: string): number[] {
  const writer = new PostingsWriter();
  const follows: number[] = [];
  texts.forEach((content, doc) => {
    const { terms } = toIndexedMessage({ id: '', sessionKey: '', parentId: null, depth: 0, role: 'user', content, timestamp: 0 }, content);
    const stands = terms.get(term);
    if (!stands) return;
    writer.add(doc, stands.times);
    follows.push(stands.follow);
  });
  const filtered = filterFollowed({ count: writer.count, postings: writer.bytes.slice() }, Uint8Array.from(follows), [next]);
  const { docs, count } = decodePostings(filtered.postings);
  expect(count).toBe(filtered.count);
  return [...docs.subarray(0, count)];
}

verifies('search/phrases', 'a document in which one word does not follow the other is passed over', () => {
  expect(findFollowed(['a red house', 'the red boat', 'red', 'house red', 'red boat, red house', 'red red boat'], 'red', 'house')).toEqual([
    0, 4,
  ]);
});

verifies('search/phrases', 'none is passed over in which it does', () => {
  const word = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  fc.assert(
    fc.property(fc.array(fc.array(word, { maxLength: 8 }), { maxLength: 8 }), word, word, (texts, term, next) => {
      const lines = texts.map((words) => words.join(' '));
      const expected = [...lines.keys()].filter((at) => ` ${lines[at]} `.includes(` ${term} ${next} `));
      expect(findFollowed(lines, term, next)).toEqual(expect.arrayContaining(expected));
    }),
  );
});
