import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** File name of SvelteKit's page without content, which every route can start from. */
export const EMPTY_PAGE = 'empty.html';
/** Page of the managed Chromium (web/routes/host): it loads nothing of the app. */
const HOST_PAGE = 'host.html';

/** Text face of the Latin script, which the first page is laid out with. */
const TEXT_FACE = /inter-latin-wght-normal\.[\w-]+\.woff2/;

/**
 * Puts the rendered start page (web/routes/(app)/(chat)/+page.ts) into the page that every route starts from, and what it loads into its
 * head, so that a first visit shows it before any script has run. A closed shadow root keeps its elements apart from those of the app,
 * which removes it (web/app/shell/first-render.svelte.ts).
 */
export function writeStartPage(pages: string): void {
  const rendered = readFileSync(join(pages, 'index.html'), 'utf8');
  const empty = readFileSync(join(pages, EMPTY_PAGE), 'utf8');
  // Styles of lazily loaded components are listed too: the first page needs only those of its own chunk.
  const links = [
    ...rendered.matchAll(/<link href="\.\/(_app\/[^"]+\/app\.[^"]+\.css|_app\/[^"]+\.js)" rel="(stylesheet|modulepreload)">/g),
  ];
  const missing = links.filter(([, file = '']) => !empty.includes(`"/${file}"`));
  const styles = links.flatMap(([, file, kind]) => (kind === 'stylesheet' ? [`<link href="/${file}" rel="stylesheet">`] : []));
  const body = /<div id="app">([^]*?)<script>/
    .exec(rendered)?.[1]
    ?.replaceAll(/<!--[^]*?-->/g, '')
    .trim();
  if (!body || styles.length === 0) throw new Error('the start page was not rendered');
  const face = missing.flatMap(([, file = '']) => {
    const name = file.endsWith('.css') ? TEXT_FACE.exec(readFileSync(join(pages, file), 'utf8'))?.[0] : undefined;
    return name === undefined ? [] : [`<link href="/${join(file, '..', name)}" rel="preload" as="font" type="font/woff2" crossorigin>`];
  });
  const head = [...missing.map(([, file, kind]) => `<link href="/${file}" rel="${kind}">`), ...face].join('\n\t\t');
  copyFileSync(join(pages, EMPTY_PAGE), join(pages, HOST_PAGE));
  rmSync(join(pages, EMPTY_PAGE));
  const page = fill(fill(empty, '<!-- start page: head -->', head), '<!-- start page: styles -->', styles.join(''));
  writeFileSync(join(pages, 'index.html'), fill(page, '<!-- start page: body -->', body));
}

function fill(page: string, placeholder: string, value: string): string {
  if (!page.includes(placeholder)) throw new Error(`web/app.html has no "${placeholder}"`);
  return page.replace(placeholder, () => value);
}
