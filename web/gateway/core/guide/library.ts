import { Bm25, type Hit } from '../retrieval/bm25.ts';
import { type Article, articles } from './docs.ts';

let index: Bm25<Article> | undefined;

/** The articles that fit a query, best first. The index is made at the first search. */
export function searchDocs(query: string, limit: number): Hit<Article>[] {
  index ??= Bm25.of(articles, ({ title, text, keywords = '' }) => [{ text: title, weight: 3 }, { text: keywords, weight: 2 }, { text }]);
  return index.search(query, limit);
}
