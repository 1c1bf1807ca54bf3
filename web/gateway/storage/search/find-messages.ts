import { hasPhrases, matchesText, parseQuery, type SearchQuery } from '../../knowledge/search/search-query.ts';
import { createSnippet, findSpans } from '../../knowledge/search/snippet.ts';
import { forEachTerm } from '../../knowledge/search/text/terms.ts';
import type { SearchOptions, SearchPage, SearchResult } from '../chat-search.ts';
import type { MessageMatch, SessionRecord } from '../chat-records.ts';
import type { StoredMessage } from '../vault-schema.ts';
import type { SessionList } from '../session-list.ts';
import type { Transactions } from '../transactions.ts';
import { joinParts } from '../message-parts.ts';
import { computeIdf } from '../../knowledge/search/bm25.ts';
import { forEachMatch, createScoringParams } from './bm25-score.ts';
import type { SearchIndex } from './search-index.ts';
import { getSearchableText } from './indexed-document.ts';
import { TimeSlicer } from '#shared/async/time-slicer.ts';
import type { SessionNumbers, SearchSource } from './search-source.ts';

/** Maximum number of messages that a search indexes first, so that new ones are found. */
const MAX_INDEXED_FIRST = 1024;
/** Maximum number of messages whose text is read for one search: for phrases, and if a message was deleted in the meantime. */
const MAX_READ = 2000;
const READ_BATCH = 128;
/** Weight of a word in the title, relative to one in a message. */
const TITLE_WEIGHT = 2;
const MAX_SNIPPET_CHARS = 200;

export interface SearchDeps {
  index: SearchIndex;
  transactions: Transactions;
  sessions: SessionList;
  now: () => number;
}

/** A document that matches. */
interface DocumentMatch {
  source: SearchSource;
  doc: number;
  score: number;
}

/** A session that matches, by its title or by its best message. */
interface RankedSession {
  session: SessionRecord;
  score: number;
  match: DocumentMatch | undefined;
}

interface LookupResult {
  sources: readonly SearchSource[];
  isComplete: boolean;
  /** Calls back with each match in an eligible session, source by source. There may be a million: the caller chooses which to keep. */
  each(match: (session: number, source: SearchSource, doc: number, score: number) => void): Promise<void>;
  /** Weight of each word. */
  weights: readonly number[];
  names: SessionNumbers;
}

/** Sessions that match by messages and title, best first. */
export async function findSessions(deps: SearchDeps, text: string, options: SearchOptions): Promise<SearchPage> {
  const query = parseQuery(text);
  const { limit, offset = 0, accepts = () => true } = options;
  if (query.words.length === 0) return { results: [], total: 0, next: null, complete: true };
  return deps.index.withRead(async () => {
    const sessions = await deps.sessions.all();
    const lookup = await lookUpQuery(deps, query, sessions, accepts);
    const titleScores = findTitles(query, sessions, accepts, lookup.weights);
    const { ranked, exact } = await (query.phrases.length > 0 ? rankByText : rankByBestMessage)(
      deps,
      query,
      lookup,
      sessions,
      titleScores,
      offset + limit,
    );
    const page = selectBest(ranked, offset + limit).slice(offset);
    const read = await readMessages(
      deps,
      page.flatMap(({ match }) => match ?? []),
    );
    const messages = new Map(read.map(({ match, message }) => [match, message]));
    const chars = options.chars ?? MAX_SNIPPET_CHARS;
    const results = page.map(({ session, match }) => toSearchResult(query, session, match && messages.get(match), chars));
    return {
      results,
      total: exact ? ranked.length : null,
      next: ranked.length > offset + limit ? offset + limit : null,
      complete: lookup.isComplete,
    };
  });
}

/** Single messages that match a text, best first. */
export async function findMessages(
  deps: SearchDeps,
  text: string,
  options: { limit: number; need: 'all' | 'any' },
): Promise<MessageMatch[]> {
  const query = parseQuery(text);
  if (query.words.length === 0) return [];
  return deps.index.withRead(async () => {
    const lookup = await lookUpQuery(deps, query, await deps.sessions.all(), () => true, options.need);
    const best = new BestItems<DocumentMatch>(options.limit);
    await lookup.each((_, source, doc, score) => score > best.min && best.add({ source, doc, score }));
    const messages = await readMessages(deps, best.sorted());
    return messages.flatMap(({ match, message }) => {
      if (!message || (options.need === 'all' && !hasPhrases(query.phrases, getSearchableText(message)))) return [];
      return { message: joinParts(message, () => undefined), score: match.score };
    });
  });
}

async function lookUpQuery(
  { index, now }: SearchDeps,
  query: SearchQuery,
  sessions: ReadonlyMap<string, SessionRecord>,
  accepts: (session: SessionRecord) => boolean,
  need: 'all' | 'any' = 'all',
): Promise<LookupResult> {
  const { sources, sessions: names, complete } = await index.getSources(MAX_INDEXED_FIRST);
  // If any word suffices, phrases need not match.
  const queryWords = need === 'all' ? query.words : query.words.map(({ root, fits }) => ({ root, fits }));
  const termsBySource = await Promise.all(sources.map((source) => source.lookup(queryWords)));
  const scoring = createScoringParams(sources, termsBySource, need, now());
  const isAllowed = Uint8Array.from(names.keys, (key) => {
    const session = sessions.get(key);
    return session && accepts(session) ? 1 : 0;
  });
  return {
    sources,
    isComplete: complete,
    names,
    weights: scoring.weights,
    async each(match) {
      const slicer = new TimeSlicer();
      for (const [index, source] of sources.entries()) {
        const { session } = source.columns;
        forEachMatch(source, termsBySource[index] ?? [], scoring, (doc, score) => {
          const number = session[doc] ?? 0;
          if (isAllowed[number] === 1) match(number, source, doc, score);
        });
        if (slicer.isDue) await slicer.pause();
      }
    },
  };
}

const titleTerms = new WeakMap<SessionRecord, string[]>();

function getTitleTerms(session: SessionRecord): string[] {
  let terms = titleTerms.get(session);
  if (!terms) {
    const collected: string[] = (terms = []);
    forEachTerm(session.title, (term) => void collected.push(term));
    titleTerms.set(session, terms);
  }
  return terms;
}

/** Sessions whose title has every word and phrase, with their score. */
function findTitles(
  query: SearchQuery,
  sessions: ReadonlyMap<string, SessionRecord>,
  accepts: (session: SessionRecord) => boolean,
  weights: readonly number[],
): Map<string, number> {
  const titleScores = new Map<string, number>();
  // A word that occurs in no message counts like the rarest one.
  const score = TITLE_WEIGHT * weights.reduce((sum, weight) => sum + (weight || computeIdf(1, 0)), 0);
  for (const session of sessions.values()) {
    const terms = getTitleTerms(session);
    if (!query.words.every((word) => terms.some((term) => word.fits(term))) || !hasPhrases(query.phrases, session.title)) continue;
    if (accepts(session)) titleScores.set(session.key, score);
  }
  return titleScores;
}

type SessionRanker = (
  deps: SearchDeps,
  query: SearchQuery,
  lookup: LookupResult,
  sessions: ReadonlyMap<string, SessionRecord>,
  titleScores: ReadonlyMap<string, number>,
  limit: number,
) => Promise<{ ranked: RankedSession[]; exact: boolean }>;

/** Ranks each session by its best message. */
const rankByBestMessage: SessionRanker = async (_deps, _query, lookup, sessions, titleScores) => {
  const { keys } = lookup.names;
  const scores = new Float64Array(keys.length);
  const docs = new Uint32Array(keys.length);
  const sources: SearchSource[] = [];
  await lookup.each((session, source, doc, score) => {
    if (score <= (scores[session] ?? 0)) return;
    scores[session] = score;
    docs[session] = doc;
    sources[session] = source;
  });
  const matches = new Map<string, DocumentMatch>();
  for (const [session, key] of keys.entries()) {
    const source = sources[session];
    if (source) matches.set(key, { source, doc: docs[session] ?? 0, score: scores[session] ?? 0 });
  }
  return { ranked: toRankedSessions(matches, sessions, titleScores), exact: true };
};

/** The same for queries that require reading the text: the best messages are read until there are enough sessions. */
const rankByText: SessionRanker = async (deps, query, lookup, sessions, titleScores, limit) => {
  const best = new BestItems<DocumentMatch & { session: number }>(MAX_READ);
  await lookup.each((session, source, doc, score) => score > best.min && best.add({ source, doc, score, session }));
  const candidates = best.sorted();
  const matches = new Map<string, DocumentMatch>();
  let index = 0;
  for (; index < candidates.length && matches.size <= limit; index += READ_BATCH) {
    const batch = candidates.slice(index, index + READ_BATCH).filter(({ session }) => !matches.has(lookup.names.keys[session] ?? ''));
    for (const { match, message } of await readMessages(deps, batch)) {
      if (!message || matches.has(message.sessionKey) || !matchesText(query, getSearchableText(message))) continue;
      matches.set(message.sessionKey, match);
    }
  }
  const exact = index >= candidates.length && candidates.length < MAX_READ;
  return { ranked: toRankedSessions(matches, sessions, titleScores), exact };
};

function toRankedSessions(
  matches: ReadonlyMap<string, DocumentMatch>,
  sessions: ReadonlyMap<string, SessionRecord>,
  titleScores: ReadonlyMap<string, number>,
): RankedSession[] {
  const ranked: RankedSession[] = [];
  const add = (key: string, match: DocumentMatch | undefined): void => {
    const session = sessions.get(key);
    if (session) ranked.push({ session, match, score: (match?.score ?? 0) + (titleScores.get(key) ?? 0) });
  };
  for (const [key, match] of matches) add(key, match);
  for (const key of titleScores.keys()) if (!matches.has(key)) add(key, undefined);
  return ranked;
}

/** The best `count`, sorted: of ten thousand only those are sorted. */
function selectBest(ranked: readonly RankedSession[], count: number): RankedSession[] {
  const scores = Float64Array.from(ranked, ({ score }) => score).sort();
  const minScore = scores[Math.max(0, scores.length - count)] ?? 0;
  return ranked
    .filter(({ score }) => score >= minScore)
    .sort((a, b) => b.score - a.score || b.session.updatedAt - a.session.updatedAt || (a.session.key < b.session.key ? -1 : 1))
    .slice(0, count);
}

function toSearchResult(query: SearchQuery, session: SessionRecord, message: StoredMessage | undefined, chars: number): SearchResult {
  const titleMatches = findSpans(query, session.title);
  if (!message) {
    const { snippet, matches } = createSnippet(query, session.preview, chars);
    return { session, messageId: null, role: null, timestamp: session.updatedAt, snippet, matches, titleMatches };
  }
  const { id, role, timestamp } = message;
  return { session, messageId: id, role, timestamp, ...createSnippet(query, getSearchableText(message), chars), titleMatches };
}

async function readMessages<M extends DocumentMatch>(
  { transactions }: SearchDeps,
  matches: readonly M[],
): Promise<{ match: M; message: StoredMessage | undefined }[]> {
  const ids = await Promise.all(matches.map(({ source, doc }) => source.getId(doc)));
  return transactions.read(['messages'], async (tx) => {
    const store = tx.objectStore('messages');
    return Promise.all(matches.map(async (match, index) => ({ match, message: await store.get(ids[index] ?? '') })));
  });
}

/** Collects the best items up to a limit. */
class BestItems<T extends { score: number }> {
  readonly #limit: number;
  #items: T[] = [];
  /** Scores up to this value are excluded. */
  min = -Infinity;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(item: T): void {
    this.#items.push(item);
    // Trimmed periodically, which is cheaper than inserting each in order.
    if (this.#items.length < 2 * this.#limit + 16) return;
    this.#items = this.sorted();
    this.min = this.#items.at(-1)?.score ?? -Infinity;
  }

  sorted(): T[] {
    return this.#items.toSorted((a, b) => b.score - a.score).slice(0, this.#limit);
  }
}
