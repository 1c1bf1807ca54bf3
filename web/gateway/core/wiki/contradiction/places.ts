import { relatedTo } from '../../memory/text/related.ts';
import { stemOf } from './words.ts';

const WIDE = ['continent', 'country', 'state'];

/** Kind of the place that words name: `continent`, `country` or `state`; `place` for anything else. */
export function kindsOf(words: readonly string[]): string {
  return WIDE.find((kind) => words.every((word) => (relatedTo(stemOf(kind)).get(word) ?? 0) > 0)) ?? 'place';
}
