import { MARKDOWN_LINK_PATTERN } from '../../wiki-link.ts';
import { parseCsv } from './parse-csv.ts';
import { type NoteFormat, type NotePage, toFreePath, toPagePath } from './note-files.ts';

/** Notion ends names of pages, folders and databases with an ID. */
const NOTION_ID = / ?[0-9a-f]{32}(?=(?:_all)?(?:\.[a-z]+)?$)/i;
const MAX_TABLE_ROWS = 1000;

/** Notion: the Markdown export, with databases as CSV tables. */
export const notion: NoteFormat = {
  product: 'Notion',
  detect: (paths) => {
    const files = paths.filter((path) => /\.(md|csv)$/i.test(path));
    return files.length > 0 && files.filter((path) => NOTION_ID.test(path)).length * 2 >= files.length;
  },
  convert(sources, pictures, tables) {
    const usedPaths = new Set<string>();
    const leftOut: string[] = [];
    /** New paths by those in the export. */
    const newPaths = new Map<string, string>();
    for (const { path } of sources) newPaths.set(path, toFreePath(toPagePath(stripIds(path)), usedPaths));
    const pages: NotePage[] = [];
    // A database is in two tables: `_all` has every row.
    const complete = new Set(tables.flatMap(({ path }) => (/_all\.csv$/i.test(path) ? path.replace(/_all\.csv$/i, '.csv') : [])));
    const tablePages = tables.flatMap(({ path, text }) => {
      if (complete.has(path)) return [];
      const rows = parseCsv(text);
      if (rows.length < 2 || rows.length > MAX_TABLE_ROWS) {
        leftOut.push(path);
        return [];
      }
      const to = toFreePath(toPagePath(stripIds(path.replace(/_all(?=\.csv$)/i, '')).replace(/\.csv$/i, '.md')), usedPaths);
      newPaths.set(path, to).set(path.replace(/_all(?=\.csv$)/i, ''), to);
      return [{ path: to, rows }];
    });
    const movedPictures = pictures.map((picture) => {
      const to = toFreePath(toPagePath(stripIds(picture.path)), usedPaths);
      newPaths.set(picture.path, to);
      return { ...picture, path: to };
    });
    for (const { path, text } of sources) pages.push({ path: newPaths.get(path) ?? path, text: rewriteLinks(text, path, newPaths) });
    for (const { path, rows } of tablePages) pages.push({ path, text: toTablePage(rows, path, pages) });
    return { pages, pictures: movedPictures, leftOut };
  },
};

const stripIds = (path: string): string =>
  path
    .split('/')
    .map((name) => name.replace(NOTION_ID, ''))
    .join('/');

const LINKS = new RegExp(MARKDOWN_LINK_PATTERN, 'g');

/** Links to files of the export lead to their new places, from the top of the wiki. */
function rewriteLinks(text: string, from: string, newPaths: ReadonlyMap<string, string>): string {
  const folder = from.split('/').slice(0, -1);
  const newDepth = (newPaths.get(from) ?? from).split('/').length - 1;
  return text.replace(LINKS, (match, destination: string) => {
    const path = decode(destination.replace(/^<|>$/g, ''));
    if (/^[a-z][a-z\d+.-]*:/i.test(path)) return match;
    const names = [...folder];
    for (const name of path.split('/')) {
      if (name === '..') names.pop();
      else if (name !== '.' && name !== '') names.push(name);
    }
    const to = newPaths.get(names.join('/').normalize('NFC'));
    return to === undefined
      ? match
      : `](${encodeURI(`${'../'.repeat(newDepth)}${to}`).replaceAll(/[()]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`)})`;
  });
}

/** A database as a table whose first column links to the pages of its rows. */
function toTablePage(rows: readonly (readonly string[])[], path: string, pages: readonly NotePage[]): string {
  const folder = path.replace(/\.md$/, '');
  const [head = [], ...body] = rows;
  const pagePaths = new Set(pages.map((page) => page.path.toLowerCase()));
  const cell = (text: string): string =>
    text
      .replaceAll('|', '\\|')
      .replaceAll(/\s*\n\s*/g, ' ')
      .trim();
  const first = (text: string): string => {
    const page = `${folder}/${toPagePath(`${text}.md`).replace(/\//g, '-')}`;
    return pagePaths.has(page.toLowerCase()) ? `[[${page.replace(/\.md$/, '')}\\|${cell(text)}]]` : cell(text);
  };
  const lines = body.map((row) => `| ${head.map((_, at) => (at === 0 ? first(row[at] ?? '') : cell(row[at] ?? ''))).join(' | ')} |`);
  const title = folder.slice(folder.lastIndexOf('/') + 1);
  return `# ${title}\n\n| ${head.map(cell).join(' | ')} |\n|${' --- |'.repeat(head.length)}\n${lines.join('\n')}\n`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
