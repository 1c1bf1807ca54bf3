import { getRelatedTerms } from '../../search/text/related-terms.ts';
import { toStem } from './contradiction-words.ts';

const WIDE_KINDS = ['continent', 'country', 'state'];

/** Kind of the place that words name: `continent`, `country` or `state`; `place` for anything else. */
export function getPlaceKind(words: readonly string[]): string {
  return WIDE_KINDS.find((kind) => words.every((word) => (getRelatedTerms(toStem(kind)).get(word) ?? 0) > 0)) ?? 'place';
}
