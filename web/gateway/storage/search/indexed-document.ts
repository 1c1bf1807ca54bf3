import { forEachTerm } from '../../knowledge/search/text/terms.ts';
import { toPlainText } from '../session-views.ts';
import { joinParts } from '../message-parts.ts';
import type { StoredMessage } from '../vault-schema.ts';
import { TermOccurrences } from './bigrams.ts';
import type { IndexedMessage } from './memtable.ts';

/** Maximum number of characters of a message that are indexed. */
const MAX_INDEXED_CHARS = 50_000;

/** Searchable text of a message. */
export const getSearchableText = (message: StoredMessage): string =>
  toPlainText(joinParts(message, () => undefined).content).slice(0, MAX_INDEXED_CHARS);

/** The message with its terms. */
export function toIndexedMessage({ id, sessionKey, role, timestamp }: StoredMessage, text: string): IndexedMessage {
  const terms = new Map<string, TermOccurrences>();
  let length = 0;
  let last: TermOccurrences | undefined;
  forEachTerm(text, (term) => {
    last?.addFollower(term);
    last = terms.get(term);
    if (!last) terms.set(term, (last = new TermOccurrences()));
    last.increment();
    length++;
  });
  return { id, sessionKey, role, timestamp, terms, length };
}
