import { type Article, parseGuidePage } from './guide-page.ts';

const pages = import.meta.glob<string>('../../../../docs/guide/*.md', { eager: true, query: '?raw', import: 'default' });
const toName = (path: string): string => path.replace(/^.*\/|\.md$/g, '');

/** All sections of the user guide. Bundled with the app, so that the built-in guide works offline. */
export const articles: readonly Article[] = Object.entries(pages).flatMap(([path, source]) => parseGuidePage(toName(path), source));
