import { expect, it } from 'vitest';
import { toAnnotations, toCompletionAnnotation } from './annotations.ts';

const SOURCES = [
  { number: 1, id: 'https://a.test/x#2', kind: 'web' as const, title: 'Herons', url: 'https://a.test/x', text: 'Herons nest early.' },
  { number: 2, id: 'doc#0', kind: 'passage' as const, title: 'Survey', path: 'north/survey.md', documentId: 'doc', text: '42 herons.' },
];

it('annotates claims by pages of the web and by documents, with offsets in their part of the text', () => {
  const citations = [
    { number: 1, start: 0, end: 18 },
    { number: 2, start: 19, end: 29 },
    { number: 9, start: 0, end: 4 },
  ];
  const annotations = toAnnotations({ type: 'citations', start: 10, citations, sources: SOURCES }, 4);
  expect(annotations).toEqual([
    { type: 'url_citation', start_index: 6, end_index: 24, url: 'https://a.test/x', title: 'Herons' },
    { type: 'file_citation', index: 35, file_id: 'doc', filename: 'north/survey.md' },
  ]);
  expect(annotations.map(toCompletionAnnotation)[0]).toEqual({
    type: 'url_citation',
    url_citation: { start_index: 6, end_index: 24, url: 'https://a.test/x', title: 'Herons' },
  });
  // A claim in an earlier part of the answer has been annotated there.
  expect(toAnnotations({ type: 'citations', start: 0, citations, sources: SOURCES }, 30)).toEqual([]);
});
