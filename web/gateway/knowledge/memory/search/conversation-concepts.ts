import { type Concept, toSpeakerTerm } from '../../search/concepts.ts';
import { CAUSE, type MemoryIndex, MONEY, NAME, NUMBER, TIME } from './memory-index.ts';
import type { Weights } from './weights.ts';

const CONTENT_KINDS: readonly [pattern: RegExp, term: string][] = [
  [/\b(when|what (date|day|year|month|time)|how long|how often)\b/i, TIME],
  [/\b(how (many|much|old|far|tall|big|long)|what (price|cost|number|percentage|size)|cost)\b/i, NUMBER],
  [/\b(who|whose|whom|what('s| is| was) the name|called|named|which)\b/i, NAME],
  [/\b(how much|cost|price|paid?|pay|salary|rent|fee|bill|budget|quote|value|worth)\b/i, MONEY],
  [/\b(why|what (reason|made|caused))\b/i, CAUSE],
];

/** Speakers that "I" and "you" refer to in a user's query to an assistant. */
const SPEAKERS: readonly [pattern: RegExp, speaker: string][] = [
  [/\b(i|me|my|mine|we|our|us)\b/i, 'user'],
  [/\byou(r)?\b/i, 'assistant'],
];

/** Concepts of a query that are not words of it: the speaker that it asks about, and the kind of content that it asks for. */
export function extractConversationConcepts(query: string, index: MemoryIndex, w: Weights): Concept[] {
  const createConcept = (term: string, weight: number): Concept => ({ word: null, terms: [{ term, weight: 1 }], weight });
  const speaker = SPEAKERS.find(([pattern, name]) => index.speakers.has(name) && pattern.test(query));
  return [
    ...(speaker ? [createConcept(toSpeakerTerm(speaker[1]), w.speaker)] : []),
    ...CONTENT_KINDS.filter(([pattern]) => pattern.test(query)).map(([, term]) => createConcept(term, w.kind)),
  ];
}
