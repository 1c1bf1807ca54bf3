import { lazy } from '#shared/async/lazy.ts';
import { TextIndex, type SearchHit } from '../../knowledge/search/text-index.ts';
import type { Article } from './guide-page.ts';

const loadArticles = async (): Promise<readonly Article[]> => (await import('./docs.ts')).articles;

/** Index of the articles, built at the first search. */
const loadArticleIndex = lazy(async () =>
  TextIndex.create(await loadArticles(), ({ title, text, keywords = '' }) => [
    { text: title, weight: 3 },
    { text: keywords, weight: 2 },
    { text },
  ]),
);

/** The articles that match a query, best first. */
export async function searchDocs(query: string, limit: number): Promise<SearchHit<Article>[]> {
  return (await loadArticleIndex()).search(query, limit);
}

export async function findArticle(id: string): Promise<Article | undefined> {
  return (await loadArticles()).find((article) => article.id === id);
}
