import { describe, expect, it } from 'vitest';
import type { CitedSource } from '#shared/rpc/passage.ts';
import { stripMarkers } from '#shared/citations/marker-filter.ts';
import { attributeAnswer } from './attribute-answer.ts';

const NORVIK =
  'The Norvik Harbour Bridge opened to traffic on 14 May 1932. It is 503 metres long. Lorries heavier than 40 tonnes are not allowed to cross.';
const AALBY = 'The Aalby Harbour Bridge opened to traffic on 3 June 1938. It is 430 metres long. Cyclists use a separate path.';
const SOURCES: CitedSource[] = [
  { number: 1, id: 'a', kind: 'passage', title: 'Norvik Harbour Bridge', text: NORVIK },
  { number: 2, id: 'b', kind: 'passage', title: 'Aalby Harbour Bridge', text: AALBY },
];

/** The marked claims of an answer with markers, and the numbers of their sources. */
function cite(answer: string, question = '', sources = SOURCES): [claim: string, number: number][] {
  const { text, markers } = stripMarkers(answer, { isKnown: (number) => number <= sources.length });
  const citations = attributeAnswer(text, sources, { markers, question });
  for (const { number, quote } of citations)
    expect(sources.find((source) => source.number === number)?.text.slice(quote.start, quote.end)).toBe(quote.text);
  return citations.map(({ start, end, number }) => [text.slice(start, end), number]);
}

describe('a claim', () => {
  it.each([
    [
      'is marked with the source that its marker names',
      'The Norvik bridge opened on May 14, 1932 [1].',
      [['The Norvik bridge opened on May 14, 1932', 1]],
    ],
    [
      'is marked without a marker if a source clearly supports it',
      'The Norvik Harbour Bridge is 503 metres long.',
      [['The Norvik Harbour Bridge is 503 metres long', 1]],
    ],
    [
      'is marked with the right source if the marker is wrong',
      'The Aalby bridge opened on 3 June 1938 [1].',
      [['The Aalby bridge opened on 3 June 1938', 2]],
    ],
    ['is not marked if its number differs', 'The Norvik bridge is 530 metres long [1].', []],
    ['is not marked if its date differs', 'The Norvik bridge opened on 15 May 1932 [1].', []],
    ['is not marked if its name differs', 'The Borby bridge opened on 14 May 1932 [1].', []],
    ['is not marked if the source denies it', 'Lorries heavier than 40 tonnes are allowed to cross the Norvik bridge [1].', []],
    ['is not marked if no source says so', 'The Norvik bridge was painted blue by volunteers [1].', []],
    [
      'is marked without what the answer adds',
      'The Norvik bridge is 503 metres long, and many tourists admire its wonderful view [1].',
      [['The Norvik bridge is 503 metres long', 1]],
    ],
    [
      'is marked in parts that name different sources',
      'Norvik is 503 metres long [1] and Aalby 430 metres [2].',
      [
        ['Norvik is 503 metres long', 1],
        ['and Aalby 430 metres', 2],
      ],
    ],
    [
      'is marked in a list',
      '- Length of the Norvik bridge: 503 metres [1]\n- Cyclists use a separate path in Aalby [2]',
      [
        ['Length of the Norvik bridge: 503 metres', 1],
        ['Cyclists use a separate path in Aalby', 2],
      ],
    ],
  ] as [string, string, [string, number][]][])('%s', (_, answer, expected) => {
    expect(cite(answer)).toEqual(expected);
  });

  it('about “it” belongs to what the question or the sentence before is about', () => {
    expect(cite('It opened on 3 June 1938 [2].', 'When did the Aalby bridge open?')).toEqual([['It opened on 3 June 1938', 2]]);
    expect(cite('It opened on 3 June 1938 [2].', 'When did the Norvik bridge open?')).toEqual([]);
  });

  it('in another language needs a marker, and agreement in numbers and names', () => {
    const answer = 'Die Brücke in Norvik wurde am 14. Mai 1932 für den Verkehr eröffnet';
    expect(cite(`${answer} [1].`)).toEqual([[answer, 1]]);
    expect(cite(`${answer}.`)).toEqual([]);
    expect(cite(`${answer} [2].`)).toEqual([]);
  });

  it('can be in text without spaces', () => {
    const sources: CitedSource[] = [
      { number: 1, id: 'a', kind: 'passage', title: '東京', text: '東京タワーの高さは333メートルです。1958年に完成しました。' },
    ];
    expect(cite('東京タワーの高さは333メートルです [1]。', '', sources)).toEqual([['東京タワーの高さは333メートルです', 1]]);
    expect(cite('東京タワーの高さは350メートルです [1]。', '', sources)).toEqual([]);
  });
});

it('marks no headings, code and table heads', () => {
  const answer =
    '# The Norvik bridge is 503 metres long\n\n```\nThe Norvik bridge is 503 metres long\n```\n\n| Bridge | Length |\n| --- | --- |\n| Norvik Harbour Bridge | 503 metres [1] |';
  expect(cite(answer)).toEqual([['Norvik Harbour Bridge | 503 metres', 1]]);
});

it('is quick for a long answer over many sources', () => {
  const sources = Array.from({ length: 200 }, (_, index): CitedSource => ({
    number: index + 1,
    id: String(index),
    kind: 'web',
    title: `Page ${index}`,
    text: `${NORVIK} ${AALBY} Part ${index}. `.repeat(15),
  }));
  expect(cite('The weather was fine. '.repeat(300), '', sources)).toEqual([]);
});
