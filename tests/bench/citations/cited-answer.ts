import type { Citation, CitedSource } from '#shared/rpc/passage.ts';
import { attributeAnswer } from '../../../web/gateway/knowledge/citations/attribute-answer.ts';
import { stripMarkers } from '#shared/citations/marker-filter.ts';
import { createRandom } from '../../support/seed.ts';
import { type BenchDocument, DOCUMENTS } from './documents.ts';

/** A part of an answer: its offsets in the text without markers, the document that it names, and those that support it. */
export interface AnswerPart {
  text: string;
  start: number;
  end: number;
  named: string;
  supports: readonly string[];
}

export interface CitedAnswer {
  question: string;
  text: string;
  parts: AnswerPart[];
  citations: Citation[];
  /** The cited document. */
  toDocument(citation: Citation): string;
}

const PART = /([^<]*)<([^>=]*)(?:=([^>]*))?>/g;

/** Number of documents of other groups that the scripted reader was given too. */
const OTHERS = 4;

/** Reads an answer of the scripted reader, who was given the documents that it names, others of their groups, and some more. */
export function citeAnswer(question: string, answer: string, seed: number): CitedAnswer {
  const random = createRandom(seed);
  const matches = [...answer.matchAll(PART)];
  const ids = new Set(matches.flatMap(([, , named = '', supports = '']) => [named, ...supports.split(',')]).filter((id) => id !== ''));
  const groups = new Set(DOCUMENTS.filter(({ id }) => ids.has(id)).map(({ group }) => group));
  const given: BenchDocument[] = DOCUMENTS.filter(({ group }) => groups.has(group));
  while (given.length < ids.size + OTHERS) {
    const other = DOCUMENTS[random(DOCUMENTS.length)];
    if (other && !given.includes(other)) given.push(other);
  }
  const order = given.map((document) => ({ document, key: random(1_000_000) })).sort((a, b) => a.key - b.key);
  const sources: CitedSource[] = order.map(({ document: { id, title, text } }, index) => ({
    id,
    title,
    text,
    kind: 'passage',
    number: index + 1,
  }));
  const numbers = new Map(sources.map(({ id, number }) => [id, number]));
  const parts: AnswerPart[] = [];
  let written = '';
  let plain = '';
  for (const [, text = '', named = '', supports] of matches) {
    const start = plain.length + (/^[\s.,;:-]*/.exec(text)?.[0].length ?? 0);
    plain += text;
    parts.push({ text: text.trim(), start, end: plain.length, named, supports: (supports ?? named).split(',').filter((id) => id !== '') });
    const number = numbers.get(named);
    written += text + (number === undefined ? '' : ` [${number}]`);
  }
  const rest = answer.slice(answer.lastIndexOf('>') + 1);
  const known = new Set(numbers.values());
  const { text, markers } = stripMarkers(written + rest, { isKnown: (number) => known.has(number) });
  if (text !== plain + rest) throw new Error(`The markers of this answer were not removed: ${text}`);
  const citations = attributeAnswer(text, sources, { markers, question });
  return { question, text, parts, citations, toDocument: ({ number }) => sources[number - 1]?.id ?? '' };
}

/** Minimum share of a part that a citation must cover to count for it. */
const MIN_OVERLAP = 0.4;

/** Parts of the answer that a citation marks. */
export const getCitedParts = ({ parts }: CitedAnswer, { start, end }: Citation): AnswerPart[] =>
  parts.filter((part) => {
    const overlap = Math.min(part.end, end) - Math.max(part.start, start);
    return overlap > 0 && overlap >= MIN_OVERLAP * Math.min(part.end - part.start, end - start);
  });
