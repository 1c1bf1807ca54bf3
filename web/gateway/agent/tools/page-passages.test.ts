import { expect, it } from 'vitest';
import type { CitableSource } from '#shared/rpc/passage.ts';
import { numberPassages } from './page-passages.ts';

function number(text: string, offset = 0): { numbered: string; sources: CitableSource[] } {
  const sources: CitableSource[] = [];
  const numbered = numberPassages({ url: 'https://a.test/p', title: 'P', text, offset }, (more) =>
    more.map((source) => sources.push(source)),
  );
  return { numbered, sources };
}

it('splits a page at its headings, which each passage names', () => {
  const { numbered, sources } = number('Intro.\n\n# A\n\nFirst.\n\n## B\n\nSecond.\n\n# C\n\nThird.', 100);
  expect(numbered).toBe('[1] Intro.\n\n[2]\n# A\n\nFirst.\n\n[3]\n## B\n\nSecond.\n\n[4]\n# C\n\nThird.');
  expect(sources.map(({ locator }) => locator?.headings)).toEqual([undefined, ['A'], ['A', 'B'], ['C']]);
  expect(sources[1]).toEqual({
    ...{ id: 'https://a.test/p#108', kind: 'web', title: 'P', url: 'https://a.test/p', text: '# A\n\nFirst.' },
    locator: { headings: ['A'], start: 108, end: 121 },
  });
});

it('keeps all of the text, in passages of bounded length', () => {
  const text = `${'word '.repeat(1000)}\n\n${'A sentence. \n\n'.repeat(300)}\`\`\`\n# no heading\n\n${'x = 1\n'.repeat(50)}\`\`\`\n`;
  const { sources } = number(text);
  expect(
    sources
      .map((source) => source.text)
      .join('')
      .replaceAll(/\s/g, ''),
  ).toBe(text.replaceAll(/\s/g, ''));
  expect(Math.max(...sources.map((source) => source.text.length))).toBeLessThanOrEqual(2000);
  expect(sources.length).toBeLessThan(15);
  expect(sources.flatMap(({ locator }) => locator?.headings ?? [])).toEqual([]);
  expect(number('').sources).toEqual([]);
});
