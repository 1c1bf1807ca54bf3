import { eachTerm } from '../../core/retrieval/terms.ts';
import { plainText } from '../../core/sessions.ts';
import { joinParts } from '../parts.ts';
import type { StoredMessage } from '../schema.ts';
import { Occurrences } from './follows.ts';
import type { IndexedMessage } from './memtable.ts';

/** Maximum number of characters of a message that are indexed. */
const INDEXED_CHARS = 50_000;

/** Searchable text of a message. */
export const textOf = (message: StoredMessage): string => plainText(joinParts(message, () => undefined).content).slice(0, INDEXED_CHARS);

/** The message with its terms. */
export function indexed({ id, sessionKey, role, timestamp }: StoredMessage, text: string): IndexedMessage {
  const terms = new Map<string, Occurrences>();
  let length = 0;
  let last: Occurrences | undefined;
  eachTerm(text, (term) => {
    last?.followedBy(term);
    last = terms.get(term);
    if (!last) terms.set(term, (last = new Occurrences()));
    last.again();
    length++;
  });
  return { id, sessionKey, role, timestamp, terms, length };
}
