import fc from 'fast-check';
import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { indexed } from './document.ts';
import { followed } from './follows.ts';
import { openPostings, PostingsWriter } from './postings.ts';

/** Indexes of the texts in which, according to the stored bytes, `next` may follow `term`. */
function found(texts: readonly string[], term: string, next: string): number[] {
  const writer = new PostingsWriter();
  const follows: number[] = [];
  texts.forEach((content, doc) => {
    const { terms } = indexed({ id: '', sessionKey: '', parentId: null, depth: 0, role: 'user', content, timestamp: 0 }, content);
    const stands = terms.get(term);
    if (!stands) return;
    writer.add(doc, stands.times);
    follows.push(stands.follow);
  });
  const left = followed({ count: writer.count, postings: writer.bytes.slice() }, Uint8Array.from(follows), [next]);
  const { docs, count } = openPostings(left.postings);
  expect(count).toBe(left.count);
  return [...docs.subarray(0, count)];
}

verifies('search/phrases', 'a document in which one word does not follow the other is passed over', () => {
  expect(found(['a red house', 'the red boat', 'red', 'house red', 'red boat, red house', 'red red boat'], 'red', 'house')).toEqual([0, 4]);
});

verifies('search/phrases', 'none is passed over in which it does', () => {
  const word = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  fc.assert(
    fc.property(fc.array(fc.array(word, { maxLength: 8 }), { maxLength: 8 }), word, word, (texts, term, next) => {
      const lines = texts.map((words) => words.join(' '));
      const wanted = [...lines.keys()].filter((at) => ` ${lines[at]} `.includes(` ${term} ${next} `));
      expect(found(lines, term, next)).toEqual(expect.arrayContaining(wanted));
    }),
  );
});
