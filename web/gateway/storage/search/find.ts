import { hasPhrases, matchesText, readQuery, type SearchQuery } from '../../core/retrieval/search-query.ts';
import { snippetOf, spansOf } from '../../core/retrieval/snippet.ts';
import { eachTerm } from '../../core/retrieval/terms.ts';
import type { FoundMessage, SearchOptions, SearchPage, SearchResult, SessionRecord } from '../../core/vault.ts';
import type { StoredMessage } from '../schema.ts';
import type { SessionList } from '../session-list.ts';
import type { Transactions } from '../transaction.ts';
import { joinParts } from '../parts.ts';
import { eachMatch, idf, scoringOf } from './score.ts';
import type { SearchIndex } from './search-index.ts';
import { textOf } from './document.ts';
import { Pace } from './pace.ts';
import type { SessionNames, Source } from './source.ts';

/** Maximum number of messages that a search indexes first, so that new ones are found. */
const TAKEN_FIRST = 1024;
/** Maximum number of messages whose text is read for one search: for phrases, and if a message was deleted in the meantime. */
const MOST_READ = 2000;
const READ_AT_ONCE = 128;
/** Weight of a word in the title, relative to one in a message. */
const TITLE_WEIGHT = 2;
const SNIPPET_CHARS = 200;

export interface FindDeps {
  index: SearchIndex;
  transactions: Transactions;
  sessions: SessionList;
  now: () => number;
}

/** A document that matches. */
interface Match {
  source: Source;
  doc: number;
  score: number;
}

/** A session that matches, by its title or by its best message. */
interface Ranked {
  session: SessionRecord;
  score: number;
  match: Match | undefined;
}

interface Found {
  sources: readonly Source[];
  complete: boolean;
  /** Calls back with each match in an eligible session, source by source. There may be a million: the caller chooses which to keep. */
  each(match: (session: number, source: Source, doc: number, score: number) => void): Promise<void>;
  /** Weight of each word. */
  weights: readonly number[];
  names: SessionNames;
}

/** Sessions that match by messages and title, best first. */
export async function findSessions(deps: FindDeps, text: string, options: SearchOptions): Promise<SearchPage> {
  const query = readQuery(text);
  const { limit, offset = 0, accepts = () => true } = options;
  if (query.words.length === 0) return { results: [], total: 0, next: null, complete: true };
  return deps.index.reading(async () => {
    const sessions = await deps.sessions.all();
    const found = await lookUp(deps, query, sessions, accepts);
    const titled = titlesWith(query, sessions, accepts, found.weights);
    const { ranked, exact } = await (query.phrases.length > 0 ? ranksByText : ranksByBest)(
      deps,
      query,
      found,
      sessions,
      titled,
      offset + limit,
    );
    const page = firstOf(ranked, offset + limit).slice(offset);
    const read = await readMessages(
      deps,
      page.flatMap(({ match }) => match ?? []),
    );
    const messages = new Map(read.map(({ match, message }) => [match, message]));
    const chars = options.chars ?? SNIPPET_CHARS;
    const results = page.map(({ session, match }) => resultOf(query, session, match && messages.get(match), chars));
    return {
      results,
      total: exact ? ranked.length : null,
      next: ranked.length > offset + limit ? offset + limit : null,
      complete: found.complete,
    };
  });
}

/** Single messages that match a text, best first. */
export async function findMessages(deps: FindDeps, text: string, options: { limit: number; need: 'all' | 'any' }): Promise<FoundMessage[]> {
  const query = readQuery(text);
  if (query.words.length === 0) return [];
  return deps.index.reading(async () => {
    const found = await lookUp(deps, query, await deps.sessions.all(), () => true, options.need);
    const best = new Best<Match>(options.limit);
    await found.each((_, source, doc, score) => score > best.least && best.add({ source, doc, score }));
    const messages = await readMessages(deps, best.sorted());
    return messages.flatMap(({ match, message }) => {
      if (!message || (options.need === 'all' && !hasPhrases(query.phrases, textOf(message)))) return [];
      return { message: joinParts(message, () => undefined), score: match.score };
    });
  });
}

async function lookUp(
  { index, now }: FindDeps,
  query: SearchQuery,
  sessions: ReadonlyMap<string, SessionRecord>,
  accepts: (session: SessionRecord) => boolean,
  need: 'all' | 'any' = 'all',
): Promise<Found> {
  const { sources, sessions: names, complete } = await index.sources(TAKEN_FIRST);
  // If any word suffices, phrases need not match.
  const wanted = need === 'all' ? query.words : query.words.map(({ root, fits }) => ({ root, fits }));
  const words = await Promise.all(sources.map((source) => source.lookup(wanted)));
  const scoring = scoringOf(sources, words, need, now());
  const allowed = Uint8Array.from(names.keys, (key) => {
    const session = sessions.get(key);
    return session && accepts(session) ? 1 : 0;
  });
  return {
    sources,
    complete,
    names,
    weights: scoring.weights,
    async each(match) {
      const pace = new Pace();
      for (const [at, source] of sources.entries()) {
        const { session } = source.columns;
        eachMatch(source, words[at] ?? [], scoring, (doc, score) => {
          const number = session[doc] ?? 0;
          if (allowed[number] === 1) match(number, source, doc, score);
        });
        if (pace.due) await pace.pause();
      }
    },
  };
}

const titleTerms = new WeakMap<SessionRecord, string[]>();

function termsOfTitle(session: SessionRecord): string[] {
  let terms = titleTerms.get(session);
  if (!terms) {
    const found: string[] = (terms = []);
    eachTerm(session.title, (term) => void found.push(term));
    titleTerms.set(session, terms);
  }
  return terms;
}

/** Sessions whose title has every word and phrase, with their score. */
function titlesWith(
  query: SearchQuery,
  sessions: ReadonlyMap<string, SessionRecord>,
  accepts: (session: SessionRecord) => boolean,
  weights: readonly number[],
): Map<string, number> {
  const titled = new Map<string, number>();
  // A word that occurs in no message counts like the rarest one.
  const score = TITLE_WEIGHT * weights.reduce((sum, weight) => sum + (weight || idf(1, 0)), 0);
  for (const session of sessions.values()) {
    const terms = termsOfTitle(session);
    if (!query.words.every((word) => terms.some((term) => word.fits(term))) || !hasPhrases(query.phrases, session.title)) continue;
    if (accepts(session)) titled.set(session.key, score);
  }
  return titled;
}

type Ranker = (
  deps: FindDeps,
  query: SearchQuery,
  found: Found,
  sessions: ReadonlyMap<string, SessionRecord>,
  titled: ReadonlyMap<string, number>,
  wanted: number,
) => Promise<{ ranked: Ranked[]; exact: boolean }>;

/** Ranks each session by its best message. */
const ranksByBest: Ranker = async (_deps, _query, found, sessions, titled) => {
  const { keys } = found.names;
  const scores = new Float64Array(keys.length);
  const docs = new Uint32Array(keys.length);
  const sources: Source[] = [];
  await found.each((session, source, doc, score) => {
    if (score <= (scores[session] ?? 0)) return;
    scores[session] = score;
    docs[session] = doc;
    sources[session] = source;
  });
  const matches = new Map<string, Match>();
  for (const [session, key] of keys.entries()) {
    const source = sources[session];
    if (source) matches.set(key, { source, doc: docs[session] ?? 0, score: scores[session] ?? 0 });
  }
  return { ranked: rankedOf(matches, sessions, titled), exact: true };
};

/** The same for queries that require reading the text: the best messages are read until there are enough sessions. */
const ranksByText: Ranker = async (deps, query, found, sessions, titled, wanted) => {
  const best = new Best<Match & { session: number }>(MOST_READ);
  await found.each((session, source, doc, score) => score > best.least && best.add({ source, doc, score, session }));
  const candidates = best.sorted();
  const matches = new Map<string, Match>();
  let at = 0;
  for (; at < candidates.length && matches.size <= wanted; at += READ_AT_ONCE) {
    const some = candidates.slice(at, at + READ_AT_ONCE).filter(({ session }) => !matches.has(found.names.keys[session] ?? ''));
    for (const { match, message } of await readMessages(deps, some)) {
      if (!message || matches.has(message.sessionKey) || !matchesText(query, textOf(message))) continue;
      matches.set(message.sessionKey, match);
    }
  }
  const exact = at >= candidates.length && candidates.length < MOST_READ;
  return { ranked: rankedOf(matches, sessions, titled), exact };
};

function rankedOf(
  matches: ReadonlyMap<string, Match>,
  sessions: ReadonlyMap<string, SessionRecord>,
  titled: ReadonlyMap<string, number>,
): Ranked[] {
  const ranked: Ranked[] = [];
  const add = (key: string, match: Match | undefined): void => {
    const session = sessions.get(key);
    if (session) ranked.push({ session, match, score: (match?.score ?? 0) + (titled.get(key) ?? 0) });
  };
  for (const [key, match] of matches) add(key, match);
  for (const key of titled.keys()) if (!matches.has(key)) add(key, undefined);
  return ranked;
}

/** The best `count`, sorted: of ten thousand only those are sorted. */
function firstOf(ranked: readonly Ranked[], count: number): Ranked[] {
  const scores = Float64Array.from(ranked, ({ score }) => score).sort();
  const least = scores[Math.max(0, scores.length - count)] ?? 0;
  return ranked
    .filter(({ score }) => score >= least)
    .sort((a, b) => b.score - a.score || b.session.updatedAt - a.session.updatedAt || (a.session.key < b.session.key ? -1 : 1))
    .slice(0, count);
}

function resultOf(query: SearchQuery, session: SessionRecord, message: StoredMessage | undefined, chars: number): SearchResult {
  const titleMatches = spansOf(query, session.title);
  if (!message) {
    const { snippet, matches } = snippetOf(query, session.preview, chars);
    return { session, messageId: null, role: null, timestamp: session.updatedAt, snippet, matches, titleMatches };
  }
  const { id, role, timestamp } = message;
  return { session, messageId: id, role, timestamp, ...snippetOf(query, textOf(message), chars), titleMatches };
}

async function readMessages<M extends Match>(
  { transactions }: FindDeps,
  matches: readonly M[],
): Promise<{ match: M; message: StoredMessage | undefined }[]> {
  const ids = await Promise.all(matches.map(({ source, doc }) => source.idOf(doc)));
  return transactions.read(['messages'], async (tx) => {
    const store = tx.objectStore('messages');
    return Promise.all(matches.map(async (match, at) => ({ match, message: await store.get(ids[at] ?? '') })));
  });
}

/** Collects the best items up to a limit. */
class Best<T extends { score: number }> {
  readonly #limit: number;
  #kept: T[] = [];
  /** Scores up to this value are excluded. */
  least = -Infinity;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(item: T): void {
    this.#kept.push(item);
    // Trimmed periodically, which is cheaper than inserting each in order.
    if (this.#kept.length < 2 * this.#limit + 16) return;
    this.#kept = this.sorted();
    this.least = this.#kept.at(-1)?.score ?? -Infinity;
  }

  sorted(): T[] {
    return this.#kept.toSorted((a, b) => b.score - a.score).slice(0, this.#limit);
  }
}
