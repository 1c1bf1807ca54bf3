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
  const long = 'Herons nest in colonies. '.repeat(12).trim();
  const { numbered, sources } = number(`\n\nIntro.\n\n# A\n\n${long}\n\n## B\n\nSecond.\n\n# C\n\nThird.`, 100);
  expect(numbered).toBe(`[1] Intro.\n\n[2]\n# A\n\n${long}\n\n[3]\n## B\n\nSecond.\n\n[4]\n# C\n\nThird.`);
  expect(sources.map(({ locator }) => locator?.headings)).toEqual([undefined, ['A'], ['A', 'B'], ['C']]);
  expect(sources[1]).toEqual({
    ...{ id: 'https://a.test/p#110', kind: 'web', title: 'P', url: 'https://a.test/p', text: `# A\n\n${long}` },
    locator: { headings: ['A'], start: 110, end: 115 + long.length },
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
  expect(Math.max(...sources.map((source) => source.text.length))).toBeLessThanOrEqual(1600);
  expect(sources.length).toBeLessThan(20);
  expect(sources.flatMap(({ locator }) => locator?.headings ?? [])).toEqual([]);
  expect(number('').sources).toEqual([]);
});
