import { lazy } from '../lazy.ts';
import { Bm25, type Hit } from '../retrieval/bm25.ts';
import type { Article } from './guide-page.ts';

/** The articles, and the index of them, when they are first asked for. */
const library = lazy(async () => {
  const { articles } = await import('./docs.ts');
  return Bm25.of(articles, ({ title, text, keywords = '' }) => [{ text: title, weight: 3 }, { text: keywords, weight: 2 }, { text }]);
});

/** The articles that fit a query, best first. */
export async function searchDocs(query: string, limit: number): Promise<Hit<Article>[]> {
  return (await library()).search(query, limit);
}
