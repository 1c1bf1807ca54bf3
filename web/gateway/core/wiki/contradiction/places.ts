import { relatedTo } from '../../memory/text/related.ts';
import { stemOf } from './words.ts';

const WIDE = ['continent', 'country', 'state'];

/** Whether words name a country or the like, or something smaller: as far as it is known, else the smaller. */
export function kindsOf(words: readonly string[]): string {
  return WIDE.find((kind) => words.every((word) => (relatedTo(stemOf(kind)).get(word) ?? 0) > 0)) ?? 'place';
}
